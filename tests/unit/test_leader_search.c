/* SPDX-License-Identifier: BSD-2-Clause */
/* test_leader_search.c - which of several managers is tried next. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/comm/call/leader_search.h"
#include "tests/run_suite.h"

#define TEN(x) x x x x x x x x x x
#define OTHER "pvfs://other:3000"

static struct leader_search s;
static struct addr list[WIRE_MGR_MAX];

static void init(unsigned int n)
{
	char uri[ADDR_STRLEN];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(uri, sizeof(uri), "tcp://mgr%u:300%u", i, i);
		ck_assert_int_eq(addr_parse(uri, 0, &list[i]), 0);
	}
	leader_search_init(&s, list, n);
}

static void setup(void)
{
	init(3);
}

static void take_name(const char *uri)
{
	leader_search_take_name(&s, uri, strlen(uri));
}

static bool is_next(int status)
{
	return leader_search_is_next(&s, status, false);
}

/* Refuses a whole round, after the first manager. */
static void refuse_all(unsigned int left)
{
	while (left--)
		ck_assert(is_next(-WIRE_ENOTLEADER));
	ck_assert(!is_next(-WIRE_ENOTLEADER));
	ck_assert(!s.searching);
}

START_TEST(each_once_in_their_order)
{
	unsigned int i;

	for (unsigned int round = 0; round < 3; round++) {
		leader_search_begin(&s);
		for (i = 0; i < 3; i++) {
			ck_assert(s.searching);
			ck_assert_str_eq(leader_search_chosen(&s)->host,
					 list[i].host);
			ck_assert(is_next(-ECONNREFUSED) == (i < 2));
		}
		ck_assert(!s.searching);
	}
	ck_assert_int_eq(s.status, -ECONNREFUSED);
	ck_assert(!s.is_final);
}
END_TEST

START_TEST(the_last_leader_comes_first)
{
	leader_search_begin(&s);
	is_next(-ECONNREFUSED);
	leader_search_found(&s, 1);
	leader_search_begin(&s);
	ck_assert_uint_eq(s.at, 1);
	ck_assert(is_next(-ECONNREFUSED));
	ck_assert_uint_eq(s.at, 0);
	ck_assert(is_next(-ECONNREFUSED));
	ck_assert_uint_eq(s.at, 2);
	ck_assert(!is_next(-ECONNREFUSED));
}
END_TEST

START_TEST(a_name_leads_there_at_once)
{
	leader_search_begin(&s);
	take_name("pvfs://MGR2:3002");
	ck_assert(is_next(-WIRE_ENOTLEADER));
	ck_assert_uint_eq(s.at, 2);
	ck_assert_str_eq(leader_search_chosen(&s)->scheme, "tcp");
	leader_search_found(&s, 1);
	leader_search_begin(&s);
	ck_assert_uint_eq(s.at, 2);
}
END_TEST

/* The named manager is the first of the next round. */
START_TEST(no_name_leads_back_in_a_round)
{
	leader_search_begin(&s);
	take_name("pvfs://mgr1:3001");
	ck_assert(is_next(-WIRE_ENOTLEADER));
	take_name("pvfs://mgr0:3000");
	ck_assert(is_next(-WIRE_ENOTLEADER));
	ck_assert_uint_eq(s.at, 2);
	take_name("pvfs://mgr1:3001");
	ck_assert(!is_next(-WIRE_ENOTLEADER));
	leader_search_begin(&s);
	ck_assert_uint_eq(s.at, 1);
	refuse_all(2);
}
END_TEST

