/* SPDX-License-Identifier: BSD-2-Clause */
/* test_recent_changes.c - the record of recent changes, and which clients can make it inexact. */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "server/once/recent_changes.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define PIECES 65536u /* of one request */
#define SPREAD (2 * RECENT_CHANGES_MAX)

static struct recent_changes *early;
static struct store_seg seg[PIECES];

static void setup(void)
{
	ck_assert_int_eq(recent_changes_open(&early), 0);
}

static void teardown(void)
{
	recent_changes_close(early);
}

/* Objects 2n and 2n + 1 are of one file. */
static struct object_key key_of(uint64_t number)
{
	return (struct object_key){ number / 2, number % 2 * 1024 };
}

static int change(uint64_t number, uint64_t off, uint64_t len, bool anew)
{
	const struct store_seg one = { off, len };

	return recent_changes_check(early, key_of(number), &one, 1, 0, anew);
}

static int change_by(uint64_t by, uint64_t off, uint64_t len, bool anew)
{
	const struct store_seg one = { off, len };

	return recent_changes_check(early, key_of(1), &one, 1, by, anew);
}

/* A request for single bytes, every other one from off on. */
static int comb(uint64_t number, uint64_t off, bool anew)
{
	for (unsigned int i = 0; i < PIECES; i++)
		seg[i] = (struct store_seg){ off + 2 * i, 1 };
	return recent_changes_check(early, key_of(number), seg, PIECES, 0,
				    anew);
}

START_TEST(edges)
{
	ck_assert_int_eq(change(1, 100, 10, false), 0);
	ck_assert_int_eq(change(1, 90, 10, true), 0);
	ck_assert_int_eq(change(1, 110, 10, true), 0);
	ck_assert_int_eq(change(1, 119, 1, true), -EIO);
	ck_assert_int_eq(change(1, 89, 2, true), -EIO);
	ck_assert_int_eq(change(1, 0, 1000, true), -EIO);
	ck_assert_int_eq(change(2, 100, 10, true), 0);
	ck_assert_int_eq(change(1, 200, UINT64_MAX - 200, false), 0);
	ck_assert_int_eq(change(1, UINT64_MAX - 1, 1, true), -EIO);
	ck_assert_int_eq(change(1, 120, 80, true), 0);
	ck_assert_int_eq(change(3, 0, 1, false), 0);
	ck_assert_int_eq(change(3, 1, 1, true), 0);
	ck_assert_int_eq(change(3, 0, 1, true), -EIO);
}
END_TEST

/* A client that repeats its own changes is not affected. */
START_TEST(own_changes)
{
	ck_assert_int_eq(change_by(7, 100, 10, false), 0);
	ck_assert_int_eq(change_by(7, 90, 30, true), 0);
	ck_assert_int_eq(change_by(8, 119, 1, true), -EIO);
	ck_assert_int_eq(change_by(8, 120, 10, false), 0); /* next to it */
	ck_assert_int_eq(change_by(7, 90, 30, true), 0);
	ck_assert_int_eq(change_by(8, 120, 10, true), 0);
	ck_assert_int_eq(change_by(7, 90, 31, true), -EIO);
	ck_assert_int_eq(change_by(8, 110, 20, false), 0);
	ck_assert_int_eq(change_by(7, 110, 1, true), -EIO);
	/* it may be a change of client 7 */
	ck_assert_int_eq(change_by(8, 125, 1, true), -EIO);
	ck_assert_int_eq(change_by(0, 200, 1, false), 0);
	ck_assert_int_eq(change_by(0, 200, 1, true), -EIO);
}
END_TEST

#define BYTES 512u
#define OBJECTS 3u

static bool changed[OBJECTS][BYTES];

static bool meets(unsigned int object, uint64_t off, uint64_t len)
{
	return memchr(&changed[object][off], true, len);
}

