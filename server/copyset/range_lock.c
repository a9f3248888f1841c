/* SPDX-License-Identifier: BSD-2-Clause */
/* range_lock.c - stripes of interval trees. */
#include "server/copyset/range_lock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/util/container.h"

#define STRIPES 1024u

SLIST_HEAD(granted_locks, range_lock);

/* Chosen by handle, so a stripe has the locks of several objects. */
struct range_lock_stripe {
	_Alignas(64) pthread_mutex_t mutex;
	struct itree ranges; /* of the locks that are held or wait */
};

struct range_locks {
	struct range_lock_stripe stripe[STRIPES];
};

int range_locks_open(struct range_locks **locks)
{
	struct range_locks *new = aligned_alloc(64, sizeof(*new));

	if (!new)
		return -ENOMEM;
	for (unsigned int i = 0; i < STRIPES; i++) {
		pthread_mutex_init(&new->stripe[i].mutex, NULL);
		new->stripe[i].ranges.root = NULL;
	}
	*locks = new;
	return 0;
}

void range_locks_close(struct range_locks *locks)
{
	if (!locks)
		return;
	for (unsigned int i = 0; i < STRIPES; i++)
		pthread_mutex_destroy(&locks->stripe[i].mutex);
	free(locks);
}

static struct range_lock_stripe *stripe_of(struct range_locks *locks,
					   const struct range_lock *lock)
{
	uint64_t mix = lock->object.handle * 0x9e3779b97f4a7c15ull;

	return &locks->stripe[(mix >> 32) % STRIPES];
}

/* The next lock of the same object after `after` that overlaps; NULL: there is none. */
static struct range_lock *next_overlap(const struct range_lock_stripe *stripe,
				       const struct range_lock *lock,
				       const struct range_lock *after)
{
	struct itree_node *node = after ? (struct itree_node *)&after->range
					: NULL;
	struct range_lock *next;

	while ((node = itree_next(&stripe->ranges, node, lock->from,
				  lock->end))) {
		next = container_of(node, struct range_lock, range);
		if (object_key_equal(next->object, lock->object))
			return next;
	}
	return NULL;
}

bool range_lock_acquire(struct range_locks *locks, struct range_lock *lock)
{
	struct range_lock_stripe *stripe = stripe_of(locks, lock);
	const struct range_lock *earlier = NULL;
	bool held;

	lock->waits_for = 0;
	lock->range.lo = lock->from;
	lock->range.hi = lock->end;
	pthread_mutex_lock(&stripe->mutex);
	while ((earlier = next_overlap(stripe, lock, earlier)))
		lock->waits_for++;
	itree_insert(&stripe->ranges, &lock->range);
	held = !lock->waits_for;
	pthread_mutex_unlock(&stripe->mutex);
	return held;
}

/* No earlier lock overlaps one that is held.  So all that overlap it wait for it. */
void range_lock_release(struct range_locks *locks, struct range_lock *lock)
{
	struct range_lock_stripe *stripe = stripe_of(locks, lock);
	struct granted_locks granted = SLIST_HEAD_INITIALIZER(granted);
	struct range_lock *later = NULL;

	pthread_mutex_lock(&stripe->mutex);
	itree_remove(&stripe->ranges, &lock->range);
	while ((later = next_overlap(stripe, lock, later)))
		if (!--later->waits_for)
			SLIST_INSERT_HEAD(&granted, later, link);
	pthread_mutex_unlock(&stripe->mutex);
	while ((later = SLIST_FIRST(&granted))) {
		SLIST_REMOVE_HEAD(&granted, link);
		later->granted(later);
	}
}
