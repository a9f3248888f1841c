/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_raw.h - measures transports alone, each measurement in a separate process. */
#ifndef PERF_RAW_H
#define PERF_RAW_H

#include "tests/bench/pvfs_perf.h"
#include "tests/bench/tp_perf.h"

/* The providers of run->providers that can be opened on this host.  The names are never freed. */
struct raw_providers {
	char *name[PERF_LIST_MAX];
	unsigned int n;
};

/*
 * Fills *p.  Adds a line to run->r for each provider that cannot be opened.  Returns 0, or -1: no
 * memory.
 */
int raw_providers(struct perf_run *run, struct raw_providers *p);
/* Measures the provider p->provider; NULL: a plain TCP socket.  Returns false after a message. */
bool raw_measure(const struct perf *p, struct perf_result *result);
/* Measures registering and deregistering p->size bytes. */
bool raw_register(const struct perf *p, struct perf_result *result);

#endif
