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
	size_t len = all->threads * sizeof(*l->counts);

	if (!l)
		return NULL;
	l->counts = aligned_alloc(_Alignof(struct label_count), len);
	if (!l->counts) {
		free(l);
		return NULL;
	}
	for (unsigned int i = 0; i < all->threads; i++)
		l->counts[i] = (struct label_count){ 0 };
	l->key = *key;
	return l;
}

static void label_free(struct label *l)
{
	if (l)
		free(l->counts);
	free(l);
}

int labels_init(struct labels *all, unsigned int threads)
{
	const struct label_key nobody = { 0 };

	*all = (struct labels){ .threads = threads };
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
	for (unsigned int i = 0; i < all->threads; i++) {
		sum->requests += counter_get(&l->counts[i].requests);
		sum->errors += counter_get(&l->counts[i].errors);
		sum->bytes_in += counter_get(&l->counts[i].bytes_in);
		sum->bytes_out += counter_get(&l->counts[i].bytes_out);
		sum->ns += counter_get(&l->counts[i].ns);
	}
}

static void label_sum_add(struct label_sum *to, const struct label_sum *io)
{
	to->requests += io->requests;
	to->bytes_in += io->bytes_in;
	to->bytes_out += io->bytes_out;
	to->ns += io->ns;
}

/*
 * Adds the counts of an idle label to the sum "others", and frees the label.  Returns its place in
 * the table.
 */
static unsigned int label_fold(struct labels *all, struct label *l)
{
	unsigned int place = l->place;

	label_total(all, l, &all->folded);
	label_sum_add(&all->others->direct, &l->direct);
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

/*
 * Adds what a client read and wrote without requests to its label.  If the label no longer exists,
 * adds it to the sum "others".
 */
void labels_add_direct_io(struct labels *all, const struct label_key *key,
			  const struct rpc_direct_io io[2])
{
	const struct label_sum sum = { .requests = io[0].n + io[1].n,
				       .bytes_out = io[0].bytes,
				       .bytes_in = io[1].bytes,
				       .ns = io[0].ns + io[1].ns };
	struct label *l;

	pthread_mutex_lock(&all->lock);
	HASH_FIND(hh, all->by_key, key, sizeof(*key), l);
	label_sum_add(l ? &l->direct : &all->others->direct, &sum);
	for (unsigned int i = 0; i < 2; i++) {
		all->direct_io[i].n += io[i].n;
		all->direct_io[i].bytes += io[i].bytes;
		all->direct_io[i].ns += io[i].ns;
		for (unsigned int b = 0; b < HISTOGRAM_BUCKETS; b++)
			all->direct_io[i].bucket[b] += io[i].bucket[b];
	}
	pthread_mutex_unlock(&all->lock);
}

/* ---- the labels of a session ---- */

static struct labels *session_labels(const struct rpc_session *s)
{
	return &s->thread->server->labels;
}

static struct label *session_label_get(const struct rpc_session *s,
				       uint32_t uid)
{
	struct label_key key = { .uid = uid };

	memcpy(key.job, s->labels.job, sizeof(key.job));
	return labels_get(session_labels(s), &key);
}

void labels_release(struct rpc_session *s)
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
void labels_set_own(struct rpc_session *s)
{
	labels_release(s);
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

/* Only root may use WIRE_F_AS.  If such a request is rejected with EPERM, it counts for root. */
static struct label *request_label(struct rx *rx, uint32_t status)
{
	struct rpc_session *s = rx->conn->session;
	const struct wire_as *as = rx->req.msg.as;

	if (!as || s->info.cred.uid || status == EPERM || !s->labels.own)
		return s->labels.own;
	return session_label_as(s, le32toh(as->uid));
}

void labels_count_request(struct rx *rx, uint64_t took, uint32_t status)
{
	struct label *l = request_label(rx, status);
	struct label_count *n;

	if (!l)
		return;
	n = &l->counts[rx->conn->thread->index];
	counter_increment(&n->requests);
	if (status)
		counter_increment(&n->errors);
	counter_add(&n->bytes_in, rx->bytes_in + rx->data_len);
	counter_add(&n->bytes_out,
		    rx->bytes_out + rx->reply_len - sizeof(struct wire_hdr));
	counter_add(&n->ns, took);
}

void rpc_session_label(const struct rpc_session *s, struct rpc_label *label)
{
	*label = (struct rpc_label){ .uid = s->info.cred.uid };
	memcpy(label->job, s->labels.job, sizeof(label->job));
}

void rpc_server_add_direct_io(struct rpc_server *server,
			      const struct rpc_label *label,
			      const struct rpc_direct_io io[2])
{
	struct label_key key = { .uid = label->uid };

	memcpy(key.job, label->job, sizeof(key.job));
	labels_add_direct_io(&server->labels, &key, io);
}

bool session_sees_all_labels(struct rpc_session *s)
{
	const struct rpc_server_attr *attr = &s->thread->server->attr;

	if (attr->service->sees_all)
		return attr->service->sees_all(attr->arg, s);
	return !s->info.cred.uid || s->info.cred.uid == geteuid();
}
