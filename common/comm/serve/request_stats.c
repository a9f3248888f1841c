/* SPDX-License-Identifier: BSD-2-Clause */
/* request_stats.c - see request_stats_int.h. */
#include "common/comm/serve/conn_int.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"

/* ---- the objects that are used most ---- */

/*
 * Requests of servers serve requests of clients and are not counted.  Operations below MOUNT
 * concern no file.
 */
static void busy_objects_add(struct rx *rx, uint64_t now)
{
	const struct rpc_server_attr *attr = &rx->conn->thread->server->attr;
	struct busy_objects *busy = &rx->conn->thread->busy;
	const struct rpc_session *s = rx->conn->session;
	uint64_t handle;

	if (!attr->service->object || s->info.role != WIRE_ROLE_CLIENT ||
	    rx->req.op < WIRE_MOUNT)
		return;
	handle = attr->service->object(&rx->req);
	if (!handle)
		return;
	pthread_mutex_lock(&busy->lock);
	sketch_add(&busy->sketch, handle, rx->bytes_in + rx->data_len,
		   rx->bytes_out, now);
	pthread_mutex_unlock(&busy->lock);
}

unsigned int busy_objects_collect(struct rpc_server *server,
				  struct sketch_row rows[2 * SKETCH_MAX])
{
	uint64_t now = clock_boot();
	unsigned int n = 0;

	for (unsigned int i = 0; i < server->nthreads; i++) {
		struct busy_objects *busy = &server->threads[i].busy;

		pthread_mutex_lock(&busy->lock);
		n = sketch_join(&busy->sketch, now, rows, n);
		pthread_mutex_unlock(&busy->lock);
	}
	return n;
}

/* ---- a request ---- */

