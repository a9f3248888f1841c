/* SPDX-License-Identifier: BSD-2-Clause */
/* test_terms.c - which managers' clocks an iod knows. */
#include <check.h>
#include <errno.h>

#include "clock.h"
#include "run_suite.h"
#include "terms.h"

static struct terms terms;

static void setup(void)
{
	terms_init(&terms);
}

static void teardown(void)
{
	terms_destroy(&terms);
}

static int ask(uint64_t term, uint64_t *now)
{
	*now = 77;
	return terms_clock(&terms, term, now);
}

START_TEST(test_terms)
{
	uint64_t now;

	ck_assert_int_eq(ask(3, &now), -EAGAIN);
	terms_hear(&terms, 3, 1000);
	ck_assert_int_eq(ask(3, &now), 0);
	ck_assert_uint_ge(now, 1000);
	ck_assert_uint_le(now, 1000 + clock_boot());
	ck_assert_int_eq(ask(4, &now), -EAGAIN);
	ck_assert_int_eq(ask(2, &now), -ESTALE);
	ck_assert_uint_eq(now, 77);
	/* a host with a clock that is behind ours */
	terms_hear(&terms, 5, 10);
	ck_assert_int_eq(ask(5, &now), 0);
	ck_assert_uint_lt(now, 1000 + clock_boot());
	ck_assert_int_eq(ask(3, &now), 0);
	ck_assert_uint_ge(now, 1000);
	terms_hear(&terms, 6, 20);
	ck_assert_int_eq(ask(3, &now), -ESTALE);
	ck_assert_int_eq(ask(0, &now), -ESTALE);
	/* of one in whose place there is another: late */
	terms_hear(&terms, 5, 1u << 30);
	ck_assert_int_eq(ask(6, &now), 0);
	ck_assert_uint_lt(now, 1u << 30);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("terms");
	TCase *tc = tcase_create("terms");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_terms);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