/* Ranges of all sizes, compared with one flag for each byte. */
START_TEST(model)
{
	struct rnd rnd;

	rnd_init(&rnd, 1);
	for (unsigned int i = 0; i < 20000; i++) {
		unsigned int object = (unsigned int)rnd_in(&rnd, 0,
							   OBJECTS - 1);
		uint64_t off = rnd_in(&rnd, 0, BYTES - 1);
		uint64_t len = rnd_in(&rnd, 1, rnd_in(&rnd, 0, 3) ? 3 : 60);
		bool anew = rnd_in(&rnd, 0, 1), met;

		if (i % 500 == 0) {
			memset(changed, 0, sizeof(changed));
			teardown();
			setup();
		}
		if (len > BYTES - off)
			len = BYTES - off;
		met = meets(object, off, len);
		ck_assert_int_eq(change(object, off, len, anew),
				 anew && met ? -EIO : 0);
		if (!anew || !met)
			memset(&changed[object][off], true, len);
	}
}
END_TEST

/* A client with more scattered changes than can be recorded affects only its own object. */
START_TEST(one_object_of_very_many)
{
	ck_assert_int_eq(change(2, 0, 10, false), 0);
	for (uint64_t off = 0; off < SPREAD; off += 2 * PIECES)
		ck_assert_int_eq(comb(1, off, false), 0);
	for (uint64_t off = 0; off < 4 * SPREAD; off += 2 * PIECES)
		ck_assert_int_eq(comb(3 + off % 7, off, false), 0);
	ck_assert_int_eq(change(1, 100 * SPREAD, 1, true), -EIO);
	ck_assert_int_eq(change(2, 10, 10, true), 0);
	ck_assert_int_eq(change(2, 5, 1, true), -EIO);
	ck_assert_int_eq(change(99, 0, 10, true), 0);
}
END_TEST

/* Many pieces and many places: comparing each with each would take minutes. */
START_TEST(many_against_many)
{
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_int_eq(comb(1, 2 * i * PIECES, false), 0);
	ck_assert_int_eq(comb(1, 2 * 3 * PIECES, true), 0);
	ck_assert_int_eq(comb(1, 2 * 3 * PIECES, true), -EIO);
}
END_TEST

/* Nothing is known any more, so every repeated change is rejected. */
START_TEST(too_many_objects)
{
	for (uint64_t i = 0; i <= RECENT_CHANGES_MAX; i++)
		ck_assert_int_eq(change(i, 0, 1, false), 0);
	ck_assert_int_eq(change(RECENT_CHANGES_MAX + 5, 0, 1, true),
			 -ECONNABORTED);
	ck_assert_int_eq(change(RECENT_CHANGES_MAX + 5, 0, 1, false), 0);
}
END_TEST

START_TEST(removal_of_one_of_two)
{
	const struct object_key one = key_of(2 * 77),
				other = key_of(2 * 77 + 1);

	recent_removal_add(early, one);
	ck_assert(recent_removal_has(early, one));
	ck_assert(!recent_removal_has(early, other));
	recent_removal_add(early, other);
	ck_assert(recent_removal_has(early, one));
	ck_assert(recent_removal_has(early, other));
	ck_assert(!recent_removal_has(early, object_key_own(78)));
	ck_assert(!recent_removal_has(early, object_key_own(0)));
}
END_TEST

/* The truncation of a file is executed once for each of its objects. */
START_TEST(truncation_of_two_objects)
{
	const struct object_key key[] = { { 77, 1024 }, { 77, 1025 } };
	struct recent_truncation *truncation[2];

	for (unsigned int i = 0; i < 2; i++)
		ck_assert_int_eq(recent_truncation_begin(early, key[i], 5,
							 &truncation[i]),
				 RECENT_TRUNCATION_NEW);
	recent_truncation_end(early, truncation[0], true);
	ck_assert_int_eq(recent_truncation_begin(early, key[0], 5,
						 &truncation[0]),
			 RECENT_TRUNCATION_DONE);
	recent_truncation_end(early, truncation[1], false);
	ck_assert_int_eq(recent_truncation_begin(early, key[1], 5,
						 &truncation[1]),
			 RECENT_TRUNCATION_NEW);
}
END_TEST

static Suite *early_suite(void)
{
	Suite *s = suite_create("recent_changes");
	TCase *tc = tcase_create("recent_changes");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, edges);
	tcase_add_test(tc, own_changes);
	tcase_add_test(tc, model);
	tcase_add_test(tc, one_object_of_very_many);
	tcase_add_test(tc, many_against_many);
	tcase_add_test(tc, too_many_objects);
	tcase_add_test(tc, removal_of_one_of_two);
	tcase_add_test(tc, truncation_of_two_objects);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(early_suite());
}
