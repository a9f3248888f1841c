/* SPDX-License-Identifier: BSD-2-Clause */
/* test_filled.c - whether writes left a hole, compared with a map of all bytes. */
#include <check.h>
#include <string.h>

#include "client/lib/file/filled.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define BYTES 64u

static bool has_gap(const bool byte[BYTES])
{
	bool open = false;

	for (unsigned int i = 0; i < BYTES; i++) {
		if (byte[i] && open)
			return true;
		open |= !byte[i];
	}
	return false;
}

/* The number of written pieces tells whether there was room to record them. */
static unsigned int pieces(const bool byte[BYTES])
{
	unsigned int n = 0;

	for (unsigned int i = 1; i < BYTES; i++)
		n += byte[i] && !byte[i - 1];
	return n;
}

START_TEST(as_the_map_has_it)
{
	bool byte[BYTES] = { false }, full = false;
	struct filled f = { 0 };
	struct rnd rnd;

	rnd_init(&rnd, (uint64_t)_i);
	for (unsigned int i = 0; i < 40; i++) {
		uint64_t from = rnd_in(&rnd, 0, BYTES - 1);
		uint64_t to = rnd_in(&rnd, from + 1, from + 8);

		to = to < BYTES ? to : BYTES;
		filled_add(&f, from, to);
		memset(byte + from, true, to - from);
		full |= pieces(byte) > FILLED_PIECES;
		if (!full)
			ck_assert_int_eq(filled_has_gap(&f), has_gap(byte));
		else
			ck_assert(filled_has_gap(&f) || !has_gap(byte));
	}
}
END_TEST

/* A piece that could not be recorded counts as a hole for ever. */
START_TEST(too_many)
{
	struct filled f = { 0 };

	for (uint64_t i = 0; i <= FILLED_PIECES; i++)
		filled_add(&f, 2 * i + 1, 2 * i + 2);
	filled_add(&f, 0, 1000);
	ck_assert(filled_has_gap(&f));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("filled");
	TCase *tc = tcase_create("filled");

	tcase_add_loop_test(tc, as_the_map_has_it, 0, 200);
	tcase_add_test(tc, too_many);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
