/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_groups.c - the groups of users are cached for a while, up to a number of groups.  More
 * groups are a list, which tickets and sessions name by its number.
 */
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/auth/mgr_auth_int.h"
#include "common/util/clock.h"
#include "tests/unit/comer.h"
#include "mgr/auth/user_groups.h"
#include "tests/run_suite.h"

static struct user_groups groups;

static int in;

/* Replaces libc's function: each user has this number of groups. */
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

	return user_groups_find(&groups, &who, primary);
}

START_TEST(test_kept)
{
	struct admitted who = user(0, 5, 0), kept = user(0, 5, 3);

	ck_assert(!found(0, 0, false));
	user_groups_store(&groups, &kept, false);
	ck_assert(user_groups_find(&groups, &who, false));
	ck_assert_uint_eq(who.ngroups, 3);
	ck_assert_mem_eq(who.groups, kept.groups, sizeof(who.groups));
}
END_TEST

/*
 * The manager asks again for the same user with another primary group, and for a user without
 * groups.
 */
START_TEST(test_other)
{
	struct admitted who = user(7, 5, 3);

	user_groups_store(&groups, &who, false);
	ck_assert(found(7, 5, false));
	ck_assert(!found(7, 6, false));
	ck_assert(!found(7, 5, true));
	ck_assert(!found(8, 5, false));
	user_groups_store(&groups, &who, true);
	ck_assert(found(7, 99, true));
	ck_assert(!found(7, 5, false));
}
END_TEST

START_TEST(test_time)
{
	struct admitted who = user(7, 5, 3);
	uint64_t latest;

	user_groups_store(&groups, &who, false);
	latest = clock_after_ms(USER_GROUPS_MS);
	ck_assert_uint_le(groups.entry[7].until, latest);
	ck_assert_uint_gt(groups.entry[7].until, clock_now());
	groups.entry[7].until = clock_now();
	ck_assert(!found(7, 5, false));
}
END_TEST

START_TEST(test_number)
{
	struct admitted who;
	unsigned int n = 0;

	for (uint32_t uid = 0; uid < 3 * USER_GROUPS_MAX; uid++) {
		who = user(uid, 5, 1);
		user_groups_store(&groups, &who, false);
	}
	for (uint32_t uid = 0; uid < 3 * USER_GROUPS_MAX; uid++)
		n += found(uid, 5, false);
	ck_assert_uint_eq(n, USER_GROUPS_MAX);
	ck_assert(found(3 * USER_GROUPS_MAX - 1, 5, false));
}
END_TEST

START_TEST(test_unknown)
{
	struct admitted who = user(4000000001u, 5, 3);
	struct gid_list many = { NULL, 0 };

	ck_assert_int_eq(user_groups_query(&who, false, &many), 0);
	ck_assert_uint_eq(who.ngroups, 0);
	ck_assert_uint_eq(who.gid, 5);
	ck_assert_int_eq(user_groups_query(&who, true, &many), -ENOENT);
}
END_TEST

/* The groups do not fit into the ticket, so they are a list, without the user's own group. */
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
	struct gid_list many = { NULL, 0 };

	in = t->n;
	ck_assert_int_eq(user_groups_query(&who, false, &many), t->status);
	ck_assert_uint_eq(who.ngroups, t->inside);
	for (uint32_t i = 0; i < t->inside; i++)
		ck_assert_uint_eq(who.groups[i], 1000 + i);
	ck_assert_uint_eq(many.n, t->listed);
	for (uint32_t i = 0; i < t->listed; i++)
		ck_assert_uint_eq(many.gid[i], 1000 + i + (t->gid == 1000));
	free(many.gid);
}
END_TEST

/* As libc does without memory: the number of groups stays unchanged. */
START_TEST(test_no_answer)
{
	struct admitted who = { 0, 5, 0 };
	struct gid_list many = { NULL, 0 };

	in = -1;
	ck_assert_int_ne(user_groups_query(&who, false, &many), 0);
	ck_assert_ptr_null(many.gid);
}
END_TEST

/* ---- lists ---- */

static const struct log nowhere;
static uint32_t gid[WIRE_GROUPS_ALL];

