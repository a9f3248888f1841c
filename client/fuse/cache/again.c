/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * again.c - a table with one place per thread; threads with the same place replace each
 * other.
 */
#include "client/fuse/cache/again.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/fnv.h"

#define PLACES 1024u
/*
 * The kernel repeats a request immediately.  A program that tries again may get the
 * same reply for this time.
 */
#define MOMENT_NS (500 * CLOCK_NS_PER_MS)

struct place {
	uint64_t what;
	uint64_t until;
	pid_t thread; /* 0: unused */
};

struct again {
	pthread_mutex_t lock;
	struct place place[PLACES];
};

struct again *again_new(void)
{
	struct again *a = calloc(1, sizeof(*a));

	if (a)
		pthread_mutex_init(&a->lock, NULL);
	return a;
}

void again_free(struct again *a)
{
	if (!a)
		return;
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static struct place *place_of(struct again *a, pid_t thread)
{
	return &a->place[(unsigned int)thread % PLACES];
}

void again_note(struct again *a, pid_t thread, uint64_t what)
{
	pthread_mutex_lock(&a->lock);
	*place_of(a, thread) = (struct place){ .what = what,
					       .until = clock_now() + MOMENT_NS,
					       .thread = thread };
	pthread_mutex_unlock(&a->lock);
}

bool again_is(struct again *a, pid_t thread, uint64_t what)
{
	const struct place *p = place_of(a, thread);
	bool is;

	pthread_mutex_lock(&a->lock);
	is = p->thread && p->thread == thread && p->what == what &&
	     clock_now() < p->until;
	pthread_mutex_unlock(&a->lock);
	return is;
}

uint64_t again_name(uint64_t dir, const char *name)
{
	return fnv_text(dir, name);
}
