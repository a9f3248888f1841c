/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * collect.h - asks the servers of a mount, all at once and no more often than once a
 * second, and keeps what they said as the texts that are asked for.
 */
#ifndef EXPORTER_COLLECT_H
#define EXPORTER_COLLECT_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/util/log.h"
#include "client/tools/exporter/text.h"

struct collect;

struct collect_attr {
	const char *mount; /* outlives it, as log does */
	unsigned int timeout_ms; /* within which a server is up */
	int labels; /* users and jobs of each server, beside the others; 0: none */
	const struct log *log;
};

/* What one round brought; constant. */
struct round {
	struct text metrics, status, health;
	bool well;
	/* private */
	atomic_uint refs;
	uint64_t at;
};

/* 0; -errno: ENODEV the mount is none. */
int collect_open(const struct collect_attr *attr, struct collect **c);
/* Those that wait in collect_get() get NULL from now on.  Any thread. */
void collect_stop(struct collect *c);
/* Waits for what is asked of servers now; after collect_stop(). */
void collect_close(struct collect *c);
/*
 * A round that is no older than a second, and later than number after if that was one;
 * the caller's to round_put().  Waits for it no longer than the time-out and three
 * seconds more.  NULL: there is none.
 */
struct round *collect_get(struct collect *c, uint64_t after);
void round_put(struct round *r);

#endif
