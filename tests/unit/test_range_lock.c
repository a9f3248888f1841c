/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_range_lock.c - random locks compared with a model that looks at all earlier locks, and
 * threads that change bytes only while they hold their locks.
 */
#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "common/util/container.h"
#include "server/copyset/range_lock.h"
#include "tests/run_suite.h"
#include "tests/unit/rnd.h"

#define STEPS 1000000u
#define LOCKS 12u
#define SPACE 24u
#define THREADS 4u
#define TURNS 2000u

static struct range_locks *locks;

static void setup(void)
{
	ck_assert_int_eq(range_locks_open(&locks), 0);
}

static void teardown(void)
{
	range_locks_close(locks);
}

/* ---- the model: the locks in the order in which they came ---- */

struct entry {
	struct range_lock lock;
	bool held; /* as the module says */
};

static struct entry entries[LOCKS];
static struct entry *live[LOCKS];
static unsigned int n_live;

static bool overlap(const struct range_lock *a, const struct range_lock *b)
{
	return object_key_equal(a->object, b->object) && a->from < b->end &&
	       b->from < a->end;
}

static bool is_held(unsigned int i)
{
	for (unsigned int j = 0; j < i; j++)
		if (overlap(&live[j]->lock, &live[i]->lock))
			return false;
	return true;
}

static void note_grant(struct range_lock *lock)
{
	struct entry *e = container_of(lock, struct entry, lock);

	ck_assert(!e->held);
	e->held = true;
}

static struct entry *unused_entry(void)
{
	for (unsigned int i = 0; i < LOCKS; i++) {
		bool used = false;

		for (unsigned int j = 0; j < n_live; j++)
			used |= live[j] == &entries[i];
		if (!used)
			return &entries[i];
	}
	return NULL;
}

/* Objects with one handle share a stripe.  One lock of 16 covers the whole object. */
static void acquire_one(struct rnd *r)
{
	struct entry *e = unused_entry();

	if (!e)
		return;
	e->lock = (struct range_lock){ .object = { rnd_in(r, 1, 2),
						   rnd_in(r, 0, 1) },
				       .from = rnd_in(r, 0, SPACE - 1),
				       .granted = note_grant };
	e->lock.end = e->lock.from + rnd_in(r, 1, SPACE / 3);
	if (!rnd_in(r, 0, 15)) {
		e->lock.from = 0;
		e->lock.end = RANGE_LOCK_END;
	}
	e->held = range_lock_acquire(locks, &e->lock);
	live[n_live++] = e;
	ck_assert(e->held == is_held(n_live - 1));
}

static void release_one(struct rnd *r)
{
	unsigned int i = (unsigned int)rnd_in(r, 0, LOCKS - 1);
	struct entry *e;

	if (i >= n_live || !live[i]->held)
		return;
	e = live[i];
	n_live--;
	memmove(&live[i], &live[i + 1], (n_live - i) * sizeof(live[0]));
	range_lock_release(locks, &e->lock);
	for (; i < n_live; i++)
		ck_assert(live[i]->held == is_held(i));
}

START_TEST(like_the_model)
{
	struct rnd r;

	rnd_init(&r, 7);
	n_live = 0;
	for (unsigned int i = 0; i < STEPS; i++)
		if (rnd_in(&r, 0, 1))
			acquire_one(&r);
		else
			release_one(&r);
}
END_TEST

/* ---- threads ---- */

static unsigned int bytes[SPACE]; /* each is changed only under a lock */

struct waiter {
	struct range_lock lock;
	sem_t held;
};

static void wake_waiter(struct range_lock *lock)
{
	sem_post(&container_of(lock, struct waiter, lock)->held);
}

static void *change_bytes(void *arg)
{
	struct rnd r = { .state = (uintptr_t)arg };
	struct waiter w;

	sem_init(&w.held, 0, 0);
	for (unsigned int i = 0; i < TURNS; i++) {
		uint64_t from = rnd_in(&r, 0, SPACE - 1);
		uint64_t end = rnd_in(&r, from + 1, SPACE);

		w.lock = (struct range_lock){ .object = { 1, 0 },
					      .from = from,
					      .end = end,
					      .granted = wake_waiter };
		if (!range_lock_acquire(locks, &w.lock))
			sem_wait(&w.held);
		for (; from < end; from++)
			bytes[from]++;
		range_lock_release(locks, &w.lock);
	}
	sem_destroy(&w.held);
	return NULL;
}

static unsigned int expected_sum(void)
{
	unsigned int sum = 0;

	for (uintptr_t t = 1; t <= THREADS; t++) {
		struct rnd r = { .state = t };

		for (unsigned int i = 0; i < TURNS; i++) {
			uint64_t from = rnd_in(&r, 0, SPACE - 1);

			sum += (unsigned int)(rnd_in(&r, from + 1, SPACE) -
					      from);
		}
	}
	return sum;
}

START_TEST(by_threads)
{
	pthread_t thread[THREADS];
	unsigned int sum = 0;

	for (uintptr_t t = 0; t < THREADS; t++)
		ck_assert_int_eq(pthread_create(&thread[t], NULL, change_bytes,
						(void *)(t + 1)),
				 0);
	for (unsigned int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	for (unsigned int i = 0; i < SPACE; i++)
		sum += bytes[i];
	ck_assert_uint_eq(sum, expected_sum());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("range_lock");
	TCase *tc = tcase_create("order");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, like_the_model);
	tcase_add_test(tc, by_threads);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