/* The leader may be missing in the client's list. */
START_TEST(a_new_name_is_tried_too)
{
	init(1);
	ck_assert(!leader_search_has_choice(&s));
	leader_search_begin(&s);
	take_name(OTHER);
	ck_assert(leader_search_has_choice(&s));
	ck_assert(is_next(-WIRE_ENOTLEADER));
	ck_assert_str_eq(leader_search_chosen(&s)->host, "other");
	ck_assert_str_eq(leader_search_chosen(&s)->scheme, "tcp");
	/* managers that invent names get one attempt in a round */
	take_name("pvfs://third:3000");
	ck_assert(!is_next(-WIRE_ENOTLEADER));
	leader_search_begin(&s);
	ck_assert_str_eq(leader_search_chosen(&s)->host, "third");
	ck_assert(is_next(-ECONNREFUSED));
	ck_assert_str_eq(leader_search_chosen(&s)->host, "mgr0");
	ck_assert(!is_next(-ECONNREFUSED));
}
END_TEST

START_TEST(only_names_of_the_last_one_count)
{
	leader_search_begin(&s);
	take_name("pvfs://mgr2:3002");
	take_name(OTHER);
	ck_assert(is_next(-WIRE_ENOTLEADER));
	ck_assert_str_eq(leader_search_chosen(&s)->host, "other");
	refuse_all(2);
}
END_TEST

static const char *const useless[] = {
	"",
	"mgr2:3002",
	"pvfs://mgr2",
	"pvfs://mgr2:0",
	"pvfs://:3002",
	"pvfs://0.0.0.0:3000",
	"pvfs://[::]:3000",
	"pvfs://mgr2:3002/x",
	"pvfs://mgr2:3002 ",
	"pvfs://mgr2,mgr1:3002",
	"\xff\xfe",
	"pvfs://a" TEN("123456789.") ":3000",
};

START_TEST(useless_names_change_nothing)
{
	leader_search_begin(&s);
	take_name(useless[_i]);
	ck_assert(!s.has_named);
	ck_assert(is_next(-WIRE_ENOTLEADER));
	ck_assert_uint_eq(s.at, 1);
}
END_TEST

START_TEST(a_slow_one_is_last)
{
	leader_search_begin(&s);
	ck_assert(is_next(-ETIMEDOUT));
	refuse_all(1);
	leader_search_begin(&s);
	ck_assert_uint_eq(s.at, 1);
	ck_assert(is_next(-WIRE_ENOTLEADER));
	ck_assert_uint_eq(s.at, 2);
	ck_assert(is_next(-WIRE_ENOTLEADER));
	ck_assert_uint_eq(s.at, 0);
	ck_assert(!is_next(-EINPROGRESS));
	ck_assert_uint_eq(s.try_ms, LEADER_TRY_MS);
	leader_search_begin(&s);
	ck_assert_uint_eq(s.at, 1);
	/* except if it leads */
	take_name("pvfs://mgr0:3000");
	ck_assert(is_next(-WIRE_ENOTLEADER));
	ck_assert_uint_eq(s.at, 0);
}
END_TEST

START_TEST(a_slow_leader_gets_more_time)
{
	unsigned int ms = s.try_ms;

	for (int i = 0; i < 30; i++) {
		leader_search_begin(&s);
		while (s.at == 0 && is_next(-ETIMEDOUT))
			;
		take_name("pvfs://mgr0:3000");
		while (s.searching)
			is_next(s.at ? -WIRE_ENOTLEADER : -ETIMEDOUT);
		ck_assert_uint_ge(s.try_ms, ms);
		ms = s.try_ms;
	}
	ck_assert_uint_eq(ms, LEADER_TRY_MAX_MS);
	leader_search_begin(&s);
	leader_search_found(&s, 300);
	ck_assert_uint_eq(s.try_ms, 600);
	leader_search_found(&s, 100000);
	ck_assert_uint_eq(s.try_ms, LEADER_TRY_MAX_MS);
	leader_search_found(&s, 0);
	ck_assert_uint_eq(s.try_ms, LEADER_TRY_MS);
}
END_TEST

START_TEST(all_slow_get_more_time)
{
	leader_search_begin(&s);
	while (is_next(-ETIMEDOUT))
		;
	ck_assert_uint_gt(s.try_ms, LEADER_TRY_MS);
	leader_search_begin(&s);
	refuse_all(2);
	ck_assert_uint_eq(s.try_ms, LEADER_TRY_MS);
}
END_TEST

