/* SPDX-License-Identifier: BSD-2-Clause */
/* labels_req.c - what sessions do with labels: they count, and LABELS asks. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/comm/serve/server_int.h"

static struct labels *all_of(const struct rpc_session *s)
{
	return &s->lane->server->labels;
}

static struct label *label_of(const struct rpc_session *s, uint32_t uid)
{
	struct label_key key = { .uid = uid };

	memcpy(key.job, s->labels.job, sizeof(key.job));
	return labels_get(all_of(s), &key);
}

void labels_leave(struct rpc_session *s)
{
	struct label_hold *h = &s->labels;

	labels_put(all_of(s), h->own);
	h->own = NULL;
	for (unsigned int i = 0; i < LABELS_AS; i++) {
		labels_put(all_of(s), h->as[i]);
		h->as[i] = NULL;
	}
}

/* Servers ask for what others have asked them for. */
void labels_own(struct rpc_session *s)
{
	labels_leave(s);
	if (s->info.role == WIRE_ROLE_CLIENT)
		s->labels.own = label_of(s, s->info.cred.uid);
}

/* The label of whom it speaks for. */
static struct label *label_as(struct rpc_session *s, uint32_t uid)
{
	unsigned int i = uid % LABELS_AS;
	struct label *was = s->labels.as[i];

	if (was && s->labels.as_uid[i] == uid)
		return was;
	labels_put(all_of(s), was);
	s->labels.as_uid[i] = uid;
	s->labels.as[i] = label_of(s, uid);
	return s->labels.as[i];
}

/* Only who is root may speak for others, and only who was heard has. */
static struct label *who_asked(struct rx *rx, uint32_t status)
{
	struct rpc_session *s = rx->conn->session;
	const struct wire_as *as = rx->req.msg.as;

	if (!as || s->info.cred.uid || status == EPERM || !s->labels.own)
		return s->labels.own;
	return label_as(s, le32toh(as->uid));
}

void labels_add(struct rx *rx, uint64_t took, uint32_t status)
{
	struct label *l = who_asked(rx, status);
	struct label_count *n;

	if (!l)
		return;
	n = &l->lane[rx->conn->lane->index];
	lane_count(&n->requests);
	if (status)
		lane_count(&n->errors);
	lane_add(&n->bytes_in, rx->bytes_in + rx->data_len);
	lane_add(&n->bytes_out,
		 rx->bytes_out + rx->reply_len - sizeof(struct wire_hdr));
	lane_add(&n->ns, took);
}

void rpc_session_label(const struct rpc_session *s, struct rpc_label *label)
{
	*label = (struct rpc_label){ .uid = s->info.cred.uid };
	memcpy(label->job, s->labels.job, sizeof(label->job));
}

void rpc_server_told(struct rpc_server *server, const struct rpc_label *label,
		     const struct rpc_told told[2])
{
	struct label_key key = { .uid = label->uid };

	memcpy(key.job, label->job, sizeof(key.job));
	labels_told(&server->labels, &key, told);
}

/* ---- LABELS ---- */

bool labels_sees_all(struct rpc_session *s)
{
	const struct rpc_server_attr *attr = &s->lane->server->attr;

	if (attr->service->sees_all)
		return attr->service->sees_all(attr->arg, s);
	return !s->info.cred.uid || s->info.cred.uid == geteuid();
}

static void fill(struct wire_label *out, const struct label_key *key,
		 uint32_t flags, const struct label_sum *sum)
{
	*out = (struct wire_label){
		.uid = htole32(key->uid),
		.flags = htole32(flags),
		.requests = htole64(sum->requests),
		.errors = htole64(sum->errors),
		.bytes_in = htole64(sum->bytes_in),
		.bytes_out = htole64(sum->bytes_out),
		.ns = htole64(sum->ns),
	};
	memcpy(out->job, key->job, sizeof(out->job));
}

struct asked {
	bool all, told;
	uint32_t uid;
	unsigned int place, n, max;
	struct wire_label *label;
};

static bool shown(const struct asked *a, const struct label *l)
{
	return l && (a->all || l->key.uid == a->uid);
}

/* Two rows: what was asked for, and what was done without asking. */
static void put(struct asked *a, const struct label *l, uint32_t flags,
		const struct label_sum *sum)
{
	if (!flags || sum->requests)
		fill(&a->label[a->n++], &l->key, flags, sum);
	if (a->told && l->told.requests)
		fill(&a->label[a->n++], &l->key, flags | WIRE_LB_TOLD,
		     &l->told);
}

static bool has_room(const struct asked *a)
{
	return a->n + 2 <= a->max;
}

/* Under the lock: as many as fit, from a->place on, which is where to go on. */
static void collect(const struct labels *all, struct asked *a)
{
	struct label_sum sum;

	for (; a->place < LABELS_MAX && has_room(a); a->place++) {
		const struct label *l = all->table[a->place];

		if (!shown(a, l))
			continue;
		sum = (struct label_sum){ 0 };
		label_total(all, l, &sum);
		put(a, l, 0, &sum);
	}
	if (a->place != LABELS_MAX || !has_room(a))
		return;
	a->place++;
	sum = all->folded;
	label_total(all, all->others, &sum);
	if (a->all)
		put(a, all->others, WIRE_LB_OTHERS, &sum);
}

/* How many the reply has room for. */
static unsigned int room(const struct wire_out *out)
{
	return wire_room(out, sizeof(struct wire_labels_rep),
			 sizeof(struct wire_label), WIRE_LABELS_MAX);
}

void labels_req_run(struct rpc_req *req)
{
	const struct wire_labels *body = req->msg.body;
	struct wire_label found[WIRE_LABELS_MAX];
	struct wire_labels_rep rep = { 0 };
	struct labels *all = all_of(req->session);
	struct wire_out *out = rpc_reply_begin(req);
	struct asked a = { .all = labels_sees_all(req->session),
			   .told = req->session->info.features & WIRE_FT_TOLD,
			   .uid = req->session->info.cred.uid,
			   .place = le32toh(body->from),
			   .max = room(out),
			   .label = found };

	if (!body->from)
		server_tell(req->session->lane->server);
	pthread_mutex_lock(&all->lock);
	collect(all, &a);
	pthread_mutex_unlock(&all->lock);
	rep.n = htole32(a.n);
	rep.next = htole32(a.place <= LABELS_MAX ? a.place : 0);
	wire_put(out, &rep, sizeof(rep));
	wire_put(out, found, a.n * sizeof(found[0]));
	rpc_reply_end(req, 0, RPC_REEXECUTE);
	rpc_reply_send(req);
}
