/* SPDX-License-Identifier: BSD-2-Clause */
/* usage_labels.c - what users and jobs requested: see usage_labels_int.h. */
#include "common/comm/serve/conn_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the table ---- */

static struct label *label_new(struct labels *all, const struct label_key *key)
{
	struct label *l = calloc(1, sizeof(*l));
	size_t len = all->lanes * sizeof(*l->lane);

	if (!l)
		return NULL;
	l->lane = aligned_alloc(_Alignof(struct label_count), len);
	if (!l->lane) {
		free(l);
		return NULL;
	}
	for (unsigned int i = 0; i < all->lanes; i++)
		l->lane[i] = (struct label_count){ 0 };
	l->key = *key;
	return l;
}

static void label_free(struct label *l)
{
	if (l)
		free(l->lane);
	free(l);
}

int labels_init(struct labels *all, unsigned int lanes)
{
	const struct label_key nobody = { 0 };

	*all = (struct labels){ .lanes = lanes };
	all->others = label_new(all, &nobody);
	if (!all->others)
		return -ENOMEM;
	TAILQ_INIT(&all->idle);
	pthread_mutex_init(&all->lock, NULL);
	return 0;
}

void labels_fini(struct labels *all)
{
	HASH_CLEAR(hh, all->by_key);
	for (unsigned int i = 0; i < LABELS_MAX; i++)
		label_free(all->table[i]);
	label_free(all->others);
	pthread_mutex_destroy(&all->lock);
}

static uint64_t counter_get(const atomic_uint_least64_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

void label_total(const struct labels *all, const struct label *l,
		 struct label_sum *sum)
{
	for (unsigned int i = 0; i < all->lanes; i++) {
		sum->requests += counter_get(&l->lane[i].requests);
		sum->errors += counter_get(&l->lane[i].errors);
		sum->bytes_in += counter_get(&l->lane[i].bytes_in);
		sum->bytes_out += counter_get(&l->lane[i].bytes_out);
		sum->ns += counter_get(&l->lane[i].ns);
	}
}

static void sum_add_told(struct label_sum *to, const struct label_sum *told)
{
	to->requests += told->requests;
	to->bytes_in += told->bytes_in;
	to->bytes_out += told->bytes_out;
	to->ns += told->ns;
}

/* Folds an idle label into the others.  Returns its place. */
static unsigned int label_fold(struct labels *all, struct label *l)
{
	unsigned int place = l->place;

	label_total(all, l, &all->folded);
	sum_add_told(&all->others->told, &l->told);
	TAILQ_REMOVE(&all->idle, l, idle_link);
	HASH_DEL(all->by_key, l);
	all->table[place] = NULL;
	label_free(l);
	return place;
}

static bool user_has_share(const struct labels *all, uint32_t uid)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < LABELS_MAX; i++)
		n += all->table[i] && all->table[i]->key.uid == uid;
	return n >= LABELS_OF_ONE;
}

/* uid: only labels of that user; NULL: of any.  Returns NULL if there is none. */
static struct label *labels_oldest_idle(const struct labels *all,
					const uint32_t *uid)
{
	struct label *l;

	TAILQ_FOREACH(l, &all->idle, idle_link)
		if (!uid || l->key.uid == *uid)
			break;
	return l;
}

/* Returns LABELS_MAX if there is none. */
static unsigned int labels_find_place(struct labels *all, uint32_t uid)
{
	bool own = user_has_share(all, uid);
	struct label *l;

	for (unsigned int i = 0; !own && i < LABELS_MAX; i++)
		if (!all->table[i])
			return i;
	l = labels_oldest_idle(all, own ? &uid : NULL);
	return l ? label_fold(all, l) : LABELS_MAX;
}

static struct label *labels_add(struct labels *all, const struct label_key *key)
{
	unsigned int place = labels_find_place(all, key->uid);
	struct label *l = place < LABELS_MAX ? label_new(all, key) : NULL;

