/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metrics.c - answers METRICS with rows: counts of the threads, internals of rpc, and rows of the
 * service.
 *
 * Each possible row has a fixed place, even if it is absent now.  So if a reply is full, the next
 * reply can continue at that place:
 *
 *	files | operations | users | ways | gauges of rpc | rows of the service
 */
#include "common/comm/serve/request_int.h"

#include <stdio.h>
#include <string.h>

#include "common/transport/tp_seal.h"
#include "common/util/clock.h"

#define PLACE_OPS 64u
#define PLACE_USERS (PLACE_OPS + WIRE_OP_END + 2u)
#define PLACE_INSIDE (PLACE_USERS + 2u * (LABELS_MAX + 1u))

_Static_assert(HISTOGRAM_BUCKETS <= WIRE_METRIC_BUCKETS, "wire.h");

struct rpc_metrics {
	struct rpc_server *server;
	bool all; /* an administrator asks; else: */
	uint32_t uid;
	struct wire_out *out;
	size_t room; /* bytes left for rows */
	uint64_t from, place; /* first place wanted; place of the next row */
	uint64_t next; /* first row without room; 0: none */
};

/* ---- a row ---- */

struct metric_row {
	struct wire_metric m;
	uint8_t more[HISTOGRAM_BUCKETS * sizeof(struct wire_metric_bucket) +
		     WIRE_METRIC_TEXT];
	size_t len; /* of more */
};

static void row_add_bucket(struct metric_row *r, unsigned int bucket,
			   uint64_t n)
{
	const struct wire_metric_bucket b = {
		.from = htole64(histogram_floor(bucket)), .n = htole64(n)
	};

	if (!n)
		return;
	memcpy(r->more + r->len, &b, sizeof(b));
	r->len += sizeof(b);
	r->m.buckets = htole16((uint16_t)(le16toh(r->m.buckets) + 1));
}

/* Truncates text that is too long. */
static void row_add_text(struct metric_row *r, const char *s, size_t len)
{
	unsigned int used = le16toh(r->m.text_len);

	if (used + len >= WIRE_METRIC_TEXT)
		len = WIRE_METRIC_TEXT - 1 - used;
	memcpy(r->more + r->len, s, len);
	r->more[r->len + len] = '\0';
	r->len += len + 1;
	r->m.text_len = htole16((uint16_t)(used + len + 1));
}

static void row_add_name(struct metric_row *r, const char *name,
			 const char *help)
{
	row_add_text(r, name, strlen(name));
	row_add_text(r, help, strlen(help));
}

/* value: len bytes, not terminated. */
static void row_add_label_bytes(struct metric_row *r, const char *key,
				const char *value, size_t len)
{
	row_add_text(r, key, strlen(key));
	row_add_text(r, value, len);
	r->m.labels = htole16((uint16_t)(le16toh(r->m.labels) + 1));
}

static void row_add_label(struct metric_row *r, const char *key,
			  const char *value)
{
	row_add_label_bytes(r, key, value, strlen(value));
}

static void row_put(struct rpc_metrics *m, const struct metric_row *r)
{
	size_t len = wire_pad(sizeof(r->m) + r->len);

	if (len > m->room) {
		m->next = m->place - 1;
		return;
	}
	m->room -= len;
	wire_put(m->out, &r->m, sizeof(r->m));
	wire_put(m->out, r->more, r->len);
}

/* Counts the next possible row.  Returns false if it does not belong to this reply. */
static bool is_next(struct rpc_metrics *m)
{
	return m->place++ >= m->from && !m->next;
}

/* ---- rows of numbers ---- */

static struct metric_row row_of_tally(const struct request_tally *t)
{
	struct metric_row r = {
		.m = { .kind = htole16(WIRE_MK_TIMES),
		       .n = htole64(atomic_load(&t->requests)),
		       .errors = htole64(atomic_load(&t->errors)),
		       .bytes_in = htole64(atomic_load(&t->bytes_in)),
		       .bytes_out = htole64(atomic_load(&t->bytes_out)),
		       .ns = htole64(atomic_load(&t->ns)),
		       .most = htole64(atomic_load(&t->most)) }
	};

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		row_add_bucket(&r, i, atomic_load(&t->bucket[i]));
	return r;
}

