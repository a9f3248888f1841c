/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lacks.c - a table with one place per object; objects with the same place replace each
 * other.
 */
#include "client/fuse/cache/lacks.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/util/clock.h"

#define PLACES 65536u

struct place {
	uint64_t n;
	uint64_t until;
	/* last change of an object with this place; 0: never */
	uint64_t changed;
	uint32_t what;
};

struct lacks {
	pthread_mutex_t lock;
	struct place place[PLACES];
};

struct lacks *lacks_new(void)
{
	struct lacks *l = calloc(1, sizeof(*l));

	if (l)
		pthread_mutex_init(&l->lock, NULL);
	return l;
}

void lacks_free(struct lacks *l)
{
	if (!l)
		return;
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static struct place *place_of(struct lacks *l, uint64_t n)
{
	return &l->place[n % PLACES];
}

/* An object that lacks nothing does not replace another. */
void lacks_told(struct lacks *l, uint64_t n, uint32_t what, uint64_t asked,
		uint64_t until)
{
	struct place *p = place_of(l, n);

	pthread_mutex_lock(&l->lock);
	if (asked > p->changed && (what || p->n == n)) {
		p->n = n;
		p->what = what;
		p->until = until;
	}
	pthread_mutex_unlock(&l->lock);
}

void lacks_changed(struct lacks *l, uint64_t n)
{
	struct place *p = place_of(l, n);

	pthread_mutex_lock(&l->lock);
	p->changed = clock_now();
	if (p->n == n)
		p->what = 0;
	pthread_mutex_unlock(&l->lock);
}

bool lacks_is(struct lacks *l, uint64_t n, uint32_t what)
{
	const struct place *p = place_of(l, n);
	bool is;

	pthread_mutex_lock(&l->lock);
	is = p->n == n && p->what & what && clock_now() < p->until;
	pthread_mutex_unlock(&l->lock);
	return is;
}
