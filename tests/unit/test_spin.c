/* SPDX-License-Identifier: BSD-2-Clause */
/* test_spin.c - how long waits poll, depending on the last waits. */
#include <check.h>

#include "tests/run_suite.h"
#include "common/util/spin.h"

#define NEAR_US 30u
#define FAR_US 240u
#define US 1000ull

static struct spin spin;
static uint64_t now;

/* A wait that ends after us.  Returns the time of polling in microseconds. */
static unsigned int wait_us(unsigned int us, enum spin_for what)
{
	unsigned int polled = 0, i;
	bool polls = true;

	spin_begin(&spin, now, what);
	for (i = 0; i < us; i++, now += US) {
		polls = polls && spin_again(&spin, now);
		polled += polls;
	}
	spin_end(&spin, now);
	now += 10 * US;
	return polled;
}

static void setup(void)
{
	now = US;
	spin_init(&spin, NEAR_US, FAR_US);
}

START_TEST(longer_where_it_pays)
{
	ck_assert_uint_eq(wait_us(100, SPIN_LITTLE), NEAR_US);
	ck_assert_uint_eq(wait_us(100, SPIN_LITTLE), 100);
	ck_assert_uint_eq(wait_us(1000, SPIN_LITTLE), FAR_US);
	ck_assert_uint_eq(wait_us(1000, SPIN_LITTLE), 0);
	ck_assert_uint_eq(wait_us(1000, SPIN_LITTLE), NEAR_US);
}
END_TEST

START_TEST(seldom_in_vain)
{
	unsigned int i, polled = 0;

	for (i = 0; i < 1000; i++)
		polled += wait_us(1000, SPIN_LITTLE) > 0;
	ck_assert_uint_ge(polled, 10);
	ck_assert_uint_le(polled, 30);
}
END_TEST

START_TEST(not_for_what_takes_long)
{
	unsigned int i;

	for (i = 0; i < 100; i++)
		ck_assert_uint_eq(wait_us(100, SPIN_NOTHING_SOON), 0);
	ck_assert_uint_eq(wait_us(1000, SPIN_LITTLE), NEAR_US);
}
END_TEST

START_TEST(not_long_after_much)
{
	unsigned int i;

	wait_us(100, SPIN_LITTLE);
	for (i = 0; i < 20; i++)
		ck_assert_uint_le(wait_us(100, SPIN_ANYTHING), NEAR_US);
}
END_TEST

/* No long polling with several threads; again after a thread has been alone for a while. */
START_TEST(not_long_in_a_crowd)
{
	unsigned int i;

	wait_us(100, SPIN_LITTLE);
	spin_crowd(&spin);
	for (i = 0; i < 20; i++)
		ck_assert_uint_le(wait_us(100, SPIN_LITTLE), NEAR_US);
	for (i = 0; i < 1000; i++)
		wait_us(100, SPIN_LITTLE);
	ck_assert_uint_eq(wait_us(100, SPIN_LITTLE), 100);
}
END_TEST

/* Another thread had the processor meanwhile. */
START_TEST(gives_way)
{
	wait_us(100, SPIN_LITTLE);
	spin_begin(&spin, now, SPIN_LITTLE);
	now += (NEAR_US + 1) * US;
	ck_assert(!spin_again(&spin, now));
	ck_assert(!spin_again(&spin, now));
}
END_TEST

START_TEST(never_if_told)
{
	spin_init(&spin, 0, 0);
	ck_assert_uint_eq(wait_us(100, SPIN_LITTLE), 0);
	ck_assert_uint_eq(wait_us(100, SPIN_LITTLE), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("spin");
	TCase *tc = tcase_create("spin");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, longer_where_it_pays);
	tcase_add_test(tc, seldom_in_vain);
	tcase_add_test(tc, not_for_what_takes_long);
	tcase_add_test(tc, not_long_after_much);
	tcase_add_test(tc, not_long_in_a_crowd);
	tcase_add_test(tc, gives_way);
	tcase_add_test(tc, never_if_told);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
