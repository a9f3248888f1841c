/* SPDX-License-Identifier: BSD-2-Clause */
/* inflight_io.c - see inflight_io.h; files may share a list, which only takes longer. */
#include "client/fuse/cache/inflight_io.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/watched_descriptor.h"

#define LISTS 64u

struct io_list {
	pthread_mutex_t lock;
	pthread_cond_t written;
	LIST_HEAD(, io_range) all;
	unsigned int waiting;
};

struct inflight_io {
	struct io_list list[LISTS];
};

struct inflight_io *inflight_io_new(void)
{
	struct inflight_io *io = calloc(1, sizeof(*io));

	for (unsigned int i = 0; io && i < LISTS; i++) {
		LIST_INIT(&io->list[i].all);
		pthread_mutex_init(&io->list[i].lock, NULL);
		pthread_cond_init(&io->list[i].written, NULL);
	}
	return io;
}

void inflight_io_free(struct inflight_io *io)
{
	for (unsigned int i = 0; io && i < LISTS; i++) {
		pthread_cond_destroy(&io->list[i].written);
		pthread_mutex_destroy(&io->list[i].lock);
	}
	free(io);
}

static struct io_list *list_of(struct inflight_io *io, const struct io_range *x)
{
	return &io->list[x->file % LISTS];
}

static bool ranges_overlap(const struct io_range *a, const struct io_range *b)
{
	return a->file == b->file && a->from < b->to && b->from < a->to;
}

static bool is_being_written(const struct io_list *l, const struct io_range *x)
{
	const struct io_range *w;

	LIST_FOREACH(w, &l->all, link)
		if (w->write && ranges_overlap(w, x))
			return true;
	return false;
}

/* Called with the lock, which is released meanwhile. */
static int wait_written(struct io_list *l, const struct io_range *x,
			uint64_t until)
{
	struct timespec at = clock_timespec(until);
	int rc = 0;

	l->waiting++;
	pthread_mutex_unlock(&l->lock);
	watched_descriptor_hand_over();
	pthread_mutex_lock(&l->lock);
	while (!rc && is_being_written(l, x))
		rc = pthread_cond_clockwait(&l->written, &l->lock,
					    CLOCK_MONOTONIC, &at);
	l->waiting--;
	return -rc;
}

int inflight_io_read_start(struct inflight_io *io, struct io_range *x,
			   uint64_t until)
{
	struct io_list *l = list_of(io, x);
	int rc = 0;

	x->write = x->overtaken = false;
	pthread_mutex_lock(&l->lock);
	if (is_being_written(l, x))
		rc = wait_written(l, x, until);
	if (!rc)
		LIST_INSERT_HEAD(&l->all, x, link);
	pthread_mutex_unlock(&l->lock);
	return rc;
}

bool inflight_io_read_end(struct inflight_io *io, struct io_range *x)
{
	struct io_list *l = list_of(io, x);
	bool overtaken;

	pthread_mutex_lock(&l->lock);
	LIST_REMOVE(x, link);
	overtaken = x->overtaken;
	pthread_mutex_unlock(&l->lock);
	return !overtaken;
}

void inflight_io_write_start(struct inflight_io *io, struct io_range *x)
{
	struct io_list *l = list_of(io, x);
	struct io_range *r;

	x->write = true;
	pthread_mutex_lock(&l->lock);
	LIST_FOREACH(r, &l->all, link)
		if (ranges_overlap(r, x))
			r->overtaken = true;
	LIST_INSERT_HEAD(&l->all, x, link);
	pthread_mutex_unlock(&l->lock);
}

void inflight_io_write_end(struct inflight_io *io, struct io_range *x)
{
	struct io_list *l = list_of(io, x);

	pthread_mutex_lock(&l->lock);
	LIST_REMOVE(x, link);
	if (l->waiting)
		pthread_cond_broadcast(&l->written);
	pthread_mutex_unlock(&l->lock);
}