/* A permanent refusal counts only if all managers give it. */
START_TEST(one_that_may_come_back_is_hope)
{
	leader_search_begin(&s);
	ck_assert(leader_search_is_next(&s, -EKEYREJECTED, true));
	ck_assert(is_next(-ECONNREFUSED));
	ck_assert(!leader_search_is_next(&s, -ENXIO, true));
	ck_assert_int_eq(s.status, -ECONNREFUSED);
	ck_assert(!s.is_final);
	leader_search_begin(&s);
	for (int i = 0; i < 2; i++)
		ck_assert(leader_search_is_next(&s, -ENXIO, true));
	ck_assert(!leader_search_is_next(&s, -EKEYREJECTED, true));
	ck_assert_int_eq(s.status, -EKEYREJECTED);
	ck_assert(s.is_final);
}
END_TEST

/* It is tried neither in its place nor by its name. */
START_TEST(an_excluded_one_is_never_tried)
{
	ck_assert(leader_search_exclude(&s, &list[_i]));
	for (unsigned int round = 0; round < 3; round++) {
		char uri[ADDR_STRLEN];

		leader_search_begin(&s);
		ck_assert_ptr_ne(leader_search_chosen(&s), &s.mgr[_i]);
		take_name(addr_format(&list[_i], uri, sizeof(uri)));
		ck_assert(is_next(-ETIMEDOUT));
		ck_assert_ptr_ne(leader_search_chosen(&s), &s.mgr[_i]);
		ck_assert(!is_next(-ETIMEDOUT));
		ck_assert_uint_gt(s.try_ms, LEADER_TRY_MS);
	}
}
END_TEST

/* The order in which they are tried does not matter. */
START_TEST(one_that_runs_says_more_than_one_that_is_down)
{
	leader_search_begin(&s);
	for (int i = 0; i < 3; i++)
		ck_assert(is_next(i == _i ? -WIRE_ENOTLEADER : -ECONNREFUSED) ==
			  (i < 2));
	ck_assert_int_eq(s.status, -WIRE_ENOTLEADER);
	ck_assert(!s.is_final);
}
END_TEST

START_TEST(a_preferred_one_comes_first)
{
	struct addr other;

	leader_search_prefer(&s, &list[2]);
	leader_search_begin(&s);
	ck_assert_str_eq(leader_search_chosen(&s)->host, "mgr2");
	refuse_all(2);
	ck_assert_int_eq(addr_parse(OTHER, 0, &other), 0);
	leader_search_prefer(&s, &other);
	leader_search_begin(&s);
	ck_assert_str_eq(leader_search_chosen(&s)->host, "other");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("leader_search");
	TCase *tc = tcase_create("leader_search");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, each_once_in_their_order);
	tcase_add_test(tc, the_last_leader_comes_first);
	tcase_add_test(tc, a_name_leads_there_at_once);
	tcase_add_test(tc, no_name_leads_back_in_a_round);
	tcase_add_test(tc, a_new_name_is_tried_too);
	tcase_add_test(tc, only_names_of_the_last_one_count);
	tcase_add_loop_test(tc, useless_names_change_nothing, 0,
			    (int)(sizeof(useless) / sizeof(useless[0])));
	tcase_add_test(tc, a_slow_one_is_last);
	tcase_add_test(tc, a_slow_leader_gets_more_time);
	tcase_add_test(tc, all_slow_get_more_time);
	tcase_add_test(tc, one_that_may_come_back_is_hope);
	tcase_add_loop_test(tc, an_excluded_one_is_never_tried, 0, 3);
	tcase_add_loop_test(tc, one_that_runs_says_more_than_one_that_is_down,
			    0, 3);
	tcase_add_test(tc, a_preferred_one_comes_first);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
