/* SPDX-License-Identifier: BSD-2-Clause */
/* test_number.c - whole numbers in text: junk, signs and overflow are rejected. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "common/util/number.h"
#include "tests/run_suite.h"

#define MOST "18446744073709551615"

typedef int parse_fn(const char *text, uint64_t max, uint64_t *val);

static void expect(parse_fn *parse, const char *text, uint64_t max,
		   uint64_t val)
{
	uint64_t n = ~val;

	ck_assert_msg(!parse(text, max, &n), "%s", text);
	ck_assert_msg(n == val, "%s", text);
}

static void expect_none(parse_fn *parse, const char *text, uint64_t max)
{
	uint64_t n = 77;

	ck_assert_msg(parse(text, max, &n) == -EINVAL, "%s", text);
	ck_assert_uint_eq(n, 77);
}

static const char *const junk[] = { "",	  " 1",	 "1 ", "+1",  "-1",  "-",
				    "1x", "0x1", "1.", "1e3", "1\n", "x" };

START_TEST(decimal)
{
	expect(number_parse, "0", 0, 0);
	expect(number_parse, "007", 7, 7);
	expect(number_parse, "65535", 65535, 65535);
	expect(number_parse, MOST, UINT64_MAX, UINT64_MAX);
	expect_none(number_parse, "1", 0);
	expect_none(number_parse, "65536", 65535);
	expect_none(number_parse, "18446744073709551616", UINT64_MAX);
	expect_none(number_parse, "99999999999999999999999", UINT64_MAX);
	expect_none(number_parse, "4294967296", UINT32_MAX);
	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
		expect_none(number_parse, junk[i], UINT64_MAX);
	expect_none(number_parse, "a", UINT64_MAX);
}
END_TEST

START_TEST(hexadecimal)
{
	expect(number_parse_hex, "0", 0, 0);
	expect(number_parse_hex, "00aF", 175, 175);
	expect(number_parse_hex, "ffffffffffffffff", UINT64_MAX, UINT64_MAX);
	expect_none(number_parse_hex, "10000000000000000", UINT64_MAX);
	expect_none(number_parse_hex, "100", 255);
	expect_none(number_parse_hex, "0x1", UINT64_MAX);
	expect_none(number_parse_hex, "g", UINT64_MAX);
	expect_none(number_parse_hex, "-1", UINT64_MAX);
	expect_none(number_parse_hex, "", UINT64_MAX);
}
END_TEST

START_TEST(size)
{
	expect(number_parse_size, "17", 17, 17);
	expect(number_parse_size, "3K", 4096, 3072);
	expect(number_parse_size, "16777215T", UINT64_MAX,
	       UINT64_C(16777215) << 40);
	expect_none(number_parse_size, "16777216T", UINT64_MAX);
	expect_none(number_parse_size, "4K", 4095);
	expect_none(number_parse_size, "1k", UINT64_MAX);
	expect_none(number_parse_size, "1KB", UINT64_MAX);
	expect_none(number_parse_size, "K", UINT64_MAX);
	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
		expect_none(number_parse_size, junk[i], UINT64_MAX);
}
END_TEST

START_TEST(scan)
{
	const char *text = "12:34", *none = ":34";
	uint64_t n = 0;

	ck_assert_int_eq(number_scan(&text, 12, &n), 0);
	ck_assert_uint_eq(n, 12);
	ck_assert_str_eq(text, ":34");
	ck_assert_int_eq(number_scan(&none, 12, &n), -EINVAL);
	ck_assert_str_eq(none, ":34");
	text = "13";
	ck_assert_int_eq(number_scan(&text, 12, &n), -EINVAL);
	ck_assert_str_eq(text, "13");
}
END_TEST

static Suite *number_suite(void)
{
	Suite *s = suite_create("number");
	TCase *tc = tcase_create("number");

	tcase_add_test(tc, decimal);
	tcase_add_test(tc, hexadecimal);
	tcase_add_test(tc, size);
	tcase_add_test(tc, scan);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(number_suite());
}
