/* SPDX-License-Identifier: BSD-2-Clause */
/* test_cuts.c - which cut is the kernel's own, and which is meant. */
#include <check.h>
#include <errno.h>

#include "common/util/clock.h"
#include "client/fuse/cache/cuts.h"
#include "tests/run_suite.h"

#define FILE_A 7u
#define THREAD 11
#define SAME_LIST (THREAD + 256)

static struct cuts *cuts;

static void make(void)
{
	cuts = cuts_new();
	ck_assert_ptr_nonnull(cuts);
}

static void drop(void)
{
	cuts_free(cuts);
}

static void note(pid_t thread, uint64_t end)
{
	const struct cut_due due = { FILE_A, end, clock_after_ms(60000) };

	cuts_note(cuts, thread, &due);
}

START_TEST(taken_once_by_its_thread)
{
	note(THREAD, 100);
	note(SAME_LIST, 200);
	ck_assert_uint_eq(cuts_take(cuts, THREAD + 1).file, 0);
	ck_assert_uint_eq(cuts_take(cuts, THREAD).end, 100);
	ck_assert_uint_eq(cuts_take(cuts, THREAD).file, 0);
	ck_assert_uint_eq(cuts_take(cuts, SAME_LIST).end, 200);
}
END_TEST

START_TEST(the_highest_end_counts)
{
	note(THREAD, 200);
	note(THREAD, 100);
	ck_assert_uint_eq(cuts_take(cuts, THREAD).end, 200);
	note(THREAD, CUTS_UNKNOWN);
	note(THREAD, 100);
	ck_assert_uint_eq(cuts_take(cuts, THREAD).end, CUTS_UNKNOWN);
}
END_TEST

START_TEST(too_old)
{
	const struct cut_due due = { FILE_A, 100, clock_now() };

	cuts_note(cuts, THREAD, &due);
	ck_assert_uint_eq(cuts_take(cuts, THREAD).file, 0);
}
END_TEST

static const struct {
	struct cut_due due;
	uint64_t size;
	int told;
} cases[] = {
	{ { 0, 0, 0 }, 0, 0 },
	{ { FILE_A, 100, 0 }, 100, 1 },
	{ { FILE_A, 100, 0 }, 99, 0 },
	{ { FILE_A, 100, 0 }, 101, 0 },
	{ { FILE_A + 1, 100, 0 }, 100, 0 },
	{ { FILE_A, CUTS_UNKNOWN, 0 }, 100, -EINTR },
	{ { FILE_A + 1, CUTS_UNKNOWN, 0 }, 100, 0 },
};

START_TEST(judged)
{
	ck_assert_int_eq(cuts_judge(&cases[_i].due, FILE_A, cases[_i].size),
			 cases[_i].told);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cuts");
	TCase *tc = tcase_create("cuts");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, taken_once_by_its_thread);
	tcase_add_test(tc, the_highest_end_counts);
	tcase_add_test(tc, too_old);
	tcase_add_loop_test(tc, judged, 0, sizeof(cases) / sizeof(cases[0]));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