/* Starts one process of a manager. */
static void mgr_begin(struct mgr *mgr)
{
	memset(mgr, 0, sizeof(*mgr));
	mgr->conf.auth.mode = AUTH_SYS;
	mgr->log = &nowhere;
	ck_assert_int_eq(mgr_auth_open(mgr), 0);
	for (uint32_t i = 0; i < WIRE_GROUPS_ALL; i++)
		gid[i] = 10 * i;
}

static void mgr_end(struct mgr *mgr)
{
	mgr_auth_close(mgr);
	mgr_auth_free(mgr);
}

/* Returns the number of the list that a ticket with these groups names. */
static uint64_t named(struct mgr *mgr, const uint32_t *groups_of, uint32_t n)
{
	struct admitted who = { 0 };
	struct group_list *list;

	ck_assert_int_eq(
		session_groups_name_list(mgr, groups_of, n, &who, &list), 0);
	ck_assert_uint_eq(list->total, n);
	ck_assert(wire_groups_listed(who.groups, who.ngroups));
	ck_assert_uint_eq(wire_groups_list(who.groups), list->key.number);
	group_list_unpin(&mgr->auth->lists, list);
	return list->key.number;
}

/* A ticket of an earlier process, or with a removed list, names no list of another user. */
START_TEST(test_secret_numbers)
{
	const uint32_t forth[] = { 1, 2, 3 }, back[] = { 3, 2, 1 };
	struct mgr mgr, next;
	uint64_t number;

	mgr_begin(&mgr);
	mgr_begin(&next);
	number = named(&mgr, gid, 100);
	ck_assert_uint_eq(named(&mgr, gid, 100), number);
	ck_assert_uint_ne(named(&mgr, gid, 101), number);
	ck_assert_uint_ne(named(&next, gid, 100), number);
	/*
	 * each order of groups has its own permanent number, because a name service always returns
	 * the same order
	 */
	number = named(&mgr, back, 3);
	ck_assert_uint_eq(named(&mgr, forth, 3), named(&mgr, forth, 3));
	ck_assert_uint_eq(named(&mgr, back, 3), number);
	mgr_end(&next);
	mgr_end(&mgr);
}
END_TEST

#define SENT 7 /* number of the list that the session's HELLO names */

static void send_list(struct caller *caller)
{
	struct group_list *list;

	ck_assert_int_eq(group_lists_add(&caller->mgr->auth->lists,
					 &caller->lists, SENT, WIRE_GROUPS_ALL,
					 &list),
			 0);
	ck_assert_int_eq(group_list_put(list, 0, gid, WIRE_GROUPS_ALL), 0);
}

/* Adds a list that fills the room, except for one list of the largest size; pinned. */
static struct group_list *fill(struct group_lists *lists)
{
	const uint64_t n = GROUP_LISTS_MAX /
			   (WIRE_GROUPS_ALL + GROUP_LIST_COST);
	struct group_list *list = NULL;

	for (uint64_t i = 1; i < n; i++)
		ck_assert_int_eq(group_lists_take(lists, &lists->own, i, gid,
						  WIRE_GROUPS_ALL, &list),
				 0);
	return list;
}

/* The list that a session sent is not replaced by the copy that is made of it. */
START_TEST(test_no_room)
{
	struct rpc_cred cred = { .uid = 1001 };
	struct caller caller = { .id = 1 };
	struct group_list *pinned;
	struct comer *comer;
	struct rpc_req *req;
	struct mgr mgr;

	mgr_begin(&mgr);
	caller.mgr = &mgr;
	cred.ngroups = wire_groups_name(cred.groups, SENT);
	comer = comer_new(&cred, &caller);
	req = comer_req(comer);
	ck_assert_int_eq(session_groups_resolve(&mgr, req), -WIRE_ENOGROUPS);
	pinned = fill(&mgr.auth->lists);
	send_list(&caller);
	ck_assert_int_eq(session_groups_resolve(&mgr, req), -ENOMEM);
	ck_assert_ptr_null(caller.list);
	group_list_unpin(&mgr.auth->lists, pinned);
	ck_assert_int_eq(session_groups_resolve(&mgr, req), 0);
	ck_assert_uint_eq(caller.cred.ngroups, WIRE_GROUPS_ALL);
	ck_assert_mem_eq(caller.cred.groups, gid, sizeof(gid));
	session_groups_release(&caller);
	mgr_end(&mgr);
	free(comer);
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
	tcase_add_test(tc, test_secret_numbers);
	tcase_add_test(tc, test_no_room);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
