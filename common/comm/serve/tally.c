/* SPDX-License-Identifier: BSD-2-Clause */
/* tally.c - see tally_int.h. */
#include "common/comm/serve/tally_int.h"

#include <stdlib.h>
#include <string.h>

#include "common/comm/serve/server_int.h"

static uint64_t get(const atomic_uint_least64_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

struct tally *tally_made(struct tally *_Atomic *place)
{
	struct tally *t = atomic_load_explicit(place, memory_order_relaxed);

	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	atomic_store_explicit(place, t, memory_order_release);
	return t;
}

void tally_count(struct tally *t, const struct rx *rx, uint64_t took,
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
	if (took > get(&t->most))
		atomic_store_explicit(&t->most, took, memory_order_relaxed);
}

static enum tally_kind kind_of(unsigned int op)
{
	if (wire_op_reads(op))
		return TALLY_READ;
	return wire_op_writes(op) ? TALLY_WRITE : TALLY_OTHER;
}

/* Of a READ or WRITE, also of a list: their bodies begin in the same way. */
static enum tally_way way_of(const struct rx *rx)
{
	const struct wire_io *io = rx->req.msg.body;

	if (kind_of(rx->req.op) == TALLY_OTHER)
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
		&all->of[conn->link.rail][rx->req.op][way_of(rx)]);
	uint64_t took = now - rx->arrived;

	labels_add(rx, took, status);
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
static bool add(struct tally *to, struct tally *_Atomic const *place)
{
	const struct tally *t = atomic_load_explicit(place,
						     memory_order_acquire);

	if (!t)
		return false;
	lane_add(&to->requests, get(&t->requests));
	lane_add(&to->errors, get(&t->errors));
	lane_add(&to->bytes_in, get(&t->bytes_in));
	lane_add(&to->bytes_out, get(&t->bytes_out));
	lane_add(&to->ns, get(&t->ns));
	if (get(&t->most) > get(&to->most))
		atomic_store(&to->most, get(&t->most));
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		lane_add(&to->bucket[i], get(&t->bucket[i]));
	return true;
}

bool tally_op(const struct rpc_server *server, unsigned int op,
	      struct tally *sum)
{
	bool any = false;

	for (unsigned int i = 0; i < server->nlanes; i++)
		for (unsigned int r = 0; r < RAILS_MAX; r++)
			for (unsigned int w = 0; w < TALLY_WAYS; w++)
				any |= add(
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
			if (kind_of(op) == kind)
				any |= add(sum,
					   &server->lanes[i]
						    .tallies.of[rail][op][way]);
	return any;
}

/* The longest time is unknown; at most it is the end of the last bucket in use. */
static void add_buckets(struct tally *to, const struct rpc_told *told)
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
	add_buckets(to, &told);
	return told.n;
}
