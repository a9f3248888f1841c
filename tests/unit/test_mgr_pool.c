/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_pool.c - work of other threads for the serving thread: the amount at a time is bounded.
 */
#include <errno.h>
#include <sched.h>

#include "mgr/auth/pool.h"
#include "tests/run_suite.h"

#define MANY 3u

static void nothing(void *arg)
{
}

static void work(struct pool_job *job)
{
}

static struct pool_job *collect(struct pool *pool)
{
	struct pool_job *job;

	while (!(job = pool_collect(pool)))
		sched_yield();
	return job;
}

/* Jobs that are done but not collected count, too. */
START_TEST(test_bound)
{
	struct pool_job job[MANY + 1] = { 0 };
	struct pool *pool;
	unsigned int i;

	ck_assert_int_eq(pool_open(1, MANY, nothing, NULL, &pool), 0);
	for (i = 0; i <= MANY; i++) {
		job[i].work = job[i].drop = work;
		ck_assert_int_eq(pool_add(pool, &job[i]),
				 i < MANY ? 0 : -EAGAIN);
	}
	ck_assert_ptr_eq(collect(pool), &job[0]);
	ck_assert_int_eq(pool_add(pool, &job[MANY]), 0);
	for (i = 1; i <= MANY; i++)
		ck_assert_ptr_eq(collect(pool), &job[i]);
	ck_assert_ptr_null(pool_collect(pool));
	pool_close(pool);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_pool");
	TCase *tc = tcase_create("mgr_pool");

	tcase_add_test(tc, test_bound);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