static uint64_t counter_get(const atomic_uint_least64_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

/* Returns the tally at place, allocated if necessary; from its thread.  NULL: no memory. */
static struct request_tally *tally_get(struct request_tally *_Atomic *place)
{
	struct request_tally *t = atomic_load_explicit(place,
						       memory_order_relaxed);

	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	atomic_store_explicit(place, t, memory_order_release);
	return t;
}

static void tally_add_request(struct request_tally *t, const struct rx *rx,
			      uint64_t took, uint32_t status)
{
	counter_increment(&t->requests);
	if (status)
		counter_increment(&t->errors);
	counter_add(&t->bytes_in, rx->bytes_in + rx->data_len);
	counter_add(&t->bytes_out,
		    rx->bytes_out + rx->reply_len - sizeof(struct wire_hdr));
	counter_add(&t->ns, took);
	counter_increment(&t->bucket[histogram_bucket(took)]);
	if (took > counter_get(&t->most))
		atomic_store_explicit(&t->most, took, memory_order_relaxed);
}

static enum tally_kind tally_kind_of(unsigned int op)
{
	if (wire_op_reads(op))
		return TALLY_READ;
	return wire_op_writes(op) ? TALLY_WRITE : TALLY_OTHER;
}

/* Of a READ or WRITE, also of a list: their bodies begin in the same way. */
static enum tally_way tally_way_of(const struct rx *rx)
{
	const struct wire_io *io = rx->req.msg.body;

	if (tally_kind_of(rx->req.op) == TALLY_OTHER)
		return TALLY_NONE;
	if (rx->by_fast || le16toh(rx->req.msg.hdr->flags) & WIRE_F_PLACE)
		return TALLY_FAST;
	if (rx->data_len || !io->nmem)
		return TALLY_INLINE;
	return rx->mapped ? TALLY_MAPPED : TALLY_BULK;
}

/* Without memory, the request is not counted. */
void tally_count_request(struct rx *rx, uint64_t now, uint32_t status)
{
	const struct conn *conn = rx->conn;
	struct request_tallies *all = &conn->thread->tallies;
	struct request_tally *t = tally_get(
		&all->of[conn->link.rail][rx->req.op][tally_way_of(rx)]);
	uint64_t took = now - rx->arrived;

	labels_count_request(rx, took, status);
	busy_objects_add(rx, now);
	if (t)
		tally_add_request(t, rx, took, status);
}

void request_tallies_free(struct request_tallies *all)
{
	for (unsigned int r = 0; r < RAILS_MAX; r++)
		for (unsigned int op = 0; op < WIRE_OP_END; op++)
			for (unsigned int w = 0; w < TALLY_WAYS; w++)
				free(all->of[r][op][w]);
}

/* ---- sums ---- */

/* From any thread.  Returns false if it was never counted. */
static bool tally_sum(struct request_tally *to,
		      struct request_tally *_Atomic const *place)
{
	const struct request_tally *t =
		atomic_load_explicit(place, memory_order_acquire);

	if (!t)
		return false;
	counter_add(&to->requests, counter_get(&t->requests));
	counter_add(&to->errors, counter_get(&t->errors));
	counter_add(&to->bytes_in, counter_get(&t->bytes_in));
	counter_add(&to->bytes_out, counter_get(&t->bytes_out));
	counter_add(&to->ns, counter_get(&t->ns));
	if (counter_get(&t->most) > counter_get(&to->most))
		atomic_store(&to->most, counter_get(&t->most));
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		counter_add(&to->bucket[i], counter_get(&t->bucket[i]));
	return true;
}

bool tally_sum_op(const struct rpc_server *server, unsigned int op,
		  struct request_tally *sum)
{
	bool any = false;

	for (unsigned int i = 0; i < server->nthreads; i++)
		for (unsigned int r = 0; r < RAILS_MAX; r++)
			for (unsigned int w = 0; w < TALLY_WAYS; w++)
				any |= tally_sum(
					sum, &server->threads[i]
						      .tallies.of[r][op][w]);
	return any;
}

bool tally_sum_way(const struct rpc_server *server, unsigned int rail,
		   enum tally_kind kind, enum tally_way way,
		   struct request_tally *sum)
{
	bool any = false;

	for (unsigned int i = 0; i < server->nthreads; i++)
		for (unsigned int op = 0; op < WIRE_OP_END; op++)
			if (tally_kind_of(op) == kind)
				any |= tally_sum(
					sum,
					&server->threads[i]
						 .tallies.of[rail][op][way]);
	return any;
}

/* The longest time is unknown; at most it is the end of the last bucket in use. */
static void tally_add_buckets(struct request_tally *to,
			      const struct rpc_direct_io *io)
{
	for (unsigned int b = 0; b < HISTOGRAM_BUCKETS; b++) {
		if (!io->bucket[b])
			continue;
		counter_add(&to->bucket[b], io->bucket[b]);
		atomic_store(&to->most, b < HISTOGRAM_BUCKETS - 1
						? histogram_floor(b + 1)
						: histogram_floor(b));
	}
}

bool tally_add_direct_io(struct rpc_server *server, bool write,
			 struct request_tally *to)
{
	struct rpc_direct_io io;

	pthread_mutex_lock(&server->labels.lock);
	io = server->labels.direct_io[write];
	pthread_mutex_unlock(&server->labels.lock);
	counter_add(&to->requests, io.n);
	counter_add(&to->ns, io.ns);
	counter_add(write ? &to->bytes_in : &to->bytes_out, io.bytes);
	tally_add_buckets(to, &io);
	return io.n;
}

void rpc_server_stats(const struct rpc_server *server,
		      struct rpc_server_stats *stats)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&server->lock;
	unsigned int i;

	*stats = (struct rpc_server_stats){ 0 };
	for (i = 0; i < server->nthreads; i++) {
		const struct server_thread *thread = &server->threads[i];

		stats->requests += atomic_load(&thread->requests);
		stats->protocol_errors += atomic_load(&thread->protocol_errors);
		stats->replays += atomic_load(&thread->replays);
		stats->fast += atomic_load(&thread->fast);
		stats->placed += atomic_load(&thread->placed);
		stats->whole += atomic_load(&thread->whole);
		stats->rdma_waits += atomic_load(&thread->rdma_waits);
		stats->rdma_cut += atomic_load(&thread->rdma_cut);
		stats->rdma_most += atomic_load(&thread->rdma_most);
		stats->carried += atomic_load(&thread->carried);
		stats->carried_bytes += atomic_load(&thread->carried_bytes);
		stats->carry_declined += atomic_load(&thread->carry_declined);
		stats->carry_late += atomic_load(&thread->carry_late);
		stats->conns += atomic_load(&thread->conns_now);
		stats->client_bytes += atomic_load(&thread->conn_bytes) +
				       atomic_load(&thread->session_bytes);
		stats->aparts += atomic_load(&thread->aparts_now);
		stats->apart_bytes += atomic_load(&thread->apart_bytes);
		stats->message_bytes += atomic_load(&thread->message_bytes);
		stats->impostors += atomic_load(&thread->impostors);
		stats->bare += atomic_load(&thread->bare);
		stats->outsiders += atomic_load(&thread->outsiders);
		stats->unknown += atomic_load(&thread->unknown);
		stats->unproven += atomic_load(&thread->ctx->impostors);
		stats->shared += atomic_load(&thread->shared_receives);
		stats->shared_bytes += atomic_load(&thread->shared_bytes);
		stats->shared_copies += atomic_load(&thread->shared_copies);
	}
	stats->fast_refused = atomic_load(&server->fast.refused);
	stats->fast_bytes = atomic_load(&server->fast.used);
	pthread_mutex_lock(lock);
	stats->sessions = server->nsessions;
	pthread_mutex_unlock(lock);
}
