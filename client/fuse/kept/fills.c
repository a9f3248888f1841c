/* SPDX-License-Identifier: BSD-2-Clause */
/* fills.c - see fills.h; files may share a list, which only takes longer. */
#include "client/fuse/kept/fills.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/watched_descriptor.h"

#define LISTS 64u

struct list {
	pthread_mutex_t lock;
	pthread_cond_t written;
	LIST_HEAD(, fill) all;
	unsigned int waiting;
};

struct fills {
	struct list list[LISTS];
};

struct fills *fills_new(void)
{
	struct fills *f = calloc(1, sizeof(*f));

	for (unsigned int i = 0; f && i < LISTS; i++) {
		LIST_INIT(&f->list[i].all);
		pthread_mutex_init(&f->list[i].lock, NULL);
		pthread_cond_init(&f->list[i].written, NULL);
	}
	return f;
}

void fills_free(struct fills *f)
{
	for (unsigned int i = 0; f && i < LISTS; i++) {
		pthread_cond_destroy(&f->list[i].written);
		pthread_mutex_destroy(&f->list[i].lock);
	}
	free(f);
}

static struct list *list_of(struct fills *f, const struct fill *x)
{
	return &f->list[x->file % LISTS];
}

static bool meet(const struct fill *a, const struct fill *b)
{
	return a->file == b->file && a->from < b->to && b->from < a->to;
}

static bool is_written(const struct list *l, const struct fill *x)
{
	const struct fill *w;

	LIST_FOREACH(w, &l->all, link)
		if (w->write && meet(w, x))
			return true;
	return false;
}

/* Called with the lock, which is released meanwhile. */
static int wait_written(struct list *l, const struct fill *x, uint64_t until)
{
	struct timespec at = clock_timespec(until);
	int rc = 0;

	l->waiting++;
	pthread_mutex_unlock(&l->lock);
	watched_descriptor_hand_over();
	pthread_mutex_lock(&l->lock);
	while (!rc && is_written(l, x))
		rc = pthread_cond_clockwait(&l->written, &l->lock,
					    CLOCK_MONOTONIC, &at);
	l->waiting--;
	return -rc;
}

int fills_begin(struct fills *f, struct fill *x, uint64_t until)
{
	struct list *l = list_of(f, x);
	int rc = 0;

	x->write = x->overtaken = false;
	pthread_mutex_lock(&l->lock);
	if (is_written(l, x))
		rc = wait_written(l, x, until);
	if (!rc)
		LIST_INSERT_HEAD(&l->all, x, link);
	pthread_mutex_unlock(&l->lock);
	return rc;
}

bool fills_end(struct fills *f, struct fill *x)
{
	struct list *l = list_of(f, x);
	bool overtaken;

	pthread_mutex_lock(&l->lock);
	LIST_REMOVE(x, link);
	overtaken = x->overtaken;
	pthread_mutex_unlock(&l->lock);
	return !overtaken;
}

void fills_write(struct fills *f, struct fill *x)
{
	struct list *l = list_of(f, x);
	struct fill *r;

	x->write = true;
	pthread_mutex_lock(&l->lock);
	LIST_FOREACH(r, &l->all, link)
		if (meet(r, x))
			r->overtaken = true;
	LIST_INSERT_HEAD(&l->all, x, link);
	pthread_mutex_unlock(&l->lock);
}

void fills_written(struct fills *f, struct fill *x)
{
	struct list *l = list_of(f, x);

	pthread_mutex_lock(&l->lock);
	LIST_REMOVE(x, link);
	if (l->waiting)
		pthread_cond_broadcast(&l->written);
	pthread_mutex_unlock(&l->lock);
}
