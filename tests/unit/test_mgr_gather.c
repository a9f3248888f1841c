/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_gather.c - for which clients a flush waits, and how long. */
#include <check.h>

#include "mgr/state/flush_gather.h"
#include "tests/run_suite.h"

#define US 1000ull
#define TOOK (100 * US)
#define MOST 1000u /* microseconds that a test waits at most */

static struct gather g;
static struct gather_client a, b;
static uint64_t now;

static void setup(void)
{
	gather_init(&g);
	a = b = (struct gather_client){ 0 };
	now = US;
}

/* Returns the microseconds that a flush waits, if c (may be NULL) returns after `back`. */
static unsigned int wait_us(struct gather_client *c, unsigned int back)
{
	unsigned int us;

	gather_begin(&g, TOOK);
	for (us = 0; us < MOST && gather_waits(&g, now); us++, now += US)
		if (c && us == back)
			gather_back(&g, c);
	gather_end(&g, now);
	return us;
}

/* A wait for others without a result. */
static unsigned int vain(void)
{
	gather_answered(&g, &a, now);
	return wait_us(NULL, 0);
}

START_TEST(not_without_others)
{
	ck_assert_uint_eq(wait_us(NULL, 0), 0);
	gather_answered(&g, &a, now);
	gather_back(&g, &a);
	ck_assert_uint_eq(wait_us(NULL, 0), 0);
}
END_TEST

START_TEST(until_all_are_back)
{
	gather_answered(&g, &a, now);
	gather_answered(&g, &b, now);
	gather_back(&g, &a);
	ck_assert_uint_eq(wait_us(&b, 70), 71);
}
END_TEST

START_TEST(two_flushes_at_most)
{
	gather_answered(&g, &a, now);
	gather_answered(&g, &b, now);
	ck_assert_uint_eq(wait_us(&b, 70), 2 * TOOK / US);
}
END_TEST

/* The client may have computed for long since its reply. */
START_TEST(not_for_who_is_away)
{
	gather_answered(&g, &a, now);
	now += 2 * TOOK + US;
	ck_assert_uint_eq(wait_us(NULL, 0), 0);
}
END_TEST

START_TEST(nobody_counts_twice)
{
	gather_answered(&g, &a, now);
	gather_answered(&g, &a, now);
	ck_assert_uint_eq(wait_us(&a, 5), 6);
	gather_answered(&g, &a, now);
	gather_back(&g, &a);
	gather_back(&g, &a);
	gather_back(&g, &b);
	gather_answered(&g, &b, now);
	ck_assert_uint_eq(wait_us(&b, 5), 6);
}
END_TEST

/* A client that returns late belongs to another round. */
START_TEST(late_ones_do_not_count)
{
	gather_answered(&g, &a, now);
	gather_end(&g, now);
	gather_answered(&g, &b, now);
	gather_back(&g, &a);
	ck_assert_uint_eq(wait_us(&b, 5), 6);
}
END_TEST

START_TEST(seldom_in_vain)
{
	unsigned int i, waits = 0;

	for (i = 0; i < 1000; i++)
		waits += vain() > 0;
	ck_assert_uint_ge(waits, 10);
	ck_assert_uint_le(waits, 30);
}
END_TEST

START_TEST(again_where_it_pays)
{
	unsigned int i, in_vain = 0;

	for (i = 0; i < 20; i++)
		vain();
	for (i = 0; i < 100; i++) {
		gather_answered(&g, &a, now);
		in_vain = wait_us(&a, 5) ? 0 : in_vain + 1;
	}
	ck_assert_uint_eq(in_vain, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gather");
	TCase *tc = tcase_create("gather");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, not_without_others);
	tcase_add_test(tc, until_all_are_back);
	tcase_add_test(tc, two_flushes_at_most);
	tcase_add_test(tc, not_for_who_is_away);
	tcase_add_test(tc, nobody_counts_twice);
	tcase_add_test(tc, late_ones_do_not_count);
	tcase_add_test(tc, seldom_in_vain);
	tcase_add_test(tc, again_where_it_pays);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
