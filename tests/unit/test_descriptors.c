/* SPDX-License-Identifier: BSD-2-Clause */
/* test_descriptors.c - the limit of open files goes as far up as it may. */
#include <check.h>
#include <sys/resource.h>

#include "descriptors.h"
#include "run_suite.h"

static struct rlimit limit(void)
{
	struct rlimit lim;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &lim), 0);
	return lim;
}

START_TEST(raised)
{
	struct rlimit lim = { .rlim_cur = 64, .rlim_max = 512 };

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &lim), 0);
	ck_assert_uint_eq(descriptors_raise(), 512);
	ck_assert_uint_eq(limit().rlim_cur, 512);
	ck_assert_uint_eq(descriptors_raise(), 512);
	ck_assert_uint_eq(limit().rlim_max, 512);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("descriptors");
	TCase *tc = tcase_create("descriptors");

	tcase_add_test(tc, raised);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
