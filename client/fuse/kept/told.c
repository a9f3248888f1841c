/* SPDX-License-Identifier: BSD-2-Clause */
/* told.c - a table in which a thread has one place, and may lose it to another. */
#include "told.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "clock.h"

#define PLACES 256u
#define MOMENT_NS CLOCK_NS_PER_MS /* the kernel is back at once */

struct place {
	struct stat st;
	uint64_t until;
	pid_t thread; /* 0: none */
};

struct told {
	pthread_mutex_t lock;
	atomic_uint taken; /* places: mostly none, and nobody need look */
	struct place place[PLACES];
};

struct told *told_new(void)
{
	struct told *t = calloc(1, sizeof(*t));

	if (t)
		pthread_mutex_init(&t->lock, NULL);
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

void told_note(struct told *t, pid_t thread, const struct stat *st)
{
	struct place *p = place_of(t, thread);

	pthread_mutex_lock(&t->lock);
	t->taken += !p->thread;
	*p = (struct place){ .st = *st,
			     .until = clock_now() + MOMENT_NS,
			     .thread = thread };
	pthread_mutex_unlock(&t->lock);
}

bool told_take(struct told *t, pid_t thread, struct stat *st)
{
	struct place *p = place_of(t, thread);
	bool is = false;

	if (!t->taken)
		return false;
	pthread_mutex_lock(&t->lock);
	if (p->thread == thread && thread) {
		is = clock_now() < p->until;
		*st = p->st;
		p->thread = 0;
		t->taken--;
	}
	pthread_mutex_unlock(&t->lock);
	return is;
}
