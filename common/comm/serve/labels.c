/* SPDX-License-Identifier: BSD-2-Clause */
/* labels.c - the table of labels: see labels_int.h. */
#include "common/comm/serve/labels_int.h"

#include <errno.h>
#include <stdlib.h>

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

static uint64_t get(const atomic_uint_least64_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

void label_total(const struct labels *all, const struct label *l,
		 struct label_sum *sum)
{
	for (unsigned int i = 0; i < all->lanes; i++) {
		sum->requests += get(&l->lane[i].requests);
		sum->errors += get(&l->lane[i].errors);
		sum->bytes_in += get(&l->lane[i].bytes_in);
		sum->bytes_out += get(&l->lane[i].bytes_out);
		sum->ns += get(&l->lane[i].ns);
	}
}

static void add_told(struct label_sum *to, const struct label_sum *told)
{
	to->requests += told->requests;
	to->bytes_in += told->bytes_in;
	to->bytes_out += told->bytes_out;
	to->ns += told->ns;
}

/* Folds an idle label into the others.  Returns its place. */
static unsigned int fold(struct labels *all, struct label *l)
{
	unsigned int place = l->place;

	label_total(all, l, &all->folded);
	add_told(&all->others->told, &l->told);
	TAILQ_REMOVE(&all->idle, l, idle_link);
	HASH_DEL(all->by_key, l);
	all->table[place] = NULL;
	label_free(l);
	return place;
}

static bool has_share(const struct labels *all, uint32_t uid)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < LABELS_MAX; i++)
		n += all->table[i] && all->table[i]->key.uid == uid;
	return n >= LABELS_OF_ONE;
}

/* uid: only labels of that user; NULL: of any.  Returns NULL if there is none. */
static struct label *oldest_idle(const struct labels *all, const uint32_t *uid)
{
	struct label *l;

	TAILQ_FOREACH(l, &all->idle, idle_link)
		if (!uid || l->key.uid == *uid)
			break;
	return l;
}

/* Returns LABELS_MAX if there is none. */
static unsigned int find_place(struct labels *all, uint32_t uid)
{
	bool own = has_share(all, uid);
	struct label *l;

	for (unsigned int i = 0; !own && i < LABELS_MAX; i++)
		if (!all->table[i])
			return i;
	l = oldest_idle(all, own ? &uid : NULL);
	return l ? fold(all, l) : LABELS_MAX;
}

static struct label *add(struct labels *all, const struct label_key *key)
{
	unsigned int place = find_place(all, key->uid);
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
		l = add(all, key);
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
	add_told(l ? &l->told : &all->others->told, &sum);
	for (unsigned int i = 0; i < 2; i++) {
		all->told[i].n += told[i].n;
		all->told[i].bytes += told[i].bytes;
		all->told[i].ns += told[i].ns;
		for (unsigned int b = 0; b < HISTOGRAM_BUCKETS; b++)
			all->told[i].bucket[b] += told[i].bucket[b];
	}
	pthread_mutex_unlock(&all->lock);
}