	if (!l)
		return all->others;
	HASH_ADD(hh, all->by_key, key, sizeof(l->key), l);
	if (!l->hh.tbl) {
		label_free(l);
		return all->others;
	}
	l->place = place;
	all->table[place] = l;
	return l;
}

struct label *labels_get(struct labels *all, const struct label_key *key)
{
	struct label *l;

	pthread_mutex_lock(&all->lock);
	HASH_FIND(hh, all->by_key, key, sizeof(*key), l);
	if (!l)
		l = labels_add(all, key);
	else if (!l->users)
		TAILQ_REMOVE(&all->idle, l, idle_link);
	l->users++;
	pthread_mutex_unlock(&all->lock);
	return l;
}

void labels_put(struct labels *all, struct label *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&all->lock);
	if (!--l->users && l != all->others)
		TAILQ_INSERT_TAIL(&all->idle, l, idle_link);
	pthread_mutex_unlock(&all->lock);
}

/* If the label no longer exists, counts among the others. */
void labels_told(struct labels *all, const struct label_key *key,
		 const struct rpc_told told[2])
{
	const struct label_sum sum = { .requests = told[0].n + told[1].n,
				       .bytes_out = told[0].bytes,
				       .bytes_in = told[1].bytes,
				       .ns = told[0].ns + told[1].ns };
	struct label *l;

	pthread_mutex_lock(&all->lock);
	HASH_FIND(hh, all->by_key, key, sizeof(*key), l);
	sum_add_told(l ? &l->told : &all->others->told, &sum);
	for (unsigned int i = 0; i < 2; i++) {
		all->told[i].n += told[i].n;
		all->told[i].bytes += told[i].bytes;
		all->told[i].ns += told[i].ns;
		for (unsigned int b = 0; b < HISTOGRAM_BUCKETS; b++)
			all->told[i].bucket[b] += told[i].bucket[b];
	}
	pthread_mutex_unlock(&all->lock);
}

/* ---- the labels of a session ---- */

static struct labels *session_labels(const struct rpc_session *s)
{
	return &s->lane->server->labels;
}

static struct label *session_label_get(const struct rpc_session *s,
				       uint32_t uid)
{
	struct label_key key = { .uid = uid };

	memcpy(key.job, s->labels.job, sizeof(key.job));
	return labels_get(session_labels(s), &key);
}

void labels_leave(struct rpc_session *s)
{
	struct label_hold *h = &s->labels;

	labels_put(session_labels(s), h->own);
	h->own = NULL;
	for (unsigned int i = 0; i < LABELS_AS; i++) {
		labels_put(session_labels(s), h->as[i]);
		h->as[i] = NULL;
	}
}

/* Requests of servers serve requests of clients, so servers have no label. */
void labels_own(struct rpc_session *s)
{
	labels_leave(s);
	if (s->info.role == WIRE_ROLE_CLIENT)
		s->labels.own = session_label_get(s, s->info.cred.uid);
}

/* The label of the user for whom the session speaks. */
static struct label *session_label_as(struct rpc_session *s, uint32_t uid)
{
	unsigned int i = uid % LABELS_AS;
	struct label *was = s->labels.as[i];

	if (was && s->labels.as_uid[i] == uid)
		return was;
	labels_put(session_labels(s), was);
	s->labels.as_uid[i] = uid;
	s->labels.as[i] = session_label_get(s, uid);
	return s->labels.as[i];
}

/*
 * Only root may speak for others.  A request that was refused with EPERM counts for root.
 */
static struct label *request_label(struct rx *rx, uint32_t status)
{
	struct rpc_session *s = rx->conn->session;
	const struct wire_as *as = rx->req.msg.as;

	if (!as || s->info.cred.uid || status == EPERM || !s->labels.own)
		return s->labels.own;
	return session_label_as(s, le32toh(as->uid));
}

void labels_count(struct rx *rx, uint64_t took, uint32_t status)
{
	struct label *l = request_label(rx, status);
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
