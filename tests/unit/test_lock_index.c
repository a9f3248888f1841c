/* SPDX-License-Identifier: BSD-2-Clause */
/* test_lock_index.c - the maximum number of locks, of one user and of all. */
#include <errno.h>

#include <check.h>

#include "mgr/db/lock_index.h"
#include "tests/run_suite.h"

#define MAX 40u
#define SHARE (MAX / 4)

static struct lock_index *locks;

static void setup(void)
{
	ck_assert_int_eq(lock_index_open(1, MAX, &locks), 0);
}

static void teardown(void)
{
	lock_index_close(locks);
}

/* Each lock is on another file. */
static struct lock_rec lock_of(uint64_t session, uint64_t n)
{
	return (struct lock_rec){ .handle = n + 1,
				  .session = session,
				  .end = 10,
				  .type = LOCK_EXCLUSIVE };
}

static int put(uint64_t session, uint64_t n, uint32_t uid)
{
	const struct lock_rec rec = lock_of(session, n);

	return lock_index_put(locks, &rec, uid);
}

static void del(uint64_t session, uint64_t n)
{
	const struct lock_rec rec = lock_of(session, n);

	lock_index_del(locks, &rec);
}

/* The limit of a user does not depend on the number of its sessions. */
START_TEST(of_a_user)
{
	for (unsigned int i = 0; i < SHARE; i++)
		ck_assert_int_eq(put(100 + i, i, 1), 0);
	ck_assert_int_eq(put(200, SHARE, 1), -ENOLCK);
	ck_assert_int_eq(put(201, SHARE, 2), 0);
	/* one lock replaces another one */
	ck_assert_int_eq(put(100, 0, 1), 0);
	lock_index_commit(locks);
	ck_assert_int_eq(put(200, SHARE, 1), -ENOLCK);
	del(100, 0);
	ck_assert_int_eq(put(200, SHARE, 1), 0);
	ck_assert_int_eq(put(200, SHARE + 1, 1), -ENOLCK);
	lock_index_abort(locks);
	ck_assert_int_eq(put(200, SHARE, 1), -ENOLCK);
}
END_TEST

START_TEST(of_all)
{
	for (unsigned int i = 0; i < MAX; i++)
		ck_assert_int_eq(put(100, i, i / SHARE), 0);
	ck_assert_int_eq(put(100, MAX, 9), -ENOLCK);
	del(100, 3);
	ck_assert_int_eq(put(100, MAX, 9), 0);
}
END_TEST

/* At the start, all existing locks count. */
START_TEST(at_the_start)
{
	struct lock_rec rec;
	unsigned int steps = 0;

	for (unsigned int i = 0; i < 2 * MAX; i++) {
		rec = lock_of(100, i);
		ck_assert_int_eq(lock_index_load(locks, &rec), 0);
	}
	rec = lock_of(101, 2 * MAX - 1);
	ck_assert_ptr_nonnull(lock_index_find(locks, &rec, &steps));
	ck_assert_int_eq(put(100, 2 * MAX, 1), -ENOLCK);
	for (unsigned int i = 0; i < 2 * MAX; i++)
		del(100, i);
	lock_index_commit(locks);
	ck_assert_int_eq(put(100, 0, 1), 0);
}
END_TEST

static void restart(uint64_t n)
{
	struct lock_rec rec;

	teardown();
	setup();
	for (uint64_t i = 0; i < n; i++) {
		rec = lock_of(100, i);
		ck_assert_int_eq(lock_index_load(locks, &rec), 0);
	}
}

/* A user that takes its maximum after each start leaves some locks for others. */
START_TEST(after_starts)
{
	uint64_t n = 0;

	for (int starts = 0; starts < 4; starts++) {
		while (!put(100, n, 1))
			n++;
		restart(n);
	}
	ck_assert_int_eq(put(200, n, 2), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lock_index");
	TCase *tc = tcase_create("bounds");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, of_a_user);
	tcase_add_test(tc, of_all);
	tcase_add_test(tc, at_the_start);
	tcase_add_test(tc, after_starts);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
