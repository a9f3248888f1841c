/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tally_int.h - what a server has answered, by operation: the number of requests and of errors,
 * bytes, and the time of each from arrival to reply.  Each lane counts on its own, without a
 * lock.  METRICS adds the counts.
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

enum tally_kind { TALLY_OTHER, TALLY_READ, TALLY_WRITE, TALLY_KINDS };
enum tally_way {
	TALLY_NONE, /* there is no data */
	TALLY_INLINE, /* in the message */
	TALLY_FAST, /* by Fast RDMA */
	TALLY_BULK, /* by the server, through its buffers */
	TALLY_MAPPED, /* ... from or to the object itself */
	TALLY_WAYS
};

/*
 * By rail, operation, and the way of the data.  A request is counted once, and all published
 * numbers are sums of these.  Allocated at the first answer.
 */
struct tallies {
	struct tally *_Atomic of[RAILS_MAX][WIRE_OP_END][TALLY_WAYS];
};

/* rx is about to be answered with status; now: clock_boot(). */
void tally_add(struct rx *rx, uint64_t now, uint32_t status);
/* Answers METRICS: metrics.c. */
void metrics_req_run(struct rpc_req *req);
void tallies_free(struct tallies *all);

/* Returns the tally at place, allocated if necessary; from its thread.  NULL: no memory. */
struct tally *tally_made(struct tally *_Atomic *place);
/* Counts one more request, which took so many ns. */
void tally_count(struct tally *t, const struct rx *rx, uint64_t took,
		 uint32_t status);
/*
 * Adds to sum what all lanes counted of an operation, or of a rail, kind and way.  Returns false
 * if there was nothing.  From any thread.
 */
bool tally_op(const struct rpc_server *server, unsigned int op,
	      struct tally *sum);
bool tally_way(const struct rpc_server *server, unsigned int rail,
	       enum tally_kind kind, enum tally_way way, struct tally *sum);
/*
 * Adds what clients report that they read or wrote without requests.  Returns false if there was
 * nothing.
 */
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
