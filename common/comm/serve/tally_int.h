/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tally_int.h - what a server has answered, by operation: how many requests, how many
 * with an error, bytes, and how long each took from its arrival to its reply.  Each
 * lane counts for itself, without a lock; STATS adds them up.
 */
#ifndef TALLY_INT_H
#define TALLY_INT_H

#include <stdatomic.h>

#include "histogram.h"
#include "hot_int.h"
#include "wire.h"

struct lane;
struct rpc_req;
struct rpc_server;
struct rx;

/* Written by one thread. */
struct tally {
	atomic_uint_least64_t requests, errors, bytes_in, bytes_out, ns, most;
	atomic_uint_least64_t bucket[HISTOGRAM_BUCKETS];
};

/* By operation; made when it is first answered. */
struct tallies {
	struct tally *_Atomic op[WIRE_OP_END];
};

/* rx is about to be answered, at now of clock_boot(), with status. */
void tally_add(struct rx *rx, uint64_t now, uint32_t status);
/* Answers STATS. */
void tally_req_run(struct rpc_req *req);
/* STATS or LABELS is about to be answered. */
void server_tell(struct rpc_server *server);
void tallies_free(struct tallies *all);

/* Counters that one thread writes, and all read. */
static inline void lane_add(atomic_uint_least64_t *counter, uint64_t n)
{
	atomic_store_explicit(
		counter,
		atomic_load_explicit(counter, memory_order_relaxed) + n,
		memory_order_relaxed);
}

static inline void lane_count(atomic_uint_least64_t *counter)
{
	lane_add(counter, 1);
}

#endif
