/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hot_int.h - which files most is done with: each lane keeps a few (sketch.h), under a lock
 * that nobody else wants but when METRICS comes.
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
/* Those of all lanes, the hottest first; returns how many. */
unsigned int hot_collect(struct rpc_server *server,
			 struct sketch_row rows[2 * SKETCH_MAX]);

#endif