static void put_number(struct rpc_metrics *m, enum wire_metric_kind kind,
		       const char *name, const char *by, const char *of,
		       uint64_t n, const char *help)
{
	struct metric_row r = { .m = { .kind = htole16((uint16_t)kind),
				       .n = htole64(n) } };

	if (!is_next(m))
		return;
	row_add_name(&r, name, help);
	if (by)
		row_add_label(&r, by, of);
	row_put(m, &r);
}

void rpc_metrics_now(struct rpc_metrics *m, const char *name, const char *by,
		     const char *of, uint64_t n, const char *help)
{
	put_number(m, WIRE_MK_NOW, name, by, of, n, help);
}

void rpc_metrics_total(struct rpc_metrics *m, const char *name, const char *by,
		       const char *of, uint64_t n, const char *help)
{
	put_number(m, WIRE_MK_TOTAL, name, by, of, n, help);
}

void rpc_metrics_times(struct rpc_metrics *m, const char *name, const char *by,
		       const char *of, const struct timing *t, const char *help)
{
	struct metric_row r = {
		.m = { .kind = htole16(WIRE_MK_TIMES),
		       .n = htole64(atomic_load(&t->n)),
		       .errors = htole64(atomic_load(&t->errors)),
		       .bytes_in = htole64(atomic_load(&t->bytes)),
		       .ns = htole64(atomic_load(&t->ns)),
		       .most = htole64(atomic_load(&t->most)) }
	};

	if (!is_next(m) || !r.m.n)
		return;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		row_add_bucket(&r, i, atomic_load(&t->bucket[i]));
	row_add_name(&r, name, help);
	row_add_label(&r, by, of);
	row_put(m, &r);
}

/* ---- FILES ---- */

static void put_file(struct rpc_metrics *m, const struct sketch_row *file)
{
	const struct rpc_server_attr *attr = &m->server->attr;
	struct metric_row r = { .m = { .kind = htole16(WIRE_MK_TIMES),
				       .n = htole64(file->requests),
				       .bytes_in = htole64(file->in),
				       .bytes_out = htole64(file->out) } };
	uint8_t name[WIRE_METRIC_NAME] = { 0 };
	char handle[20];

	if (!is_next(m))
		return;
	if (attr->service->name)
		attr->service->name(attr->arg, file->key, name);
	snprintf(handle, sizeof(handle), "%016llx",
		 (unsigned long long)file->key);
	row_add_name(&r, "file", "");
	row_add_label(&r, "handle", handle);
	row_add_label_bytes(&r, "name", (const char *)name,
			    strnlen((const char *)name, sizeof(name)));
	row_put(m, &r);
}

/* Makes rows without counts for the handles that were asked about. */
static unsigned int read_handles(const struct wire_tail *tail,
				 struct sketch_row *rows)
{
	const le64 *handle = tail->ptr;
	unsigned int n = (unsigned int)(tail->len / sizeof(*handle));

	for (unsigned int i = 0; i < n; i++)
		rows[i] = (struct sketch_row){ .key = le64toh(handle[i]) };
	return n;
}

/*
 * The order of the files changes with every request, so a later reply cannot continue the list.
 * Files that do not fit into the first reply are omitted.
 */
static void put_files(struct rpc_metrics *m, const struct wire_tail *handles)
{
	struct sketch_row rows[2 * SKETCH_MAX];
	unsigned int n;

	if (m->from || !m->all)
		return;
	n = read_handles(handles, rows);
	n = n ? n : busy_objects_collect(m->server, rows);
	for (unsigned int i = 0; i < n; i++)
		put_file(m, &rows[i]);
	m->next = m->next ? PLACE_OPS : 0;
}

/* ---- OPS ---- */

static void put_op(struct rpc_metrics *m, const char *op,
		   const struct request_tally *t)
{
	struct metric_row r = row_of_tally(t);

	row_add_name(&r, "requests", "");
	row_add_label(&r, "op", op);
	row_put(m, &r);
}

