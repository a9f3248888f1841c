/* SPDX-License-Identifier: BSD-2-Clause */
/* test_pool.c - units are shared out fairly and all come back. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "mock_tp.h"
#include "pool.h"

static struct tp_dev *dev;
static struct pool *pool;
static struct pool_owner a, b, c;

struct waiter {
	struct unit_wait wait;
	struct unit *unit;
	int turn; /* when it got it */
};
static int turns;

static void got(struct unit_wait *wait, struct unit *unit)
{
	struct waiter *w = (struct waiter *)wait;

	w->unit = unit;
	w->turn = ++turns;
}

static void setup(void)
{
	struct pool_attr attr = { .unit = 4096, .count = 4, .share = 3 };

	turns = 0;
	ck_assert_int_eq(tp_dev_open("mock", NULL, &dev), 0);
	attr.dev = dev;
	ck_assert_int_eq(pool_open(&attr, &pool), 0);
	pool_owner_init(&a);
	pool_owner_init(&b);
	pool_owner_init(&c);
}

static void teardown(void)
{
	struct pool_stats stats;

	pool_stats(pool, &stats);
	ck_assert_uint_eq(stats.in_use, 0);
	ck_assert_uint_eq(a.held + b.held + c.held, 0);
	pool_close(pool);
	tp_dev_close(dev);
}

static void ask(struct waiter *w, struct pool_owner *owner)
{
	*w = (struct waiter){ .wait.ready = got };
	w->unit = unit_get_wait(pool, owner, &w->wait);
}

START_TEST(units_are_apart)
{
	struct unit *u[4] = { unit_get(pool, &a), unit_get(pool, &a),
			      unit_get(pool, &b), unit_get(pool, &b) };
	int i, j;

	for (i = 0; i < 4; i++) {
		ck_assert_ptr_nonnull(u[i]);
		ck_assert_uint_eq(u[i]->len, 4096);
		for (j = 0; j < i; j++)
			ck_assert_int_ge(labs((char *)u[i]->addr -
					      (char *)u[j]->addr),
					 4096);
	}
	ck_assert_ptr_null(unit_get(pool, &c));
	for (i = 0; i < 4; i++)
		unit_put(pool, u[i]);
}
END_TEST

START_TEST(a_share_is_the_most)
{
	struct unit *u[3];
	struct waiter w[2];
	int i;

	for (i = 0; i < 3; i++)
		u[i] = unit_get(pool, &a);
	ck_assert_ptr_null(unit_get(pool, &a));
	for (i = 0; i < 2; i++) {
		ask(&w[i], &a);
		ck_assert_ptr_null(w[i].unit);
	}
	unit_put(pool, u[0]);
	ck_assert_int_eq(turns, 1);
	unit_put(pool, u[1]);
	ck_assert_int_eq(turns, 2);
	unit_put(pool, u[2]);
	unit_put(pool, w[0].unit);
	unit_put(pool, w[1].unit);
}
END_TEST

/* One owner asks for much first; the others get every second one. */
START_TEST(owners_take_turns)
{
	struct unit *u[4];
	struct waiter wa[3], wb[2], wc;
	int i;

	for (i = 0; i < 4; i++)
		u[i] = unit_get(pool, i ? &c : &b);
	for (i = 0; i < 3; i++)
		ask(&wa[i], &a);
	ask(&wb[0], &b);
	ask(&wb[1], &b);
	ask(&wc, &c);
	for (i = 0; i < 4; i++)
		unit_put(pool, u[i]);
	ck_assert_int_eq(wa[0].turn, 1);
	ck_assert_int_eq(wb[0].turn, 2);
	ck_assert_int_eq(wa[1].turn, 3);
	ck_assert_int_eq(wc.turn, 4);
	unit_put(pool, wa[0].unit);
	unit_put(pool, wb[0].unit);
	ck_assert_int_eq(wb[1].turn, 5);
	ck_assert_int_eq(wa[2].turn, 6);
	unit_put(pool, wa[1].unit);
	unit_put(pool, wa[2].unit);
	unit_put(pool, wb[1].unit);
	unit_put(pool, wc.unit);
}
END_TEST

START_TEST(a_wait_can_be_given_up)
{
	struct unit *u[4];
	struct waiter w1, w2;
	int i;

	for (i = 0; i < 4; i++)
		u[i] = unit_get(pool, i < 2 ? &a : &b);
	ask(&w1, &c);
	ask(&w2, &c);
	unit_wait_cancel(pool, &w1.wait);
	unit_wait_cancel(pool, &w1.wait);
	unit_put(pool, u[0]);
	ck_assert_ptr_null(w1.unit);
	ck_assert_ptr_nonnull(w2.unit);
	unit_wait_cancel(pool, &w2.wait);
	unit_put(pool, w2.unit);
	for (i = 1; i < 4; i++)
		unit_put(pool, u[i]);
}
END_TEST

static void put_at_once(struct unit_wait *wait, struct unit *unit)
{
	turns++;
	unit_put(pool, unit);
}

/* A long queue that gives back from ready() does not deepen the stack. */
START_TEST(ready_may_put)
{
	static struct waiter w[1000];
	struct unit *u[4];
	int i;

	for (i = 0; i < 4; i++)
		u[i] = unit_get(pool, i < 2 ? &a : &b);
	for (i = 0; i < 1000; i++) {
		w[i] = (struct waiter){ .wait.ready = put_at_once };
		unit_get_wait(pool, i % 2 ? &a : &c, &w[i].wait);
	}
	unit_put(pool, u[0]);
	ck_assert_int_eq(turns, 1000);
	for (i = 1; i < 4; i++)
		unit_put(pool, u[i]);
}
END_TEST

START_TEST(wrong_sizes)
{
	struct pool_attr attr = { .dev = dev, .unit = 100, .count = 1 };
	struct pool *p;

	ck_assert_int_eq(pool_open(&attr, &p), -EINVAL);
	attr.unit = 4096;
	attr.count = 0;
	ck_assert_int_eq(pool_open(&attr, &p), -EINVAL);
	attr.unit = (size_t)1 << 60;
	attr.count = 16;
	ck_assert_int_eq(pool_open(&attr, &p), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pool");
	TCase *tc = tcase_create("pool");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, units_are_apart);
	tcase_add_test(tc, a_share_is_the_most);
	tcase_add_test(tc, owners_take_turns);
	tcase_add_test(tc, a_wait_can_be_given_up);
	tcase_add_test(tc, ready_may_put);
	tcase_add_test(tc, wrong_sizes);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
