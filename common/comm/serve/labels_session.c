/* SPDX-License-Identifier: BSD-2-Clause */
/* labels_session.c - which labels count the requests of a session, and who sees them. */
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

/* Requests of servers serve requests of clients, so servers have no label. */
void labels_own(struct rpc_session *s)
{
	labels_leave(s);
	if (s->info.role == WIRE_ROLE_CLIENT)
		s->labels.own = label_of(s, s->info.cred.uid);
}

/* The label of the user for whom the session speaks. */
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

/*
 * Only root may speak for others.  A request that was refused with EPERM counts for root.
 */
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

bool labels_sees_all(struct rpc_session *s)
{
	const struct rpc_server_attr *attr = &s->lane->server->attr;

	if (attr->service->sees_all)
		return attr->service->sees_all(attr->arg, s);
	return !s->info.cred.uid || s->info.cred.uid == geteuid();
}
