/* SPDX-License-Identifier: BSD-2-Clause */
/* test_sizes.c - sizes for transports, in their text form. */
#include <check.h>
#include <errno.h>

#include "tests/run_suite.h"
#include "common/comm/fabric/sizes.h"

#define NOT_SAID 77u

static const struct {
	const char *text;
	uint32_t local, verbs, tcp, other;
} good[] = {
	{ "0", 0, 0, 0, 0 },
	{ "16K", 16384, 16384, 16384, 16384 },
	{ "verbs:4K", NOT_SAID, 4096, NOT_SAID, NOT_SAID },
	{ "verbs:4K/local:64K", 65536, 4096, NOT_SAID, NOT_SAID },
	{ "8K/tcp:1", 8192, 8192, 1, 8192 },
	{ "tcp:1/8K", 8192, 8192, 1, 8192 },
};

static const char *const bad[] = {
	"",
	"/",
	"x",
	"4K/",
	"/4K",
	"65K",
	"-1",
	"ib:4K",
	"verbs:",
	":4K",
	"verbs=4K",
	"4k",
	"4K:4K",
	"4K//1",
	"verbs:x",
	"fault+tcp:4K",
	"verbs:4K/verbs:8K",
	"verbs:4K/verbs:4K",
	"4K/8K",
	"4K/tcp:1/8K",
	"tcp:00000000000000000000000000000001",
};

static uint32_t get(const struct sizes *s, const char *name)
{
	return sizes_get(s, name, NOT_SAID);
}

START_TEST(accepted)
{
	struct sizes s = { 0 };

	ck_assert_int_eq(sizes_parse(good[_i].text, &s), 0);
	ck_assert_uint_eq(get(&s, "local"), good[_i].local);
	ck_assert_uint_eq(get(&s, "verbs"), good[_i].verbs);
	ck_assert_uint_eq(get(&s, "tcp"), good[_i].tcp);
	ck_assert_uint_eq(get(&s, "fault+tcp"), good[_i].tcp);
	ck_assert_uint_eq(get(&s, "mock"), good[_i].other);
}
END_TEST

START_TEST(refused)
{
	struct sizes s = sizes_all(5);

	ck_assert_int_eq(sizes_parse(bad[_i], &s), -EINVAL);
	ck_assert_uint_eq(get(&s, "verbs"), 5);
}
END_TEST

START_TEST(the_later_text_counts)
{
	struct sizes s = { 0 };

	ck_assert_uint_eq(get(&s, "tcp"), NOT_SAID);
	ck_assert_int_eq(sizes_parse("verbs:1/tcp:2", &s), 0);
	ck_assert_int_eq(sizes_parse("tcp:3", &s), 0);
	ck_assert_uint_eq(get(&s, "verbs"), 1);
	ck_assert_uint_eq(get(&s, "tcp"), 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sizes");
	TCase *tc = tcase_create("sizes");

	tcase_add_loop_test(tc, accepted, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(tc, refused, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, the_later_text_counts);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
