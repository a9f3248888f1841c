/* SPDX-License-Identifier: BSD-2-Clause */
/* test_object_key.c - the text of keys, and what is no such text. */
#include <check.h>

#include "common/dist/object_key.h"
#include "tests/run_suite.h"

static const struct {
	struct object_key key;
	const char *text;
} keys[] = {
	{ { 1, 0 }, "0000000000000001" },
	{ { 0xfedcba9876543210, 0 }, "fedcba9876543210" },
	{ { 1, 1024 }, "0000000000000001-00000400" },
	{ { UINT64_MAX, UINT32_MAX }, "ffffffffffffffff-ffffffff" },
};

static const char *const others[] = {
	"",
	"1",
	"0000000000000000",
	"0000000000000001-",
	"0000000000000001-400",
	"0000000000000001-00000000",
	"0000000000000001-000004000",
	"0000000000000001-0000040g",
	"0000000000000001.00000400",
	"00000000000000010",
	"000000000000000A",
	"0000000000000xyz",
	"-000000000000001",
};

START_TEST(texts_of_keys)
{
	struct object_key key;

	ck_assert_str_eq(object_key_text(keys[_i].key).s, keys[_i].text);
	ck_assert(object_key_parse(keys[_i].text, &key));
	ck_assert(object_key_equal(key, keys[_i].key));
	ck_assert_int_eq(object_key_is_own(key), !keys[_i].key.copyset);
}
END_TEST

START_TEST(texts_of_no_keys)
{
	struct object_key key = { 5, 6 };

	ck_assert(!object_key_parse(others[_i], &key));
	ck_assert(object_key_equal(key, (struct object_key){ 5, 6 }));
}
END_TEST

START_TEST(order)
{
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++) {
			struct object_key a = { i / 2, i % 2 },
					  b = { k / 2, k % 2 };

			ck_assert_int_eq(object_key_is_after(a, b), i > k);
		}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("object_key");
	TCase *tc = tcase_create("keys");

	tcase_add_loop_test(tc, texts_of_keys, 0,
			    (int)(sizeof(keys) / sizeof(keys[0])));
	tcase_add_loop_test(tc, texts_of_no_keys, 0,
			    (int)(sizeof(others) / sizeof(others[0])));
	tcase_add_test(tc, order);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
