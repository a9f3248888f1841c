/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * collect.h - asks the servers of a mount, concurrently and at most once a second, and
 * keeps their answers as the texts that readers request.
 */
#ifndef EXPORTER_COLLECT_H
#define EXPORTER_COLLECT_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/util/log.h"
#include "client/tools/monitor/exporter/text.h"

struct collect;

struct collect_attr {
	const char *mount; /* must outlive it, like log */
	unsigned int
		timeout_ms; /* a server that does not answer in this time counts as down */
	int labels; /* users and jobs shown per server; all others are one sum; 0: none */
	const struct log *log;
};

/* The result of one round; constant. */
struct round {
	struct text_buffer metrics, status, health;
	bool well; /* the health text reports no fault */
	/* private */
	atomic_uint refs;
	uint64_t at;
};

/* 0; -errno: ENODEV: mount is no mount. */
int collect_open(const struct collect_attr *attr, struct collect **c);
/* Makes collect_get() return NULL, also in calls that are waiting.  Any thread. */
void collect_stop(struct collect *c);
/* Called after collect_stop(): waits until the queries in progress have ended, and frees c. */
void collect_close(struct collect *c);
/*
 * Returns a round that ended after this call began, or one that is at most a second old
 * and newer than `after`.  The caller releases it with round_put().  Waits at most the
 * timeout plus three seconds.  NULL: there is none.
 */
struct round *collect_get(struct collect *c, uint64_t after);
void round_put(struct round *r);

#endif
