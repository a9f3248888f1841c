/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request_stats_int.h - statistics of a server: requests, errors, bytes, and the times from
 * arrival to reply; the objects with most requests; and what a slow request waited for.  Each
 * thread has its own counters.  METRICS adds them up.
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

/* The counters of one thread, which is the only one that writes them. */
struct request_tally {
	atomic_uint_least64_t requests, errors, bytes_in, bytes_out, ns, most;
	atomic_uint_least64_t bucket[HISTOGRAM_BUCKETS];
};

enum tally_kind { TALLY_OTHER, TALLY_READ, TALLY_WRITE, TALLY_KINDS };
enum tally_way {
	TALLY_NONE, /* there is no data */
	TALLY_INLINE, /* data in the message */
	TALLY_FAST, /* data moved by Fast RDMA */
	TALLY_BULK, /* data moved by the server, through its buffers */
	/* data moved by the server, from or to the object itself */
	TALLY_MAPPED,
	TALLY_WAYS
};

/*
 * The counters of a thread by rail, operation, and how the data moved.  Each request counts in one
 * of them, and METRICS reports sums of them.  Each is allocated at its first request.
 */
struct request_tallies {
	struct request_tally *_Atomic of[RAILS_MAX][WIRE_OP_END][TALLY_WAYS];
};

/* The most used objects. The lock is needed because METRICS reads them in another thread. */
struct busy_objects {
	pthread_mutex_t lock;
	struct sketch sketch;
};

/* Counts the request rx, which is about to be answered with status. now is a clock_boot() time. */
void tally_count_request(struct rx *rx, uint64_t now, uint32_t status);
void request_tallies_free(struct request_tallies *all);
/*
 * Add to sum the counts of all threads: of the operation op, or of a rail, kind and way.  Return
 * false if there were no requests.  Any thread may call them.
 */
bool tally_sum_op(const struct rpc_server *server, unsigned int op,
		  struct request_tally *sum);
bool tally_sum_way(const struct rpc_server *server, unsigned int rail,
		   enum tally_kind kind, enum tally_way way,
		   struct request_tally *sum);
/*
 * Adds to *to the reads or (write) writes that clients made without requests, as they report them.
 * Returns false if there were none.
 */
bool tally_add_direct_io(struct rpc_server *server, bool write,
			 struct request_tally *to);
/* Fills rows with the busy objects of all threads, the busiest first.  Returns their number. */
unsigned int busy_objects_collect(struct rpc_server *server,
				  struct sketch_row rows[2 * SKETCH_MAX]);

/* Counters that one thread writes, and any thread reads. */
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
 * These functions read no clock: they use the times that the context and the statistics have read.
 */

#define SLOW_LINES 4u /* maximum lines of a thread in a second */

/* Times of one request. */
struct request_time {
	uint64_t since; /* clock_boot() up to which ns[] is filled in */
	uint64_t ns[RPC_PARTS];
	/* parts that the request has entered and not left */
	uint16_t in[RPC_PARTS];
	bool wait_expected;
};

/* State of a thread. */
struct slow_pace {
	uint64_t second; /* clock_boot() at the start of the present second */
	unsigned int lines; /* lines in this second */
	uint64_t more; /* slow requests since the last line that got no line */
};

/* Called when the request begins. */
void request_time_begin(struct rx *rx);
/* Called when the request is about to be answered with status. now is a clock_boot() time. */
void request_time_end(struct rx *rx, uint64_t now, uint32_t status);

#endif
