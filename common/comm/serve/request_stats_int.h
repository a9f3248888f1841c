/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request_stats_int.h - what a server has answered: the number of requests and of errors, bytes,
 * and the time of each from arrival to reply; the objects that are used most; and where the time
 * of a slow request was spent.  Each thread counts on its own.  METRICS adds the counts.
 */
#ifndef REQUEST_STATS_INT_H
#define REQUEST_STATS_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/buffer/rail.h"
#include "common/comm/serve/rpc_serve.h"
#include "common/util/histogram.h"
#include "common/util/sketch.h"
#include "common/wire/wire.h"

struct server_thread;
struct rpc_server;
struct rx;

/* ---- request_stats.c ---- */

/* Written by one thread. */
struct request_tally {
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
struct request_tallies {
	struct request_tally *_Atomic of[RAILS_MAX][WIRE_OP_END][TALLY_WAYS];
};

/* The objects that are used most.  The lock is for METRICS. */
struct busy_objects {
	pthread_mutex_t lock;
	struct sketch sketch;
};

/* rx is about to be answered with status; now: clock_boot(). */
void tally_count_request(struct rx *rx, uint64_t now, uint32_t status);
void request_tallies_free(struct request_tallies *all);
/*
 * Adds to sum what all threads counted of an operation, or of a rail, kind and way.  Returns
 * false if there was nothing.  From any thread.
 */
bool tally_sum_op(const struct rpc_server *server, unsigned int op,
		  struct request_tally *sum);
bool tally_sum_way(const struct rpc_server *server, unsigned int rail,
		   enum tally_kind kind, enum tally_way way,
		   struct request_tally *sum);
/*
 * Adds what clients report that they read or wrote without requests.  Returns false if there was
 * nothing.
 */
bool tally_add_direct_io(struct rpc_server *server, bool write,
			 struct request_tally *to);
/* Collects the objects of all threads, the most used first.  Returns how many. */
unsigned int busy_objects_collect(struct rpc_server *server,
				  struct sketch_row rows[2 * SKETCH_MAX]);

/* Counters that one thread writes, and all read. */
static inline void counter_add(atomic_uint_least64_t *counter, uint64_t n)
{
	atomic_store_explicit(
		counter,
		atomic_load_explicit(counter, memory_order_relaxed) + n,
		memory_order_relaxed);
}

static inline void counter_increment(atomic_uint_least64_t *counter)
{
	counter_add(counter, 1);
}

/*
 * ---- slow_requests.c ----
 *
 * These functions read no clock: they use the times that the context and the statistics read anyway.
 */

#define SLOW_LINES 4u /* maximum lines of a thread in a second */

/* Times of one request. */
struct request_time {
	uint64_t since; /* clock_boot() up to which ns[] is filled in */
	uint64_t ns[RPC_PARTS];
	uint16_t in[RPC_PARTS]; /* entered and not left */
	bool wait_expected;
};

/* State of a thread. */
struct slow_pace {
	uint64_t second; /* clock_boot() at its start */
	unsigned int lines; /* in this second */
	uint64_t more; /* slow requests without a line since the last line */
};

/* The request begins. */
void request_time_begin(struct rx *rx);
/* The request is about to be answered with status; now: clock_boot(). */
void request_time_end(struct rx *rx, uint64_t now, uint32_t status);

#endif
