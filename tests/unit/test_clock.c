/* SPDX-License-Identifier: BSD-2-Clause */
/* test_clock.c - edge cases of deadlines and extents. */
#include <check.h>

#include "common/util/clock.h"
#include "common/util/extent.h"
#include "tests/run_suite.h"

START_TEST(deadlines)
{
	uint64_t now = clock_now();

	ck_assert_uint_gt(now, 0);
	ck_assert_uint_ge(clock_now(), now);
	ck_assert_uint_ge(clock_after_ms(5), now + 5 * CLOCK_NS_PER_MS);
	ck_assert_int_gt(clock_wall(), 1600000000ll * 1000000000);
}
END_TEST

START_TEST(left)
{
	ck_assert_int_eq(clock_left_ms(CLOCK_NEVER), -1);
	ck_assert_int_eq(clock_left_ms(0), 0);
	ck_assert_int_eq(clock_left_ms(clock_now()), 0);
	ck_assert_int_eq(clock_left_ms(CLOCK_NEVER - 1), INT_MAX);
	/* rounded up: poll() must not spin through the last millisecond */
	ck_assert_int_le(clock_left_ms(clock_after_ms(3600000)), 3600000);
	ck_assert_int_gt(clock_left_ms(clock_after_ms(3600000)), 3500000);
	ck_assert_int_gt(clock_left_ms(clock_now() +
				       3600000ull * CLOCK_NS_PER_MS - 1),
			 0);
}
END_TEST

START_TEST(extents)
{
	uint64_t end = 7;

	ck_assert(!extent_end(UINT64_MAX, 1, &end));
	ck_assert(!extent_end(1, UINT64_MAX, &end));
	ck_assert(!extent_end(UINT64_MAX, UINT64_MAX, &end));
	ck_assert(!extent_end(INT64_MAX, 1, &end));
	ck_assert(!extent_end(0, (uint64_t)INT64_MAX + 1, &end));
	ck_assert_uint_eq(end, 7);
	ck_assert(extent_end(INT64_MAX, 0, &end));
	ck_assert_uint_eq(end, INT64_MAX);
	ck_assert(extent_end(INT64_MAX - 1, 1, &end));
	ck_assert_uint_eq(end, INT64_MAX);
	ck_assert(extent_end(0, 0, &end));
	ck_assert_uint_eq(end, 0);
}
END_TEST

static Suite *clock_suite(void)
{
	Suite *suite = suite_create("clock");
	TCase *tc = tcase_create("clock");

	tcase_add_test(tc, deadlines);
	tcase_add_test(tc, left);
	tcase_add_test(tc, extents);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return run_suite(clock_suite());
}