/* The last two rows are what clients report that they did themselves. */
static void put_ops(struct rpc_metrics *m)
{
	m->place = PLACE_OPS;
	for (unsigned int op = 0; op < WIRE_OP_END; op++) {
		struct request_tally sum = { 0 };

		if (is_next(m) && tally_sum_op(m->server, op, &sum))
			put_op(m, wire_op_name(op), &sum);
	}
	for (unsigned int i = 0; i < 2; i++) {
		struct request_tally sum = { 0 };

		if (is_next(m) && tally_add_direct_io(m->server, i, &sum))
			put_op(m, i ? "DIRECT_WRITE" : "DIRECT_READ", &sum);
	}
}

/* ---- USERS ---- */

static void put_user(struct rpc_metrics *m, const struct label *l, bool direct,
		     const struct label_sum *sum)
{
	struct metric_row r = { .m = { .kind = htole16(WIRE_MK_TIMES),
				       .n = htole64(sum->requests),
				       .errors = htole64(sum->errors),
				       .bytes_in = htole64(sum->bytes_in),
				       .bytes_out = htole64(sum->bytes_out),
				       .ns = htole64(sum->ns) } };
	char uid[16] = "others";

	if (l != m->server->labels.others)
		snprintf(uid, sizeof(uid), "%u", (unsigned int)l->key.uid);
	row_add_name(&r, "user", "");
	row_add_label(&r, "uid", uid);
	row_add_label_bytes(&r, "job", l->key.job,
			    strnlen(l->key.job, sizeof(l->key.job)));
	if (direct)
		row_add_label(&r, "way", "direct");
	row_put(m, &r);
}

/* Two rows: done by requests, and done without. */
static void put_label(struct rpc_metrics *m, const struct label *l,
		      struct label_sum sum)
{
	const struct labels *all = &m->server->labels;
	bool shown = l &&
		     (m->all || (l != all->others && l->key.uid == m->uid));

	if (shown)
		label_total(all, l, &sum);
	if (is_next(m) && shown && (sum.requests || l != all->others))
		put_user(m, l, false, &sum);
	if (is_next(m) && shown && l->direct.requests)
		put_user(m, l, true, &l->direct);
}

static void put_users(struct rpc_metrics *m)
{
	struct labels *all = &m->server->labels;

	m->place = PLACE_USERS;
	pthread_mutex_lock(&all->lock);
	for (unsigned int i = 0; i < LABELS_MAX; i++)
		put_label(m, all->table[i], (struct label_sum){ 0 });
	put_label(m, all->others, all->folded);
	pthread_mutex_unlock(&all->lock);
}

/* ---- INSIDE ---- */

static void put_way_row(struct rpc_metrics *m, const char *transport,
			enum tally_kind kind, const char *way,
			struct request_tally *sum)
{
	static const char *const kinds[TALLY_KINDS] = { "other", "read",
							"write" };
	struct metric_row r;

	/* bodies of replies are no data */
	if (kind == TALLY_READ)
		atomic_store(&sum->bytes_in, 0);
	else if (kind == TALLY_WRITE)
		atomic_store(&sum->bytes_out, 0);
	r = row_of_tally(sum);
	row_add_name(&r, "way", "");
	row_add_label(&r, "op", kinds[kind]);
	row_add_label(&r, "transport", transport);
	row_add_label(&r, "way", way);
	row_put(m, &r);
}

static const char *transport_name(const struct rails *rails, unsigned int rail)
{
	return tp_dev_name(rails->dev[rail]);
}

/* Several devices may have one transport. */
static bool is_first_of_transport(const struct rails *rails, unsigned int rail)
{
	for (unsigned int r = 0; r < rail; r++)
		if (!strcmp(transport_name(rails, r),
			    transport_name(rails, rail)))
			return false;
	return true;
}

static void put_ways(struct rpc_metrics *m, const struct rails *rails,
		     unsigned int rail)
{
	static const char *const ways[TALLY_WAYS] = { "none", "inline", "fast",
						      "bulk", "mapped" };

	for (unsigned int i = 0; i < TALLY_KINDS * TALLY_WAYS; i++) {
		enum tally_kind kind = i / TALLY_WAYS;
		enum tally_way way = i % TALLY_WAYS;
		struct request_tally sum = { 0 };
		bool any = false;

		if (!is_next(m))
			continue;
		for (unsigned int r = rail; r < rails->n; r++)
			if (!strcmp(transport_name(rails, r),
				    transport_name(rails, rail)))
				any |= tally_sum_way(m->server, r, kind, way,
						     &sum);
		if (any)
			put_way_row(m, transport_name(rails, rail), kind,
				    ways[way], &sum);
	}
}

