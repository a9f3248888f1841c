/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_groups.c - the groups of users are kept for a while, and of so many. */
#include <errno.h>
#include <grp.h>
#include <string.h>

#include "clock.h"
#include "groups.h"
#include "run_suite.h"

#define MANY 300 /* more than a ticket has room for */

static struct groups groups;

/* In place of libc's: whoever is a user here is in so many. */
int getgrouplist(const char *user, gid_t group, gid_t *list, int *n)
{
	ck_assert_int_ge(*n, MANY);
	for (int i = 0; i < MANY; i++)
		list[i] = 1000 + (gid_t)i;
	*n = MANY;
	return MANY;
}

static struct admitted user(uint32_t uid, uint32_t gid, uint32_t ngroups)
{
	struct admitted who = { uid, gid, ngroups };

	for (uint32_t i = 0; i < ngroups; i++)
		who.groups[i] = 100 + i;
	return who;
}

static void setup(void)
{
	memset(&groups, 0, sizeof(groups));
}

static bool found(uint32_t uid, uint32_t gid, bool primary)
{
	struct admitted who = user(uid, gid, 0);

	return groups_find(&groups, &who, primary);
}

START_TEST(test_kept)
{
	struct admitted who = user(0, 5, 0), kept = user(0, 5, 3);

	ck_assert(!found(0, 0, false));
	groups_keep(&groups, &kept, false);
	ck_assert(groups_find(&groups, &who, false));
	ck_assert_uint_eq(who.ngroups, 3);
	ck_assert_mem_eq(who.groups, kept.groups, sizeof(who.groups));
}
END_TEST

/* The same user in another group is asked for anew, and so is who had none. */
START_TEST(test_other)
{
	struct admitted who = user(7, 5, 3);

	groups_keep(&groups, &who, false);
	ck_assert(found(7, 5, false));
	ck_assert(!found(7, 6, false));
	ck_assert(!found(7, 5, true));
	ck_assert(!found(8, 5, false));
	groups_keep(&groups, &who, true);
	ck_assert(found(7, 99, true));
	ck_assert(!found(7, 5, false));
}
END_TEST

START_TEST(test_time)
{
	struct admitted who = user(7, 5, 3);
	uint64_t latest;

	groups_keep(&groups, &who, false);
	latest = clock_after_ms(GROUPS_KEEP_MS);
	ck_assert_uint_le(groups.kept[7].until, latest);
	ck_assert_uint_gt(groups.kept[7].until, clock_now());
	groups.kept[7].until = clock_now();
	ck_assert(!found(7, 5, false));
}
END_TEST

START_TEST(test_number)
{
	struct admitted who;
	unsigned int n = 0;

	for (uint32_t uid = 0; uid < 3 * GROUPS_KEPT; uid++) {
		who = user(uid, 5, 1);
		groups_keep(&groups, &who, false);
	}
	for (uint32_t uid = 0; uid < 3 * GROUPS_KEPT; uid++)
		n += found(uid, 5, false);
	ck_assert_uint_eq(n, GROUPS_KEPT);
	ck_assert(found(3 * GROUPS_KEPT - 1, 5, false));
}
END_TEST

START_TEST(test_unknown)
{
	struct admitted who = user(4000000001u, 5, 3);

	ck_assert_int_eq(groups_ask(&who, false), 0);
	ck_assert_uint_eq(who.ngroups, 0);
	ck_assert_uint_eq(who.gid, 5);
	ck_assert_int_eq(groups_ask(&who, true), -ENOENT);
}
END_TEST

/* The first ones count, and nothing lies behind them. */
START_TEST(test_too_many)
{
	struct {
		struct admitted who;
		uint8_t behind[2048];
	} is = { { 0, 0, 0 } }, zeros = { { 0, 0, 0 } };

	ck_assert_int_eq(groups_ask(&is.who, false), 0);
	ck_assert_uint_eq(is.who.ngroups, WIRE_GROUPS_MAX);
	for (uint32_t i = 0; i < WIRE_GROUPS_MAX; i++)
		ck_assert_uint_eq(is.who.groups[i], 1000 + i);
	ck_assert_uint_eq(is.who.until, 0);
	ck_assert_mem_eq(is.behind, zeros.behind, sizeof(is.behind));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_groups");
	TCase *tc = tcase_create("mgr_groups");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_kept);
	tcase_add_test(tc, test_other);
	tcase_add_test(tc, test_time);
	tcase_add_test(tc, test_number);
	tcase_add_test(tc, test_unknown);
	tcase_add_test(tc, test_too_many);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
