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
static void hot_add(struct rx *rx, uint64_t now)
{
	const struct rpc_server_attr *attr = &rx->conn->lane->server->attr;
	struct hot *hot = &rx->conn->lane->hot;
	const struct rpc_session *s = rx->conn->session;
	uint64_t handle;

	if (!attr->service->object || s->info.role != WIRE_ROLE_CLIENT ||
	    rx->req.op < WIRE_MOUNT)
		return;
	handle = attr->service->object(&rx->req);
	if (!handle)
		return;
	pthread_mutex_lock(&hot->lock);
	sketch_add(&hot->sketch, handle, rx->bytes_in + rx->data_len,
		   rx->bytes_out, now);
	pthread_mutex_unlock(&hot->lock);
}

unsigned int hot_collect(struct rpc_server *server,
			 struct sketch_row rows[2 * SKETCH_MAX])
{
	uint64_t now = clock_boot();
	unsigned int n = 0;

	for (unsigned int i = 0; i < server->nlanes; i++) {
		struct hot *hot = &server->lanes[i].hot;

		pthread_mutex_lock(&hot->lock);
		n = sketch_join(&hot->sketch, now, rows, n);
		pthread_mutex_unlock(&hot->lock);
	}
	return n;
}

/* ---- a request ---- */

static uint64_t counter_get(const atomic_uint_least64_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

/* Returns the tally at place, allocated if necessary; from its thread.  NULL: no memory. */
static struct tally *tally_made(struct tally *_Atomic *place)
{
	struct tally *t = atomic_load_explicit(place, memory_order_relaxed);

	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	atomic_store_explicit(place, t, memory_order_release);
	return t;
}

static void tally_count(struct tally *t, const struct rx *rx, uint64_t took,
			uint32_t status)
{
	lane_count(&t->requests);
	if (status)
		lane_count(&t->errors);
	lane_add(&t->bytes_in, rx->bytes_in + rx->data_len);
	lane_add(&t->bytes_out,
		 rx->bytes_out + rx->reply_len - sizeof(struct wire_hdr));
	lane_add(&t->ns, took);
	lane_count(&t->bucket[histogram_bucket(took)]);
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
void tally_add(struct rx *rx, uint64_t now, uint32_t status)
{
	const struct conn *conn = rx->conn;
	struct tallies *all = &conn->lane->tallies;
	struct tally *t = tally_made(
		&all->of[conn->link.rail][rx->req.op][tally_way_of(rx)]);
	uint64_t took = now - rx->arrived;

	labels_count(rx, took, status);
	hot_add(rx, now);
	if (t)
		tally_count(t, rx, took, status);
}

void tallies_free(struct tallies *all)
{
	for (unsigned int r = 0; r < RAILS_MAX; r++)
		for (unsigned int op = 0; op < WIRE_OP_END; op++)
			for (unsigned int w = 0; w < TALLY_WAYS; w++)
				free(all->of[r][op][w]);
}

/* ---- sums ---- */

/* From any thread.  Returns false if it was never counted. */
static bool tally_sum(struct tally *to, struct tally *_Atomic const *place)
{
	const struct tally *t = atomic_load_explicit(place,
						     memory_order_acquire);

	if (!t)
		return false;
	lane_add(&to->requests, counter_get(&t->requests));
	lane_add(&to->errors, counter_get(&t->errors));
	lane_add(&to->bytes_in, counter_get(&t->bytes_in));
	lane_add(&to->bytes_out, counter_get(&t->bytes_out));
	lane_add(&to->ns, counter_get(&t->ns));
	if (counter_get(&t->most) > counter_get(&to->most))
		atomic_store(&to->most, counter_get(&t->most));
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		lane_add(&to->bucket[i], counter_get(&t->bucket[i]));
	return true;
}

bool tally_op(const struct rpc_server *server, unsigned int op,
	      struct tally *sum)
{
	bool any = false;

	for (unsigned int i = 0; i < server->nlanes; i++)
		for (unsigned int r = 0; r < RAILS_MAX; r++)
			for (unsigned int w = 0; w < TALLY_WAYS; w++)
				any |= tally_sum(
					sum,
					&server->lanes[i].tallies.of[r][op][w]);
	return any;
}

bool tally_way(const struct rpc_server *server, unsigned int rail,
	       enum tally_kind kind, enum tally_way way, struct tally *sum)
{
	bool any = false;

	for (unsigned int i = 0; i < server->nlanes; i++)
		for (unsigned int op = 0; op < WIRE_OP_END; op++)
			if (tally_kind_of(op) == kind)
				any |= tally_sum(
					sum,
					&server->lanes[i]
						 .tallies.of[rail][op][way]);
	return any;
}

/* The longest time is unknown; at most it is the end of the last bucket in use. */
static void tally_add_buckets(struct tally *to, const struct rpc_told *told)
{
	for (unsigned int b = 0; b < HISTOGRAM_BUCKETS; b++) {
		if (!told->bucket[b])
			continue;
		lane_add(&to->bucket[b], told->bucket[b]);
		atomic_store(&to->most, b < HISTOGRAM_BUCKETS - 1
						? histogram_floor(b + 1)
						: histogram_floor(b));
	}
}

bool tally_told(struct rpc_server *server, bool write, struct tally *to)
{
	struct rpc_told told;

	pthread_mutex_lock(&server->labels.lock);
	told = server->labels.told[write];
	pthread_mutex_unlock(&server->labels.lock);
	lane_add(&to->requests, told.n);
	lane_add(&to->ns, told.ns);
	lane_add(write ? &to->bytes_in : &to->bytes_out, told.bytes);
	tally_add_buckets(to, &told);
	return told.n;
}

void rpc_server_stats(const struct rpc_server *server,
		      struct rpc_server_stats *stats)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&server->lock;
	unsigned int i;

	*stats = (struct rpc_server_stats){ 0 };
	for (i = 0; i < server->nlanes; i++) {
		const struct lane *lane = &server->lanes[i];

		stats->requests += atomic_load(&lane->requests);
		stats->protocol_errors += atomic_load(&lane->protocol_errors);
		stats->replays += atomic_load(&lane->replays);
		stats->fast += atomic_load(&lane->fast);
		stats->placed += atomic_load(&lane->placed);
		stats->whole += atomic_load(&lane->whole);
		stats->rdma_waits += atomic_load(&lane->rdma_waits);
		stats->rdma_cut += atomic_load(&lane->rdma_cut);
		stats->rdma_most += atomic_load(&lane->rdma_most);
		stats->carried += atomic_load(&lane->carried);
		stats->carried_bytes += atomic_load(&lane->carried_bytes);
		stats->carry_declined += atomic_load(&lane->carry_declined);
		stats->carry_late += atomic_load(&lane->carry_late);
		stats->conns += atomic_load(&lane->conns_now);
		stats->client_bytes += atomic_load(&lane->conn_bytes) +
				       atomic_load(&lane->session_bytes);
		stats->aparts += atomic_load(&lane->aparts_now);
		stats->apart_bytes += atomic_load(&lane->apart_bytes);
		stats->message_bytes += atomic_load(&lane->message_bytes);
		stats->impostors += atomic_load(&lane->impostors);
		stats->bare += atomic_load(&lane->bare);
		stats->outsiders += atomic_load(&lane->outsiders);
		stats->unknown += atomic_load(&lane->unknown);
		stats->shared += atomic_load(&lane->shared_receives);
		stats->shared_bytes += atomic_load(&lane->shared_bytes);
		stats->shared_copies += atomic_load(&lane->shared_copies);
	}
	stats->fast_refused = atomic_load(&server->fast.refused);
	stats->fast_bytes = atomic_load(&server->fast.used);
	pthread_mutex_lock(lock);
	stats->sessions = server->nsessions;
	pthread_mutex_unlock(lock);
}
