/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inside.c - answers TIMES and GAUGES.
 *
 * Places of TIMES: first each transport, kind and way of requests, then what clients say
 * that they did by themselves, then what the service times.
 */
#include "common/comm/serve/server_int.h"

#define PLACES_WAYS (WIRE_TRANSPORTS * TALLY_KINDS * WIRE_WAYS)
#define PLACES_TOLD (PLACES_WAYS + 2u)

_Static_assert(PLACES_TOLD + 16 <= WIRE_TIMES_ALL, "wire.h");

static bool sum_kind(const struct tallies *all, unsigned int rail,
		     unsigned int kind, unsigned int way, struct tally *sum)
{
	bool any = false;

	for (unsigned int op = 0; op < WIRE_OP_END; op++)
		if (tally_kind(op) == kind)
			any |= tally_sum(sum, &all->of[rail][op][way]);
	return any;
}

/* Of all lanes and rails of the transport; false: nothing. */
static bool sum_way(const struct rpc_server *server, unsigned int tr,
		    unsigned int kind, unsigned int way, struct tally *sum)
{
	const struct rails *rails = &server->lanes[0].ctx->rails;
	bool any = false;

	for (unsigned int r = 0; r < rails->n; r++) {
		if (tally_transport(tp_dev_name(rails->dev[r])) != tr)
			continue;
		for (unsigned int i = 0; i < server->nlanes; i++)
			any |= sum_kind(&server->lanes[i].tallies, r, kind, way,
					sum);
	}
	return any;
}

static void fill(struct wire_time *row, const struct tally *t)
{
	row->n = htole64(atomic_load(&t->requests));
	row->errors = htole64(atomic_load(&t->errors));
	row->bytes = htole64(atomic_load(&t->bytes_in) +
			     atomic_load(&t->bytes_out));
	row->ns = htole64(atomic_load(&t->ns));
	row->most = htole64(atomic_load(&t->most));
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		row->bucket[i] = htole64(atomic_load(&t->bucket[i]));
}

/* Bodies of replies are no data. */
static bool take_way(const struct rpc_server *server, unsigned int place,
		     struct wire_time *row)
{
	unsigned int way = place % WIRE_WAYS;
	unsigned int kind = place / WIRE_WAYS % TALLY_KINDS;
	unsigned int tr = place / WIRE_WAYS / TALLY_KINDS;
	struct tally sum = { 0 };

	if (!sum_way(server, tr, kind, way, &sum))
		return false;
	row->what = htole32(kind);
	row->transport = (uint8_t)tr;
	row->way = (uint8_t)way;
	if (kind == WIRE_TM_READ)
		atomic_store(&sum.bytes_in, 0);
	else if (kind == WIRE_TM_WRITE)
		atomic_store(&sum.bytes_out, 0);
	fill(row, &sum);
	return true;
}

static bool take_told(struct rpc_server *server, unsigned int i,
		      struct wire_time *row)
{
	struct tally sum = { 0 };

	if (!tally_told(server, i, &sum))
		return false;
	row->what = htole32(i ? WIRE_TM_WRITE : WIRE_TM_READ);
	row->transport = WIRE_TR_LOCAL;
	row->way = WIRE_WAY_DIRECT;
	fill(row, &sum);
	return true;
}

static bool take_own(const struct rpc_server *server, unsigned int i,
		     struct wire_time *row)
{
	const struct rpc_server_attr *attr = &server->attr;
	const struct timing *t = NULL;
	unsigned int what = 0;

	if (!attr->service->timed)
		return false;
	t = attr->service->timed(attr->arg, i, &what);
	if (!t || !atomic_load(&t->n))
		return false;
	row->what = htole32(what);
	row->n = htole64(atomic_load(&t->n));
	row->errors = htole64(atomic_load(&t->errors));
	row->bytes = htole64(atomic_load(&t->bytes));
	row->ns = htole64(atomic_load(&t->ns));
	row->most = htole64(atomic_load(&t->most));
	for (unsigned int k = 0; k < HISTOGRAM_BUCKETS; k++)
		row->bucket[k] = htole64(atomic_load(&t->bucket[k]));
	return true;
}

/* False: there is nothing at that place. */
static bool take(struct rpc_server *server, unsigned int place,
		 struct wire_time *row)
{
	*row = (struct wire_time){ 0 };
	if (place < PLACES_WAYS)
		return take_way(server, place, row);
	if (place < PLACES_TOLD)
		return take_told(server, place - PLACES_WAYS, row);
	return take_own(server, place - PLACES_TOLD, row);
}

