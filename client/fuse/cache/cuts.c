/* SPDX-License-Identifier: BSD-2-Clause */
/* cuts.c - see cuts.h; a thread has at most one entry. */
#include "client/fuse/cache/cuts.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "common/util/clock.h"

#define LISTS 256u

struct entry {
	pid_t thread;
	struct cut_due due;
	LIST_ENTRY(entry) link;
};

LIST_HEAD(entries, entry);

struct cuts {
	pthread_mutex_t lock;
	atomic_uint count; /* of entries; mostly 0, so that no lock is needed */
	struct entries list[LISTS];
};

struct cuts *cuts_new(void)
{
	struct cuts *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	for (unsigned int i = 0; i < LISTS; i++)
		LIST_INIT(&c->list[i]);
	return c;
}

static struct entries *list_of(struct cuts *c, pid_t thread)
{
	return &c->list[(unsigned int)thread % LISTS];
}

static void drop(struct cuts *c, struct entry *e)
{
	LIST_REMOVE(e, link);
	free(e);
	c->count--;
}

void cuts_free(struct cuts *c)
{
	struct entry *e;

	if (!c)
		return;
	for (unsigned int i = 0; i < LISTS; i++)
		while ((e = LIST_FIRST(&c->list[i])))
			drop(c, e);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* Returns the thread's entry, or NULL.  Frees expired entries on the way. */
static struct entry *find(struct cuts *c, pid_t thread)
{
	struct entry *e = LIST_FIRST(list_of(c, thread)), *next;
	uint64_t now = clock_now();

	for (; e; e = next) {
		next = LIST_NEXT(e, link);
		if (now >= e->due.until)
			drop(c, e);
		else if (e->thread == thread)
			return e;
	}
	return NULL;
}

static struct entry *make(struct cuts *c, pid_t thread)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->thread = thread;
	LIST_INSERT_HEAD(list_of(c, thread), e, link);
	c->count++;
	return e;
}

/*
 * A write is several requests, which fail concurrently.  The kernel has the highest
 * end.
 */
static struct cut_due both(const struct cut_due *a, const struct cut_due *b)
{
	return a->file != b->file || b->end >= a->end ? *b : *a;
}

void cuts_note(struct cuts *c, pid_t thread, const struct cut_due *due)
{
	struct entry *e;

	pthread_mutex_lock(&c->lock);
	e = find(c, thread);
	if (!e)
		e = make(c, thread);
	if (e)
		e->due = both(&e->due, due);
	pthread_mutex_unlock(&c->lock);
}

struct cut_due cuts_take(struct cuts *c, pid_t thread)
{
	struct cut_due due = { 0 };
	struct entry *e;

	if (!c->count)
		return due;
	pthread_mutex_lock(&c->lock);
	e = find(c, thread);
	if (e) {
		due = e->due;
		drop(c, e);
	}
	pthread_mutex_unlock(&c->lock);
	return due;
}

int cuts_judge(const struct cut_due *due, uint64_t file, uint64_t size)
{
	if (!due->file || due->file != file)
		return 0;
	if (due->end == CUTS_UNKNOWN)
		return -EINTR;
	return size == due->end;
}
