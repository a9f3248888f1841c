/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_clocks.c - which managers' clocks an iod knows. */
#include <check.h>
#include <errno.h>

#include "common/util/clock.h"
#include "tests/run_suite.h"
#include "server/state/mgr_clocks.h"

static struct mgr_clocks terms;

static void setup(void)
{
	mgr_clocks_init(&terms);
}

static void teardown(void)
{
	mgr_clocks_destroy(&terms);
}

static int ask(uint64_t term, uint64_t *now)
{
	*now = 77;
	return mgr_clocks_read(&terms, term, now);
}

START_TEST(test_terms)
{
	uint64_t now, late;

	ck_assert_int_eq(ask(3, &now), -EAGAIN);
	ck_assert_int_eq(ask(0, &now), -EAGAIN);
	mgr_clocks_update(&terms, 3, 3, 1000);
	ck_assert_int_eq(ask(3, &now), 0);
	ck_assert_uint_ge(now, 1000);
	ck_assert_uint_le(now, 1000 + clock_boot());
	ck_assert_int_eq(ask(4, &now), -EAGAIN);
	ck_assert_int_eq(ask(2, &now), -ESTALE);
	ck_assert_uint_eq(now, 77);
	/* a host whose clock is slower than ours */
	mgr_clocks_update(&terms, 5, 5, 10);
	ck_assert_int_eq(ask(5, &now), 0);
	ck_assert_uint_lt(now, 1000 + clock_boot());
	ck_assert_int_eq(ask(3, &now), 0);
	ck_assert_uint_ge(now, 1000);
	mgr_clocks_update(&terms, 6, 6, 20);
	ck_assert_int_eq(ask(3, &now), -ESTALE);
	ck_assert_int_eq(ask(0, &now), -ESTALE);
	/* from a manager that was replaced: a late message */
	late = clock_boot() + (1u << 30);
	mgr_clocks_update(&terms, 5, 5, late);
	for (uint64_t term = 5; term <= 6; term++) {
		ck_assert_int_eq(ask(term, &now), 0);
		ck_assert_uint_lt(now, late);
	}
}
END_TEST

START_TEST(test_since)
{
	uint64_t now;

	/* an iod that was started after several managers of one host */
	mgr_clocks_update(&terms, 9, 7, 1000);
	ck_assert_int_eq(ask(6, &now), -ESTALE);
	for (uint64_t term = 7; term <= 9; term++) {
		ck_assert_int_eq(ask(term, &now), 0);
		ck_assert_uint_ge(now, 1000);
		ck_assert_uint_le(now, 1000 + clock_boot());
	}
	ck_assert_int_eq(ask(10, &now), -EAGAIN);
	/* after a restart of the host, the old clock is valid for the old terms */
	mgr_clocks_update(&terms, 10, 10, UINT64_C(1) << 40);
	ck_assert_int_eq(ask(8, &now), 0);
	ck_assert_uint_lt(now, UINT64_C(1) << 40);
	ck_assert_int_eq(ask(10, &now), 0);
	ck_assert_uint_ge(now, UINT64_C(1) << 40);
	ck_assert_int_eq(ask(6, &now), -ESTALE);
	/* a clock that is valid only from a later term on tells nothing */
	mgr_clocks_update(&terms, 11, 99, 5);
	ck_assert_int_eq(ask(11, &now), 0);
	ck_assert_int_eq(ask(12, &now), -EAGAIN);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_clocks");
	TCase *tc = tcase_create("mgr_clocks");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_terms);
	tcase_add_test(tc, test_since);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
