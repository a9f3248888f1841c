/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_handle.c - handles as clients see them: a permutation, with a different key for each
 * database.
 */
#include <endian.h>

#include "mgr/db/handle.h"
#include "tests/unit/store_fixture.h"

static struct store_fixture fx;

static void setup(void)
{
	store_fx_setup(&fx);
}

static void teardown(void)
{
	store_fx_teardown(&fx);
}

/* The vector that the authors of the cipher published. */
START_TEST(test_vector)
{
	static const uint32_t key[4] = { 0x03020100, 0x0b0a0908, 0x13121110,
					 0x1b1a1918 };
	const uint64_t plain = UINT64_C(0x3b7265747475432d);
	const uint64_t text = UINT64_C(0x8c6fa548454e028b);
	struct handle_cipher c;

	handle_cipher_init(&c, key);
	ck_assert_uint_eq(handle_encipher(&c, plain), text);
	ck_assert_uint_eq(handle_decipher(&c, text), plain);
}
END_TEST

static void check_both_ways(uint64_t n)
{
	uint64_t wire = handle_to_wire(fx.st, n);

	ck_assert_uint_eq(handle_from_wire(fx.st, wire), n);
	ck_assert_uint_eq(le64toh(wire), handle_external(fx.st, n));
	ck_assert_uint_eq(handle_external(fx.st, handle_internal(fx.st, n)), n);
	ck_assert_uint_eq(!wire, !n);
}

START_TEST(test_permutation)
{
	for (uint64_t n = 0; n < 100000; n++)
		check_both_ways(n);
	for (uint64_t n = 1; n; n <<= 1) {
		check_both_ways(n);
		check_both_ways(~n);
	}
	/* the image of 0, and the number whose image is 0 */
	check_both_ways(UINT64_MAX);
}
END_TEST

/* Counting up finds none of the issued handles. */
START_TEST(test_counting)
{
	for (uint64_t n = 1; n <= 1000000; n++)
		ck_assert_uint_gt(handle_internal(fx.st, n), 1000000);
}
END_TEST

START_TEST(test_key)
{
	uint64_t one = handle_external(fx.st, 1);

	ck_assert_uint_ne(one, 1);
	store_fx_close(&fx);
	store_fx_open(&fx);
	ck_assert_uint_eq(handle_external(fx.st, 1), one);
	store_fx_teardown(&fx);
	store_fx_setup(&fx);
	ck_assert_uint_ne(handle_external(fx.st, 1), one);
}
END_TEST

/* A database of an earlier version has no key. */
START_TEST(test_without_key)
{
	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(store_del(fx.st, STORE_META, "handle_key", 10), 0);
	ck_assert_int_eq(store_commit(fx.st), 0);
	store_fx_close(&fx);
	store_fx_open(&fx);
	ck_assert_uint_eq(handle_external(fx.st, 7), 7);
	check_both_ways(7);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("handle");
	Suite *s = suite_create("handle");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_vector);
	tcase_add_test(tc, test_permutation);
	tcase_add_test(tc, test_counting);
	tcase_add_test(tc, test_key);
	tcase_add_test(tc, test_without_key);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
