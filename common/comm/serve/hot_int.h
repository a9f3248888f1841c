/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hot_int.h - the files that are used most.  Each lane keeps a few of them (sketch.h), under a
 * lock that only METRICS also takes.
 */
#ifndef HOT_INT_H
#define HOT_INT_H

#include <pthread.h>

#include "common/util/sketch.h"

struct rpc_server;
struct rx;

struct hot {
	pthread_mutex_t lock;
	struct sketch sketch;
};

/* As tally_add(). */
void hot_add(struct rx *rx, uint64_t now);
/* Collects the files of all lanes, the most used first.  Returns how many. */
unsigned int hot_collect(struct rpc_server *server,
			 struct sketch_row rows[2 * SKETCH_MAX]);

#endif
