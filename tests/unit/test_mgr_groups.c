/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_groups.c - the groups of users are kept for a while, and of so many. */
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "groups.h"
#include "run_suite.h"

static struct groups groups;

static int in;

/* In place of libc's: whoever is a user here is in so many. */
int getgrouplist(const char *user, gid_t group, gid_t *list, int *n)
{
	int room = *n;

	for (int i = 0; i < in && i < room; i++)
		list[i] = 1000 + (gid_t)i;
	if (in < 0)
		return -1;
	*n = in;
	return in <= room ? in : -1;
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
	struct gids many = { NULL, 0 };

	ck_assert_int_eq(groups_ask(&who, false, &many), 0);
	ck_assert_uint_eq(who.ngroups, 0);
	ck_assert_uint_eq(who.gid, 5);
	ck_assert_int_eq(groups_ask(&who, true, &many), -ENOENT);
}
END_TEST

/* The ticket has no room for them: they are a list, without the user's own group. */
static const struct number {
	int n;
	uint32_t gid;
	int status;
	uint32_t inside, listed;
} numbers[] = {
	{ 0, 5, 0, 0, 0 },
	{ 64, 5, 0, 64, 0 },
	{ 65, 5, 0, 0, 65 },
	{ 65, 1064, 0, 64, 0 },
	{ 256, 5, 0, 0, 256 },
	{ 257, 5, 0, 0, 257 },
	{ 1000, 5, 0, 0, 1000 },
	{ 65536, 5, 0, 0, 65536 },
	{ 65537, 5, -E2BIG, 0, 0 },
	{ 65537, 1000, 0, 0, 65536 },
	{ 65538, 1000, -E2BIG, 0, 0 },
	{ 1000000, 5, -E2BIG, 0, 0 },
};

START_TEST(test_all)
{
	const struct number *t = &numbers[_i];
	struct admitted who = { 0, t->gid, 0 };
	struct gids many = { NULL, 0 };

	in = t->n;
	ck_assert_int_eq(groups_ask(&who, false, &many), t->status);
	ck_assert_uint_eq(who.ngroups, t->inside);
	for (uint32_t i = 0; i < t->inside; i++)
		ck_assert_uint_eq(who.groups[i], 1000 + i);
	ck_assert_uint_eq(many.n, t->listed);
	for (uint32_t i = 0; i < t->listed; i++)
		ck_assert_uint_eq(many.gid[i], 1000 + i + (t->gid == 1000));
	free(many.gid);
}
END_TEST

/* As libc does it where it finds no memory: how many there are stays as it was. */
START_TEST(test_no_answer)
{
	struct admitted who = { 0, 5, 0 };
	struct gids many = { NULL, 0 };

	in = -1;
	ck_assert_int_ne(groups_ask(&who, false, &many), 0);
	ck_assert_ptr_null(many.gid);
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
	tcase_add_loop_test(tc, test_all, 0,
			    sizeof(numbers) / sizeof(numbers[0]));
	tcase_add_test(tc, test_no_answer);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
