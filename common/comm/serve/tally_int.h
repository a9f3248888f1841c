/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tally_int.h - what a server has answered, by operation: how many requests, how many
 * with an error, bytes, and how long each took from its arrival to its reply.  Each
 * lane counts for itself, without a lock; STATS adds them up.
 */
#ifndef TALLY_INT_H
#define TALLY_INT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "common/util/histogram.h"
#include "common/comm/serve/hot_int.h"
#include "common/buffer/rail.h"
#include "common/wire/wire.h"

struct lane;
struct rpc_req;
struct rpc_server;
struct rx;

/* Written by one thread. */
struct tally {
	atomic_uint_least64_t requests, errors, bytes_in, bytes_out, ns, most;
	atomic_uint_least64_t bucket[HISTOGRAM_BUCKETS];
};

#define TALLY_KINDS (WIRE_TM_WRITE + 1u)

/*
 * By rail, operation, and the way that its data went: a request is counted once, and all
 * that is told of them are sums of these.  Made when it is first answered.
 */
struct tallies {
	struct tally *_Atomic of[RAILS_MAX][WIRE_OP_END][WIRE_WAYS];
};

/* rx is about to be answered, at now of clock_boot(), with status. */
void tally_add(struct rx *rx, uint64_t now, uint32_t status);
/* Answers STATS. */
void tally_req_run(struct rpc_req *req);
/* Answer TIMES and GAUGES. */
void times_req_run(struct rpc_req *req);
void gauges_req_run(struct rpc_req *req);
/* What TIMES calls an operation. */
enum wire_timed tally_kind(unsigned int op);
/* The transport of that name. */
enum wire_transport tally_transport(const char *name);
/* STATS, LABELS or TIMES is about to be answered. */
void server_tell(struct rpc_server *server);
void tallies_free(struct tallies *all);

/* The one there, made if need be; its thread.  NULL: no memory. */
struct tally *tally_made(struct tally *_Atomic *place);
/* One request more, which took so many ns. */
void tally_count(struct tally *t, const struct rx *rx, uint64_t took,
		 uint32_t status);
/* Adds the one there; false: there is none.  Any thread. */
bool tally_sum(struct tally *to, struct tally *_Atomic const *place);
/* Adds what clients say that they read, or wrote, by themselves; false: nothing. */
bool tally_told(struct rpc_server *server, bool write, struct tally *to);

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
