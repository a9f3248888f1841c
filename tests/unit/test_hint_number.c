/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hint_number.c - hints of MPI-IO that are numbers: the whole text must be a number. */
#include <errno.h>
#include <limits.h>

#include "romio-adio/hint_number.h"
#include "tests/run_suite.h"

static const struct {
	const char *text;
	int rc, value;
} numbers[] = {
	{ "0", 0, 0 },
	{ "65536", 0, 65536 },
	{ "64k", 0, 65536 },
	{ "64K", 0, 65536 },
	{ "1m", 0, 1 << 20 },
	{ "1G", 0, 1 << 30 },
	{ "-1", 0, -1 },
	{ "0010", 0, 10 },
	{ "2147483647", 0, INT_MAX },
	{ "2147483648", -ERANGE, 7 },
	{ "-2147483648", 0, INT_MIN },
	{ "-2147483649", -ERANGE, 7 },
	{ "4294967298", -ERANGE, 7 },
	{ "99999999999999999999999", -ERANGE, 7 },
	{ "2g", -ERANGE, 7 },
	{ "2097152k", -ERANGE, 7 },
	{ "2097151k", 0, 2097151 << 10 },
	{ "", -EINVAL, 7 },
	{ "k", -EINVAL, 7 },
	{ "64kb", -EINVAL, 7 },
	{ "64 k", -EINVAL, 7 },
	{ " 64", -EINVAL, 7 },
	{ "+64", -EINVAL, 7 },
	{ "-64k", -EINVAL, 7 },
	{ "--1", -EINVAL, 7 },
	{ "0x40", -EINVAL, 7 },
	{ "4.5", -EINVAL, 7 },
	{ "four", -EINVAL, 7 },
};

START_TEST(test_number)
{
	int value = 7;

	ck_assert_int_eq(hint_number(numbers[_i].text, &value), numbers[_i].rc);
	ck_assert_int_eq(value, numbers[_i].value);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hint_number");
	TCase *tc = tcase_create("hint_number");

	tcase_add_loop_test(tc, test_number, 0,
			    sizeof(numbers) / sizeof(numbers[0]));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
