/* SPDX-License-Identifier: BSD-2-Clause */
/* resizes.c - a ring of truncations; a new one replaces the oldest. */
#include "server/once/resizes.h"

#include <string.h>

void resizes_init(struct resizes *r)
{
	memset(r, 0, sizeof(*r));
	pthread_mutex_init(&r->lock, NULL);
}

void resizes_destroy(struct resizes *r)
{
	pthread_mutex_destroy(&r->lock);
}

/* Needs the lock, as do the functions below that do not take it. */
static struct resize_known *find(struct resizes *r, uint64_t id)
{
	struct resize_known *k;

	for (k = r->known; k < r->known + RESIZES_KEPT; k++)
		if (k->id == id)
			return k;
	return NULL;
}

/* Skips entries in progress.  There are few, because the pool bounds them. */
static struct resize_known *add(struct resizes *r, uint64_t id)
{
	struct resize_known *k;

	do {
		k = &r->known[r->next++ % RESIZES_KEPT];
	} while (k->id && !k->done);
	*k = (struct resize_known){ .id = id };
	return k;
}

static enum resize_verdict judge(struct resizes *r, uint64_t id,
				 struct resize_known **place)
{
	const struct resize_known *k = find(r, id);

	if (k)
		return k->done ? RESIZE_DONE : RESIZE_BUSY;
	*place = add(r, id);
	return RESIZE_DO;
}

enum resize_verdict resizes_begin(struct resizes *r, uint64_t id,
				  struct resize_known **place)
{
	enum resize_verdict verdict;

	*place = NULL;
	if (!id)
		return RESIZE_DO;
	pthread_mutex_lock(&r->lock);
	verdict = judge(r, id, place);
	pthread_mutex_unlock(&r->lock);
	return verdict;
}

void resizes_end(struct resizes *r, struct resize_known *place, bool done)
{
	if (!place)
		return;
	pthread_mutex_lock(&r->lock);
	if (done)
		place->done = true;
	else
		*place = (struct resize_known){ 0 };
	pthread_mutex_unlock(&r->lock);
}
