/* SPDX-License-Identifier: BSD-2-Clause */
/* test_disk_space.c - the free space of full, limited and unlimited file systems. */
#include <check.h>

#include "common/util/disk_space.h"
#include "tests/run_suite.h"

START_TEST(space_is_limited)
{
	const struct statvfs fs = { .f_blocks = 100,
				    .f_bavail = 3,
				    .f_frsize = 4096 };

	ck_assert_uint_eq(disk_space_left(&fs), 3 * 4096);
}
END_TEST

START_TEST(disk_is_full)
{
	const struct statvfs fs = { .f_blocks = 100, .f_frsize = 4096 };

	ck_assert_uint_eq(disk_space_left(&fs), 0);
}
END_TEST

/* The values of a tmpfs mounted with size=0. */
START_TEST(space_is_unlimited)
{
	const struct statvfs fs = { .f_frsize = 4096 };

	ck_assert_uint_eq(disk_space_left(&fs), UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("disk_space");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, space_is_limited);
	tcase_add_test(tc, disk_is_full);
	tcase_add_test(tc, space_is_unlimited);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
