/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_lock_blocks.c - which waits may end when a lock is released, and in which order. */
#include <string.h>

#include "mgr/locks/lock_blocks.h"
#include "tests/run_suite.h"

#define MANY 1000u

static struct lock_blocks *blocks;
static struct lock_wait_place at[MANY];

static void setup(void)
{
	memset(at, 0, sizeof(at));
	ck_assert_int_eq(lock_blocks_open(&blocks), 0);
}

static void teardown(void)
{
	for (unsigned int i = 0; i < MANY; i++)
		lock_blocks_leave(blocks, &at[i]);
	lock_blocks_close(blocks);
}

static struct lock_rec lock_from(uint64_t start)
{
	return (struct lock_rec){ .handle = 7,
				  .session = 1,
				  .owner = 2,
				  .start = start,
				  .end = start + 1 };
}

static void enter(unsigned int i, uint64_t first, unsigned int n)
{
	struct lock_rec rec[3];

	for (unsigned int k = 0; k < n; k++)
		rec[k] = lock_from(first + k);
	ck_assert_int_eq(lock_blocks_enter(blocks, &at[i], rec, n), 0);
}

static void gone(uint64_t start)
{
	const struct lock_rec rec = lock_from(start);

	lock_blocks_removed(blocks, &rec);
}

START_TEST(those_at_the_lock)
{
	for (unsigned int i = 0; i < MANY; i++)
		enter(i, i, 1);
	ck_assert_ptr_null(lock_blocks_take(blocks));
	gone(500);
	gone(3);
	gone(MANY);
	ck_assert(lock_blocks_may_have_ended(&at[3]));
	ck_assert(!lock_blocks_may_have_ended(&at[4]));
	ck_assert_ptr_eq(lock_blocks_take(blocks), &at[500]);
	ck_assert_ptr_eq(lock_blocks_take(blocks), &at[3]);
	ck_assert_ptr_null(lock_blocks_take(blocks));
	ck_assert(lock_blocks_may_have_ended(&at[3]));
	gone(3);
	ck_assert_ptr_null(lock_blocks_take(blocks));
}
END_TEST

/* Waits at one lock end one by one, in their order; later ones wait at another lock. */
START_TEST(many_at_a_lock)
{
	for (unsigned int i = 0; i < MANY - 1; i++)
		enter(i, 1, 1);
	gone(1);
	enter(MANY - 1, 1, 1);
	for (unsigned int i = 0; i < MANY - 1; i++) {
		ck_assert_ptr_eq(lock_blocks_take(blocks), &at[i]);
		if (i % 2)
			enter(i, 1, 1);
	}
	ck_assert_ptr_null(lock_blocks_take(blocks));
	gone(1);
	ck_assert_ptr_eq(lock_blocks_take(blocks), &at[MANY - 1]);
	ck_assert_ptr_eq(lock_blocks_take(blocks), &at[1]);
}
END_TEST

START_TEST(at_several_locks)
{
	enter(0, 10, 3);
	enter(1, 11, 1);
	enter(2, 12, 3);
	gone(12);
	gone(10);
	gone(11);
	ck_assert_ptr_eq(lock_blocks_take(blocks), &at[0]);
	ck_assert_uint_eq(at[0].n, 0);
	ck_assert_ptr_eq(lock_blocks_take(blocks), &at[2]);
	ck_assert_ptr_eq(lock_blocks_take(blocks), &at[1]);
	ck_assert_ptr_null(lock_blocks_take(blocks));
	/* the same lock twice, and a wait that leaves when it may end */
	ck_assert_int_eq(lock_blocks_enter(blocks, &at[3],
					   (struct lock_rec[]){ lock_from(1),
								lock_from(1) },
					   2),
			 0);
	enter(4, 1, 1);
	gone(1);
	lock_blocks_leave(blocks, &at[4]);
	ck_assert_ptr_eq(lock_blocks_take(blocks), &at[3]);
	ck_assert_ptr_null(lock_blocks_take(blocks));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("blocks");
	Suite *s = suite_create("mgr_lock_blocks");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, those_at_the_lock);
	tcase_add_test(tc, many_at_a_lock);
	tcase_add_test(tc, at_several_locks);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