static void put_memory(struct rpc_metrics *m, const struct rails *rails,
		       unsigned int rail)
{
	const char *transport = transport_name(rails, rail);
	uint64_t bytes = 0, pieces = 0;

	for (unsigned int r = rail; r < rails->n; r++) {
		unsigned int n;
		size_t len;

		if (strcmp(transport_name(rails, r), transport))
			continue;
		tp_dev_registered(rails->dev[r], &n, &len);
		bytes += len;
		pieces += n;
	}
	rpc_metrics_now(m, "registered_bytes", "transport", transport, bytes,
			"Memory that is registered.");
	rpc_metrics_now(m, "registered_pieces", "transport", transport, pieces,
			"Pieces of it.");
}

/* Kinds of refusals are in the order in which the server checks them. */
static void put_refusals(struct rpc_metrics *m,
			 const struct rpc_server_stats *st)
{
	static const char help[] = "Connections that were refused.";

	rpc_metrics_total(m, "refused", "reason", "other network",
			  st->outsiders, help);
	rpc_metrics_total(m, "refused", "reason", "not a server", st->impostors,
			  help);
	rpc_metrics_total(m, "refused", "reason", "not sealed", st->bare, help);
	rpc_metrics_total(m, "refused", "reason", "no ticket", st->unknown,
			  help);
	rpc_metrics_total(m, "refused", "reason", "unproven peer", st->unproven,
			  help);
}

static void put_flaws(struct rpc_metrics *m, const struct rails *rails)
{
	uint64_t sum[TP_FLAWS] = { 0 }, count[TP_FLAWS];

	for (unsigned int r = 0; r < rails->n; r++) {
		tp_dev_flaws(rails->dev[r], count);
		for (int i = 0; i < TP_FLAWS; i++)
			sum[i] += count[i];
	}
	for (int i = 0; i < TP_FLAWS; i++)
		rpc_metrics_total(m, "seal_violations", "cause",
				  tp_flaw_text((enum tp_flaw)i), sum[i],
				  "Sealed connections that ended for that.");
}

