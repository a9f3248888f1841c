/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_session_rights.c - the table of verdicts against an unbounded model.  The table never allows
 * more than the model, and allows as much as long as no entry was evicted.
 */
#include <string.h>

#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "server/state/session_rights.h"

#define HANDLES 20000u
#define ROUNDS 200000

static struct session_rights v;
static uint64_t model[HANDLES][SESSION_RIGHTS_KINDS];
static struct rnd rnd;

static void setup(void)
{
	memset(model, 0, sizeof(model));
	rnd_init(&rnd, 11);
}

static void teardown(void)
{
	session_rights_free(&v);
}

/* Spread values, never 0. */
static uint64_t handle_of(uint64_t i)
{
	return (i + 1) * UINT64_C(0xd1342543de82ef95);
}

static void add(uint64_t i)
{
	unsigned int r, rights = (unsigned int)rnd_in(&rnd, 1, 3);
	uint64_t until = rnd_in(&rnd, 1, 1000);

	ck_assert_int_eq(session_rights_add(&v, handle_of(i), rights, until),
			 0);
	for (r = 0; r < SESSION_RIGHTS_KINDS; r++)
		if (rights >> r & 1 && until > model[i][r])
			model[i][r] = until;
}

/* Returns true if the table allows as much as the model. */
static bool look(uint64_t i)
{
	bool all = true;

	for (unsigned int r = 0; r < SESSION_RIGHTS_KINDS; r++) {
		uint64_t is = session_rights_until(&v, handle_of(i), 1u << r);

		ck_assert_uint_le(is, model[i][r]);
		all &= is == model[i][r];
	}
	return all;
}

static void run(uint64_t handles)
{
	for (int k = 0; k < ROUNDS; k++) {
		uint64_t i = rnd_in(&rnd, 0, handles - 1);

		if (rnd_in(&rnd, 0, 1))
			add(i);
		else
			ck_assert(look(i) || v.dropped);
		ck_assert_uint_le(v.sets * SESSION_RIGHTS_WAYS,
				  SESSION_RIGHTS_MAX);
	}
}

/* A small number of verdicts is kept completely. */
START_TEST(test_few)
{
	run(200);
	ck_assert_uint_eq(v.dropped, 0);
}
END_TEST

START_TEST(test_many)
{
	run(HANDLES);
	ck_assert_uint_gt(v.dropped, 0);
}
END_TEST

/* The right that was shown last is known. */
START_TEST(test_last)
{
	for (uint64_t i = 0; i < HANDLES; i++) {
		ck_assert_int_eq(session_rights_add(&v, handle_of(i), 1, 5), 0);
		ck_assert_uint_eq(session_rights_until(&v, handle_of(i), 1), 5);
		ck_assert_uint_eq(session_rights_until(&v, handle_of(i), 2), 0);
	}
}
END_TEST

/* There is no verdict for handle 0, nor in an empty table. */
START_TEST(test_none)
{
	ck_assert_uint_eq(session_rights_until(&v, 0, 1), 0);
	ck_assert_uint_eq(session_rights_until(&v, 7, 1), 0);
	ck_assert_int_eq(session_rights_add(&v, 7, 3, 9), 0);
	ck_assert_uint_eq(session_rights_until(&v, 0, 1), 0);
}
END_TEST

/* The verdicts of a removed key are gone, and this fact is known. */
START_TEST(test_eras)
{
	ck_assert_int_eq(session_rights_add(&v, 7, 3, 9), 0);
	session_rights_set_era(&v, 0);
	ck_assert_uint_eq(session_rights_until(&v, 7, 1), 9);
	ck_assert_uint_eq(v.dropped, 0);
	session_rights_set_era(&v, 1);
	ck_assert_uint_eq(session_rights_until(&v, 7, 1), 0);
	ck_assert_uint_gt(v.dropped, 0);
	for (uint64_t i = 0; i < 100; i++)
		ck_assert_int_eq(session_rights_add(&v, handle_of(i), 2, 9), 0);
	session_rights_set_era(&v, 1);
	for (uint64_t i = 0; i < 100; i++)
		ck_assert_uint_eq(session_rights_until(&v, handle_of(i), 2), 9);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("session_rights");
	TCase *tc = tcase_create("table");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_few);
	tcase_add_test(tc, test_many);
	tcase_add_test(tc, test_last);
	tcase_add_test(tc, test_none);
	tcase_add_test(tc, test_eras);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
