/* SPDX-License-Identifier: BSD-2-Clause */
/* test_histogram.c - each time is in its bucket, and no bucket is too wide. */
#include <check.h>

#include "common/util/histogram.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

static void check_one(uint64_t ns)
{
	unsigned int b = histogram_bucket(ns);

	ck_assert_uint_lt(b, HISTOGRAM_BUCKETS);
	ck_assert_uint_le(histogram_floor(b), ns);
	if (b < HISTOGRAM_BUCKETS - 1)
		ck_assert_uint_lt(ns, histogram_floor(b + 1));
}

START_TEST(test_borders)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		check_one(UINT64_C(1) << bit);
		check_one((UINT64_C(1) << bit) - 1);
		check_one((UINT64_C(1) << bit) + 1);
	}
	check_one(UINT64_MAX);
}
END_TEST

START_TEST(test_widths)
{
	ck_assert_uint_eq(histogram_floor(0), 0);
	ck_assert_uint_eq(histogram_floor(1), 1024);
	ck_assert_uint_eq(histogram_floor(HISTOGRAM_BUCKETS - 1),
			  UINT64_C(1) << HISTOGRAM_LAST);
	ck_assert_uint_eq(histogram_floor(HISTOGRAM_BUCKETS), UINT64_MAX);
	for (unsigned int b = 1; b < HISTOGRAM_BUCKETS - 1; b++) {
		uint64_t low = histogram_floor(b),
			 high = histogram_floor(b + 1);

		ck_assert_uint_lt(low, high);
		ck_assert_uint_le(high - low, low / 4);
	}
}
END_TEST

START_TEST(test_any)
{
	struct rnd r = { 1 };

	for (unsigned int i = 0; i < 100000; i++)
		check_one(rnd_next(&r) >> rnd_next(&r) % 64);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("histogram");
	TCase *tc = tcase_create("histogram");

	tcase_add_test(tc, test_borders);
	tcase_add_test(tc, test_widths);
	tcase_add_test(tc, test_any);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
