/* SPDX-License-Identifier: BSD-2-Clause */
/* test_thread_hints.c - a hint applies only to the next request of its thread. */
#include <check.h>
#include <errno.h>

#include "client/fuse/cache/thread_hints.h"
#include "common/util/clock.h"
#include "tests/run_suite.h"

#define FILE_A 7u
#define THREAD 11
#define SAME_LIST (THREAD + 256)
#define MANY 100

static struct thread_hints *hints;

static void setup(void)
{
	hints = thread_hints_new();
	ck_assert_ptr_nonnull(hints);
}

static void teardown(void)
{
	thread_hints_free(hints);
}

static struct thread_hint take(pid_t thread)
{
	struct thread_hint hint;

	thread_hints_take(hints, thread, &hint);
	return hint;
}

/* ---- truncation by the kernel ---- */

static void expect_truncate(pid_t thread, uint64_t end)
{
	const struct kernel_truncate due = { FILE_A, end,
					     clock_after_ms(60000) };

	thread_hints_expect_truncate(hints, thread, &due);
}

START_TEST(truncation_is_taken_once_by_its_thread)
{
	expect_truncate(THREAD, 100);
	expect_truncate(SAME_LIST, 200);
	ck_assert_uint_eq(take(THREAD + 1).truncate.file, 0);
	ck_assert_uint_eq(take(THREAD).truncate.end, 100);
	ck_assert_uint_eq(take(THREAD).truncate.file, 0);
	ck_assert_uint_eq(take(SAME_LIST).truncate.end, 200);
}
END_TEST

START_TEST(the_highest_end_counts)
{
	expect_truncate(THREAD, 200);
	expect_truncate(THREAD, 100);
	ck_assert_uint_eq(take(THREAD).truncate.end, 200);
	expect_truncate(THREAD, KERNEL_TRUNCATE_UNKNOWN);
	expect_truncate(THREAD, 100);
	ck_assert_uint_eq(take(THREAD).truncate.end, KERNEL_TRUNCATE_UNKNOWN);
}
END_TEST

static void expect_expired(uint64_t end)
{
	const struct kernel_truncate due = { FILE_A, end, clock_now() };

	thread_hints_expect_truncate(hints, THREAD, &due);
}

START_TEST(truncation_expires)
{
	expect_expired(100);
	ck_assert_uint_eq(take(THREAD).truncate.file, 0);
	/* also if the thread has another hint, and then that one does not count as the highest */
	thread_hints_set_failed(hints, THREAD, 1);
	expect_expired(200);
	expect_truncate(THREAD, 100);
	ck_assert_uint_eq(take(THREAD).truncate.end, 100);
}
END_TEST

START_TEST(truncation_is_never_replaced)
{
	for (int i = 0; i < MANY; i++)
		expect_truncate(THREAD + 256 * i, 100 + (uint64_t)i);
	for (int i = MANY; i < 2 * MANY; i++)
		thread_hints_set_failed(hints, THREAD + 256 * i, 1);
	for (int i = 0; i < MANY; i++)
		ck_assert_uint_eq(take(THREAD + 256 * i).truncate.end,
				  100 + (uint64_t)i);
}
END_TEST

static const struct {
	struct kernel_truncate due;
	uint64_t size;
	int result;
} cases[] = {
	{ { 0, 0, 0 }, 0, 0 },
	{ { FILE_A, 100, 0 }, 100, 1 },
	{ { FILE_A, 100, 0 }, 99, 0 },
	{ { FILE_A, 100, 0 }, 101, 0 },
	{ { FILE_A + 1, 100, 0 }, 100, 0 },
	{ { FILE_A, KERNEL_TRUNCATE_UNKNOWN, 0 }, 100, -EINTR },
	{ { FILE_A + 1, KERNEL_TRUNCATE_UNKNOWN, 0 }, 100, 0 },
};

START_TEST(truncation_is_checked)
{
	ck_assert_int_eq(kernel_truncate_check(&cases[_i].due, FILE_A,
					       cases[_i].size),
			 cases[_i].result);
}
END_TEST

/* ---- attributes ---- */

static const struct stat dir = { .st_ino = FILE_A };

static void set_dir_attr(uint64_t changes)
{
	thread_hints_set_dir_attr(hints, THREAD, &dir, changes,
				  clock_after_ms(60000));
}

START_TEST(attributes_are_taken_once_by_their_thread)
{
	set_dir_attr(thread_hints_changes(hints));
	ck_assert(!take(SAME_LIST).has_attr);
	ck_assert_uint_eq(take(THREAD).attr.st_ino, FILE_A);
	ck_assert(!take(THREAD).has_attr);
}
END_TEST

START_TEST(another_change_counts)
{
	uint64_t changes = thread_hints_changes(hints);

	thread_hints_count_change(hints);
	set_dir_attr(changes); /* the reply was sent meanwhile */
	ck_assert(!take(THREAD).has_attr);
	set_dir_attr(thread_hints_changes(hints));
	thread_hints_count_change(hints); /* the reply is sent later */
	ck_assert(!take(THREAD).has_attr);
}
END_TEST

START_TEST(thread_0_has_no_attributes)
{
	thread_hints_set_attr(hints, 0, &dir);
	ck_assert(!take(0).has_attr);
}
END_TEST

/* ---- repeated requests ---- */

START_TEST(failed_request_is_recognized)
{
	uint64_t request = thread_hints_request(FILE_A, "name");

	thread_hints_set_failed(hints, THREAD, request);
	ck_assert(!thread_hints_has_failed(hints, SAME_LIST, request));
	ck_assert(!thread_hints_has_failed(hints, THREAD, request + 1));
	take(THREAD);
	ck_assert(thread_hints_has_failed(hints, THREAD, request));
	thread_hints_set_failed(hints, 0, request);
	ck_assert(!thread_hints_has_failed(hints, 0, request));
}
END_TEST

START_TEST(hints_are_bounded)
{
	for (int i = 0; i < MANY; i++)
		thread_hints_set_failed(hints, THREAD + 256 * i, 1);
	ck_assert(!thread_hints_has_failed(hints, THREAD, 1));
	ck_assert(thread_hints_has_failed(hints, THREAD + 256 * (MANY - 1), 1));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("thread_hints");
	TCase *tc = tcase_create("hints");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, truncation_is_taken_once_by_its_thread);
	tcase_add_test(tc, the_highest_end_counts);
	tcase_add_test(tc, truncation_expires);
	tcase_add_test(tc, truncation_is_never_replaced);
	tcase_add_loop_test(tc, truncation_is_checked, 0,
			    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, attributes_are_taken_once_by_their_thread);
	tcase_add_test(tc, another_change_counts);
	tcase_add_test(tc, thread_0_has_no_attributes);
	tcase_add_test(tc, failed_request_is_recognized);
	tcase_add_test(tc, hints_are_bounded);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
