/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_raw.h - transports alone, each measurement in a process of its own. */
#ifndef PERF_RAW_H
#define PERF_RAW_H

#include "tests/bench/pvfs_perf.h"
#include "tests/bench/tp_perf.h"

/* Those of run->providers that can be opened here; the names are never freed. */
struct raw_providers {
	char *name[PERF_LIST_MAX];
	unsigned int n;
};

/* Others are noted in run->r as missing.  0, or -1: no memory. */
int raw_providers(struct perf_run *run, struct raw_providers *p);
/* p->provider NULL: a plain TCP socket.  False after a message. */
bool raw_measure(const struct perf *p, struct perf_result *result);
/* Registers p->size bytes and gives them back, again and again. */
bool raw_register(const struct perf *p, struct perf_result *result);

#endif