static void put_counts(struct rpc_metrics *m, const struct rpc_server_stats *st,
		       uint64_t running)
{
	const struct {
		const char *name;
		enum wire_metric_kind kind;
		uint64_t n;
		const char *help;
	} row[] = {
		{ "connections", WIRE_MK_NOW, st->conns,
		  "Connections of clients and servers." },
		{ "sessions", WIRE_MK_NOW, st->sessions,
		  "Clients and servers that are connected." },
		{ "requests_running", WIRE_MK_NOW, running,
		  "Requests that are not answered yet." },
		{ "requests_replayed", WIRE_MK_TOTAL, st->replays,
		  "Requests that were answered again after a lost connection." },
		{ "protocol_errors", WIRE_MK_TOTAL, st->protocol_errors,
		  "Messages that ended their connection." },
		{ "clients_bytes", WIRE_MK_NOW, st->client_bytes,
		  "Memory of connections and sessions, with kept replies." },
		{ "receives_shared", WIRE_MK_NOW, st->shared,
		  "Receives that connections share." },
		{ "receives_bytes", WIRE_MK_NOW, st->shared_bytes,
		  "Memory of these." },
		{ "receives_copied", WIRE_MK_TOTAL, st->shared_copies,
		  "Messages beyond a client's share of them." },
		{ "messages_bytes", WIRE_MK_TOTAL, st->message_bytes,
		  "Requests and replies." },
		{ "fast_bytes", WIRE_MK_NOW, st->fast_bytes,
		  "Fast RDMA buffers." },
		{ "fast_refused", WIRE_MK_TOTAL, st->fast_refused,
		  "Connections that got none." },
		{ "fast_replies", WIRE_MK_TOTAL, st->placed,
		  "Replies by Fast RDMA." },
		{ "bulk_waits", WIRE_MK_TOTAL, st->rdma_waits,
		  "Transfers that waited for others to end." },
		{ "bulk_most_bytes", WIRE_MK_NOW, st->rdma_most,
		  "The most that ever was in flight." },
		{ "bulk_cut", WIRE_MK_TOTAL, st->rdma_cut,
		  "Transfers that the end of a connection cut off." },
		{ "bulk_unanswered", WIRE_MK_TOTAL, st->whole,
		  "Reads that ended with their data, without a reply." },
		{ "bulk_carried", WIRE_MK_TOTAL, st->carried,
		  "Transfers that clients did for the server." },
		{ "bulk_carried_bytes", WIRE_MK_TOTAL, st->carried_bytes,
		  "Data that clients moved for the server." },
		{ "bulk_declined", WIRE_MK_TOTAL, st->carry_declined,
		  "Transfers that clients declined." },
		{ "bulk_withdrawn", WIRE_MK_TOTAL, st->carry_late,
		  "Transfers that clients did not do in time." },
		{ "bulk_connections", WIRE_MK_NOW, st->aparts,
		  "Connections with a second one for bulk data." },
		{ "bulk_connections_bytes", WIRE_MK_TOTAL, st->apart_bytes,
		  "Data over the second ones." },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		put_number(m, row[i].kind, row[i].name, NULL, NULL, row[i].n,
			   row[i].help);
}

/* running - 1: without this request itself. */
static void put_server(struct rpc_metrics *m)
{
	const struct rpc_server *server = m->server;
	struct rpc_server_stats st;
	uint64_t running = 0;

	rpc_server_stats(server, &st);
	for (unsigned int i = 0; i < server->nthreads; i++)
		running += atomic_load(&server->threads[i].running);
	put_counts(m, &st, running - 1);
	put_refusals(m, &st);
}

static void put_inside(struct rpc_metrics *m)
{
	const struct rpc_server_attr *attr = &m->server->attr;
	const struct rails *rails = &m->server->threads[0].ctx->rails;

	m->place = PLACE_INSIDE;
	for (unsigned int r = 0; r < rails->n; r++)
		if (is_first_of_transport(rails, r))
			put_ways(m, rails, r);
	for (unsigned int i = 0; i < 2; i++) {
		struct request_tally sum = { 0 };

		if (is_next(m) && tally_add_direct_io(m->server, i, &sum))
			put_way_row(m, "local", i ? TALLY_WRITE : TALLY_READ,
				    "direct", &sum);
	}
	put_server(m);
	for (unsigned int r = 0; r < rails->n; r++)
		if (is_first_of_transport(rails, r))
			put_memory(m, rails, r);
	put_flaws(m, rails);
	if (attr->service->metrics)
		attr->service->metrics(attr->arg, m);
}

/* ---- the request ---- */

static void put_groups(struct rpc_metrics *m, uint32_t groups,
		       const struct wire_tail *handles)
{
	if (groups & WIRE_MG_FILES)
		put_files(m, handles);
	if (groups & WIRE_MG_OPS)
		put_ops(m);
	if (groups & WIRE_MG_USERS)
		put_users(m);
	if (groups & WIRE_MG_INSIDE)
		put_inside(m);
}

void metrics_put(struct rpc_req *req, struct wire_out *out)
{
	const struct wire_metrics *body = req->msg.body;
	struct rpc_server *server = req->session->thread->server;
	struct wire_metrics_rep *rep = wire_put(out, NULL, sizeof(*rep));
	struct rpc_metrics m = { .server = server,
				 .all = session_sees_all_labels(req->session),
				 .uid = req->session->info.cred.uid,
				 .out = out,
				 .from = le64toh(body->from) };
	size_t begin = out->len;

	if (!m.from && server->attr.service->report_direct_io)
		server->attr.service->report_direct_io(server->attr.arg);
	m.room = wire_room(out, 0, 8, WIRE_BODY_MAX / 8 - sizeof(*rep) / 8) * 8;
	if (!rep)
		return;
	put_groups(&m, le32toh(body->groups), &req->msg.tail[0]);
	*rep = (struct wire_metrics_rep){ .next = htole64(m.next),
					  .len = htole32((uint32_t)(out->len -
								    begin)) };
}
