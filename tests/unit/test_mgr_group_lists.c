/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_group_lists.c - lists of groups: their parts, and which ones are replaced by others. */
#include <errno.h>
#include <string.h>

#include "mgr/request/group_lists.h"
#include "tests/run_suite.h"
#include "common/wire/wire.h"

static struct group_lists lists;
static struct group_owner a, b;
static uint32_t gid[WIRE_GROUPS_ALL + 1];

static void setup(void)
{
	memset(&lists, 0, sizeof(lists));
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	for (uint32_t i = 0; i <= WIRE_GROUPS_ALL; i++)
		gid[i] = 10 * i;
}

static void teardown(void)
{
	group_lists_free(&lists);
}

static struct group_list *add(struct group_owner *owner, uint64_t number,
			      uint32_t total)
{
	struct group_list *list = NULL;

	ck_assert_int_eq(group_lists_add(&lists, owner, number, total, &list),
			 0);
	return list;
}

START_TEST(test_parts)
{
	struct group_list *list = add(&a, 7, 100);

	ck_assert(!group_list_whole(list));
	ck_assert_int_eq(group_list_put(list, 60, gid + 60, 40), -EAGAIN);
	ck_assert_int_eq(group_list_put(list, 0, gid, 60), 0);
	ck_assert_int_eq(group_list_put(list, 61, gid + 61, 1), -EAGAIN);
	/* two threads of the client send the same list at once */
	ck_assert_int_eq(group_list_put(list, 0, gid, 60), 0);
	ck_assert_int_eq(group_list_put(list, 60, gid + 60, 41), -EINVAL);
	ck_assert_int_eq(group_list_put(list, 60, gid, 40), -EINVAL);
	ck_assert(!group_list_whole(list));
	ck_assert_int_eq(group_list_put(list, 60, gid + 60, 40), 0);
	ck_assert(group_list_whole(list));
	ck_assert_int_eq(group_list_put(list, 60, gid + 61, 39), 0);
	ck_assert_mem_eq(list->gid, gid, 100 * sizeof(gid[0]));
	ck_assert_ptr_eq(group_lists_find(&lists, &a, 7), list);
	ck_assert_ptr_null(group_lists_find(&lists, &b, 7));
	ck_assert_ptr_null(group_lists_find(&lists, &a, 8));
}
END_TEST

START_TEST(test_sizes)
{
	struct group_list *list;

	add(&a, 1, WIRE_GROUPS_ALL);
	ck_assert_int_eq(group_lists_add(&lists, &a, 1, 5, &list), -EEXIST);
	ck_assert_int_eq(group_lists_add(&lists, &a, 2, WIRE_GROUPS_ALL + 1,
					 &list),
			 -EINVAL);
	ck_assert_int_eq(group_lists_add(&lists, &a, 2, UINT32_MAX, &list),
			 -EINVAL);
}
END_TEST

/* New lists of a session replace its own old ones; those of other sessions stay. */
START_TEST(test_of_one)
{
	const uint64_t n = GROUP_OWNER_MAX /
			   (WIRE_GROUPS_ALL + GROUP_LIST_COST);

	add(&b, 1, 100);
	for (uint64_t i = 1; i <= n; i++)
		add(&a, i, WIRE_GROUPS_ALL);
	ck_assert_ptr_nonnull(group_lists_find(&lists, &a, 1)); /* used */
	add(&a, n + 1, WIRE_GROUPS_ALL);
	ck_assert_ptr_nonnull(group_lists_find(&lists, &a, 1));
	ck_assert_ptr_null(group_lists_find(&lists, &a, 2));
	ck_assert_ptr_nonnull(group_lists_find(&lists, &b, 1));
	ck_assert_uint_le(a.cost, GROUP_OWNER_MAX);
	group_lists_forget(&lists, &a);
	ck_assert_uint_eq(a.cost, 0);
	ck_assert_uint_eq(lists.all.cost, b.cost);
}
END_TEST

/* Pinned lists stay; if all are pinned, no list is added. */
START_TEST(test_of_all)
{
	const uint64_t n = GROUP_LISTS_MAX /
			   (WIRE_GROUPS_ALL + GROUP_LIST_COST);
	struct group_list *list, *first = NULL;

	for (uint64_t i = 1; i <= n; i++) {
		ck_assert_int_eq(group_lists_take(&lists, &lists.own, i, gid,
						  WIRE_GROUPS_ALL, &list),
				 0);
		first = first ?: list;
	}
	ck_assert_int_eq(group_lists_add(&lists, &a, 1, WIRE_GROUPS_ALL, &list),
			 -ENOMEM);
	group_list_unpin(&lists, first);
	add(&a, 1, WIRE_GROUPS_ALL);
	ck_assert_ptr_null(group_lists_find(&lists, &lists.own, 1));
	ck_assert_ptr_nonnull(group_lists_find(&lists, &lists.own, 2));
	ck_assert_uint_le(lists.all.cost, GROUP_LISTS_MAX);
}
END_TEST

START_TEST(test_sorted)
{
	const uint32_t given[] = { 9, 0, UINT32_MAX, 7, 7 };
	const uint32_t sorted[] = { 0, 7, 7, 9, UINT32_MAX };
	struct group_list *list;

	ck_assert_int_eq(group_lists_take(&lists, &a, 1, given, 5, &list), 0);
	ck_assert(group_list_whole(list));
	ck_assert_mem_eq(list->gid, sorted, sizeof(sorted));
	group_list_unpin(&lists, list);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_group_lists");
	TCase *tc = tcase_create("mgr_group_lists");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_parts);
	tcase_add_test(tc, test_sizes);
	tcase_add_test(tc, test_of_one);
	tcase_add_test(tc, test_of_all);
	tcase_add_test(tc, test_sorted);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
