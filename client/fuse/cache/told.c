/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * told.c - a table with one place per thread; threads with the same place replace each
 * other.
 */
#include "client/fuse/cache/told.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/util/clock.h"

#define PLACES 256u
#define MOMENT_NS CLOCK_NS_PER_MS /* the kernel asks again immediately */

struct place {
	struct stat st;
	uint64_t until;
	pid_t thread; /* 0: unused */
	uint64_t changes; /* of a directory: valid only at this count; else 0 */
};

struct told {
	pthread_mutex_t lock;
	_Atomic uint64_t changes; /* answered so far, plus 1 */
	/* used places; mostly 0, so that no lock is needed */
	atomic_uint taken;
	struct place place[PLACES];
};

struct told *told_new(void)
{
	struct told *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	atomic_init(&t->changes, 1);
	return t;
}

void told_free(struct told *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static struct place *place_of(struct told *t, pid_t thread)
{
	return &t->place[(unsigned int)thread % PLACES];
}

static void note(struct told *t, pid_t thread, const struct stat *st,
		 uint64_t changes, uint64_t until)
{
	struct place *p = place_of(t, thread);

	pthread_mutex_lock(&t->lock);
	t->taken += !p->thread;
	*p = (struct place){
		.st = *st, .until = until, .thread = thread, .changes = changes
	};
	pthread_mutex_unlock(&t->lock);
}

void told_note(struct told *t, pid_t thread, const struct stat *st)
{
	note(t, thread, st, 0, clock_now() + MOMENT_NS);
}

uint64_t told_changes(const struct told *t)
{
	return atomic_load(&t->changes);
}

void told_changed(struct told *t)
{
	atomic_fetch_add(&t->changes, 1);
}

/* Another change that was answered meanwhile may be the later one. */
void told_note_dir(struct told *t, pid_t thread, const struct stat *st,
		   uint64_t changes, uint64_t until)
{
	if (atomic_compare_exchange_strong(&t->changes, &changes, changes + 1))
		note(t, thread, st, changes + 1, until);
	else
		told_changed(t);
}

bool told_take(struct told *t, pid_t thread, struct stat *st)
{
	struct place *p = place_of(t, thread);
	bool is = false;

	if (!t->taken)
		return false;
	pthread_mutex_lock(&t->lock);
	if (p->thread == thread && thread) {
		is = clock_now() < p->until &&
		     (!p->changes || p->changes == told_changes(t));
		*st = p->st;
		p->thread = 0;
		t->taken--;
	}
	pthread_mutex_unlock(&t->lock);
	return is;
}
