/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fiber.c - functions that pause, in one thread and in several. */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/fiber.h"
#include "tests/run_suite.h"

#define FIBERS 300u
#define STEPS 50u

struct counter {
	struct fiber *fiber;
	unsigned int n, sum;
};

/* Checks that the content of its stack is the same after each pause. */
static void count(void *arg)
{
	struct counter *c = arg;
	unsigned int here[64], i, k;

	for (i = 0; i < c->n; i++) {
		for (k = 0; k < 64; k++)
			here[k] = i + k;
		fiber_leave(c->fiber);
		for (k = 0; k < 64; k++)
			ck_assert_uint_eq(here[k], i + k);
		c->sum++;
	}
}

START_TEST(goes_on_where_it_stopped)
{
	struct counter c[FIBERS];
	unsigned int i, step;

	for (i = 0; i < FIBERS; i++) {
		c[i] = (struct counter){ fiber_new(), i % STEPS, 0 };
		ck_assert_ptr_nonnull(c[i].fiber);
		fiber_begin(c[i].fiber, count, &c[i]);
	}
	for (step = 0; step <= STEPS; step++)
		for (i = 0; i < FIBERS; i++)
			if (step <= c[i].n)
				ck_assert_int_eq(fiber_enter(c[i].fiber),
						 step == c[i].n);
	for (i = 0; i < FIBERS; i++) {
		ck_assert_uint_eq(c[i].sum, c[i].n);
		fiber_free(c[i].fiber);
	}
}
END_TEST

START_TEST(serves_again)
{
	struct counter c = { fiber_new(), 1, 0 };
	unsigned int i;

	for (i = 0; i < STEPS; i++) {
		fiber_begin(c.fiber, count, &c);
		ck_assert(!fiber_enter(c.fiber));
		ck_assert(fiber_enter(c.fiber));
	}
	ck_assert_uint_eq(c.sum, STEPS);
	fiber_free(c.fiber);
}
END_TEST

static void deep(void *arg)
{
	volatile char most[FIBER_STACK - 32768];

	memset((char *)most, 1, sizeof(most));
	*(int *)arg = most[0] + most[sizeof(most) - 1];
}

START_TEST(has_its_whole_stack)
{
	struct fiber *f = fiber_new();
	int sum = 0;

	fiber_begin(f, deep, &sum);
	ck_assert(fiber_enter(f));
	ck_assert_int_eq(sum, 2);
	fiber_free(f);
}
END_TEST

/* ---- moving from thread to thread ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct counter shared;
static bool ended;

static void *enter_often(void *arg)
{
	bool go = true;

	while (go) {
		pthread_mutex_lock(&lock);
		if (!ended)
			ended = fiber_enter(shared.fiber);
		go = !ended;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

START_TEST(moves_between_threads)
{
	pthread_t t[4];
	int i;

	ended = false;
	shared = (struct counter){ fiber_new(), 10000, 0 };
	fiber_begin(shared.fiber, count, &shared);
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, enter_often, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	ck_assert_uint_eq(shared.sum, shared.n);
	fiber_free(shared.fiber);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fiber");
	TCase *tc = tcase_create("stacks");

	tcase_add_test(tc, goes_on_where_it_stopped);
	tcase_add_test(tc, serves_again);
	tcase_add_test(tc, has_its_whole_stack);
	tcase_add_test(tc, moves_between_threads);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