void times_req_run(struct rpc_req *req)
{
	struct rpc_server *server = req->session->lane->server;
	const struct wire_times *body = req->msg.body;
	unsigned int place = le32toh(body->from), n = 0, room;
	struct wire_time row[WIRE_TIMES_MAX];
	struct wire_times_rep rep = { 0 };
	struct wire_out *out = rpc_reply_begin(req);

	if (!place)
		server_tell(server);
	room = wire_room(out, sizeof(rep), sizeof(row[0]), WIRE_TIMES_MAX);
	for (; n < room && place < WIRE_TIMES_ALL; place++)
		n += take(server, place, &row[n]);
	rep.n = htole32(n);
	rep.next = htole32(place < WIRE_TIMES_ALL ? place : 0);
	wire_put(out, &rep, sizeof(rep));
	wire_put(out, row, n * sizeof(row[0]));
	rpc_reply_end(req, 0, RPC_REEXECUTE);
	rpc_reply_send(req);
}

/* ---- GAUGES: what rpc has inside, then what the service has ---- */

struct rpc_gauges {
	unsigned int n, room;
	struct wire_gauge gauge[WIRE_GAUGES_MAX];
};

void rpc_gauges_put(struct rpc_gauges *g, unsigned int name, uint32_t of,
		    uint64_t value)
{
	if (g->n == g->room)
		return;
	g->gauge[g->n++] = (struct wire_gauge){ .name = htole32(name),
						.of = htole32(of),
						.value = htole64(value) };
}

/* Who asks is not meant. */
static void put_server(const struct rpc_server *server, struct rpc_gauges *g)
{
	struct rpc_server_stats st;
	uint64_t running = 0;

	rpc_server_stats(server, &st);
	for (unsigned int i = 0; i < server->nlanes; i++)
		running += atomic_load(&server->lanes[i].running);
	rpc_gauges_put(g, WIRE_G_CONNECTIONS, 0, st.conns);
	rpc_gauges_put(g, WIRE_G_RUNNING, 0, running - 1);
	rpc_gauges_put(g, WIRE_G_CLIENT_BYTES, 0, st.client_bytes);
	rpc_gauges_put(g, WIRE_G_BULK_WAITS, 0, st.rdma_waits);
	rpc_gauges_put(g, WIRE_G_CARRIED, 0, st.carried_bytes);
}

/* Of all devices of a transport. */
struct memory {
	bool any;
	uint64_t bytes, pieces;
};

static void add_rail(const struct rpc_server *server, unsigned int rail,
		     struct memory *m)
{
	unsigned int pieces;
	size_t bytes;

	tp_dev_registered(server->lanes[0].ctx->rails.dev[rail], &pieces,
			  &bytes);
	m->any = true;
	m->bytes += bytes;
	m->pieces += pieces;
}

static void put_memory(struct rpc_gauges *g, uint32_t tr,
		       const struct memory *m)
{
	rpc_gauges_put(g, WIRE_G_REG_BYTES, tr, m->bytes);
	rpc_gauges_put(g, WIRE_G_REG_PIECES, tr, m->pieces);
}

static void put_transports(const struct rpc_server *server,
			   struct rpc_gauges *g)
{
	const struct rails *rails = &server->lanes[0].ctx->rails;

	for (uint32_t tr = 0; tr < WIRE_TRANSPORTS; tr++) {
		struct memory m = { 0 };

		for (unsigned int r = 0; r < rails->n; r++)
			if (tally_transport(tp_dev_name(rails->dev[r])) == tr)
				add_rail(server, r, &m);
		if (m.any)
			put_memory(g, tr, &m);
	}
}

void gauges_req_run(struct rpc_req *req)
{
	const struct rpc_server *server = req->session->lane->server;
	const struct rpc_server_attr *attr = &server->attr;
	struct wire_out *out = rpc_reply_begin(req);
	struct wire_gauges_rep rep = { 0 };
	struct rpc_gauges g = { 0 };

	g.room = wire_room(out, sizeof(rep), sizeof(g.gauge[0]),
			   WIRE_GAUGES_MAX);
	put_server(server, &g);
	put_transports(server, &g);
	if (attr->service->gauges)
		attr->service->gauges(attr->arg, &g);
	rep.n = htole32(g.n);
	wire_put(out, &rep, sizeof(rep));
	wire_put(out, g.gauge, g.n * sizeof(g.gauge[0]));
	rpc_reply_end(req, 0, RPC_REEXECUTE);
	rpc_reply_send(req);
}
