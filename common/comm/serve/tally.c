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

enum wire_timed tally_kind(unsigned int op)
{
	if (wire_op_reads(op))
		return WIRE_TM_READ;
	return wire_op_writes(op) ? WIRE_TM_WRITE : WIRE_TM_OTHER;
}

/* Of a READ or WRITE, also of lists: their bodies begin in the same way. */
static enum wire_way way_of(const struct rx *rx)
{
	const struct wire_io *io = rx->req.msg.body;

	if (tally_kind(rx->req.op) == WIRE_TM_OTHER)
		return WIRE_WAY_NONE;
	if (rx->by_fast || le16toh(rx->req.msg.hdr->flags) & WIRE_F_PLACE)
		return WIRE_WAY_FAST;
	if (rx->data_len || !io->nmem)
		return WIRE_WAY_INLINE;
	return rx->mapped ? WIRE_WAY_MAPPED : WIRE_WAY_BULK;
}

enum wire_transport tally_transport(const char *name)
{
	static const char *const names[WIRE_TRANSPORTS] = {
		[WIRE_TR_OTHER] = "",
		[WIRE_TR_TCP] = "tcp",
		[WIRE_TR_LOCAL] = "local",
		[WIRE_TR_VERBS] = "verbs",
	};

	for (unsigned int i = 0; i < WIRE_TRANSPORTS; i++)
		if (!strcmp(names[i], name))
			return (enum wire_transport)i;
	return WIRE_TR_OTHER;
}

/* Without memory it is not counted. */
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
			for (unsigned int w = 0; w < WIRE_WAYS; w++)
				free(all->of[r][op][w]);
}

/* ---- STATS ---- */

bool tally_sum(struct tally *to, struct tally *_Atomic const *place)
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

/* Of all rails and ways; false: it was never answered. */
static bool sum_op(const struct tallies *all, unsigned int op,
		   struct tally *sum)
{
	bool any = false;

	for (unsigned int r = 0; r < RAILS_MAX; r++)
		for (unsigned int w = 0; w < WIRE_WAYS; w++)
			any |= tally_sum(sum, &all->of[r][op][w]);
	return any;
}

/* The first operation from op on that was answered, and its sum; 0: none. */
static unsigned int next_op(struct rpc_server *server, unsigned int op,
			    struct tally *all)
{
	for (; op < WIRE_TOLD_READ; op++) {
		bool any = false;

		for (unsigned int i = 0; i < server->nlanes; i++)
			any |= sum_op(&server->lanes[i].tallies, op, all);
		if (any)
			return op;
	}
	return 0;
}

/* Nobody knows which one was the longest: at most where the last bucket with one ends. */
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

/* The same of what clients did without requests. */
static unsigned int next_told(struct rpc_server *server, unsigned int op,
			      struct tally *all)
{
	op = op < WIRE_TOLD_READ ? WIRE_TOLD_READ : op;
	for (; op <= WIRE_TOLD_WRITE; op++)
		if (tally_told(server, op == WIRE_TOLD_WRITE, all))
			return op;
	return 0;
}

void server_tell(struct rpc_server *server)
{
	if (server->attr.service->tell)
		server->attr.service->tell(server->attr.arg);
}

static void fill(struct wire_stats_rep *rep, const struct tally *t)
{
	rep->requests = htole64(get(&t->requests));
	rep->errors = htole64(get(&t->errors));
	rep->bytes_in = htole64(get(&t->bytes_in));
	rep->bytes_out = htole64(get(&t->bytes_out));
	rep->ns = htole64(get(&t->ns));
	rep->most = htole64(get(&t->most));
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		rep->bucket[i] = htole64(get(&t->bucket[i]));
}

void tally_req_run(struct rpc_req *req)
{
	struct rx *rx = container_of(req, struct rx, req);
	const struct wire_stats *body = req->msg.body;
	struct wire_stats_rep rep = { 0 };
	struct tally all = { 0 };
	struct rpc_server *server = rx->conn->lane->server;
	unsigned int op;

	if (!body->op)
		server_tell(server);
	op = next_op(server, le32toh(body->op), &all);
	if (!op && req->session->info.features & WIRE_FT_TOLD)
		op = next_told(server, le32toh(body->op), &all);
	rep.op = htole32(op);
	fill(&rep, &all);
	wire_put(rpc_reply_begin(req), &rep, sizeof(rep));
	rpc_reply_end(req, 0, RPC_REEXECUTE);
	rpc_reply_send(req);
}
