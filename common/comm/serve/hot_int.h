/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hot_int.h - which files most is done with: each lane keeps a few (sketch.h), under a lock
 * that nobody else wants but when HOT comes.
 */
#ifndef HOT_INT_H
#define HOT_INT_H

#include <pthread.h>

#include "common/util/sketch.h"

struct rpc_req;
struct rx;

struct hot {
	pthread_mutex_t lock;
	struct sketch sketch;
};

/* As tally_add(). */
void hot_add(struct rx *rx, uint64_t now);
/* Answers HOT. */
void hot_req_run(struct rpc_req *req);

#endif
