/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_zone.c - examples: the choice of a buffer by size, fair shares, and that all buffers return.
 * test_zone_model.c makes random calls against a model.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/mock_tp.h"
#include "tests/run_suite.h"
#include "common/buffer/zone.h"

#define K 1024u

static struct tp_dev *dev;
static struct zones *zones;
static struct zone_owner a, b, c, other[3];

struct waiter {
	struct zone_wait wait;
	struct zone_buf *buf;
	int turn; /* its place in the order of grants */
};
static int turns;

static void got(struct zone_wait *wait, struct zone_buf *buf)
{
	struct waiter *w = (struct waiter *)wait;

	w->buf = buf;
	w->turn = ++turns;
}

static void open_zones(struct zones_attr attr)
{
	turns = 0;
	ck_assert_int_eq(tp_dev_open("mock", NULL, &dev), 0);
	attr.rails = &(struct rails){ .dev = { dev }, .n = 1 };
	ck_assert_int_eq(zones_open(&attr, &zones), 0);
	zone_owner_init(&a);
	zone_owner_init(&b);
	zone_owner_init(&c);
	for (unsigned int i = 0; i < 3; i++)
		zone_owner_init(&other[i]);
}

#define FLAT 6u

/*
 * Buffers of one size: one owner gets half of them, two get a third each, and three get all of
 * them.
 */
static void setup_flat(void)
{
	open_zones((struct zones_attr){ .n = 1, .zone = { { 4096, FLAT } } });
}

static void setup_three(void)
{
	open_zones((struct zones_attr){
		.n = 3,
		.zone = { { 64 * K, 4 }, { 128 * K, 2 }, { 256 * K, 8 } } });
}

static void teardown(void)
{
	struct zones_stats stats;
	unsigned int i;

	zones_stats(zones, &stats);
	for (i = 0; i < stats.n; i++)
		ck_assert_uint_eq(stats.zone[i].in_use, 0);
	ck_assert_uint_eq(a.held + b.held + c.held, 0);
	ck_assert_uint_eq(other[0].held + other[1].held + other[2].held, 0);
	zones_close(zones);
	tp_dev_close(dev);
}

static struct zone_buf *take(struct zone_owner *owner, size_t want)
{
	struct zone_wait none = { 0 };
	struct zone_buf *buf = zone_get_wait(zones, owner, want, &none);

	ck_assert_ptr_nonnull(buf);
	return buf;
}

static void ask(struct waiter *w, struct zone_owner *owner)
{
	*w = (struct waiter){ .wait.ready = got };
	w->buf = zone_get_wait(zones, owner, 1, &w->wait);
}

/* ---- sizes ---- */

START_TEST(the_zone_that_fits)
{
	static const struct {
		size_t want, len;
	} cases[] = {
		{ 1, 64 * K },
		{ 64 * K, 64 * K },
		{ 64 * K + 1, 128 * K },
		{ 128 * K, 128 * K },
		{ 129 * K, 256 * K },
		{ 256 * K, 256 * K },
		{ 256 * K + 1, 256 * K },
		{ 1 << 30, 256 * K },
	};
	struct zones_stats stats;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct zone_buf *buf = take(&a, cases[i].want);

		ck_assert_uint_eq(buf->len, cases[i].len);
		zone_put(zones, buf);
	}
	zones_stats(zones, &stats);
	ck_assert_uint_eq(stats.bigger + stats.chopped + stats.waits, 0);
	ck_assert_uint_eq(stats.gets, 8);
}
END_TEST

START_TEST(then_a_bigger_one_then_a_smaller)
{
	struct zone_owner owner[14]; /* each owner has one buffer */
	struct zone_buf *buf[14];
	struct zones_stats stats;
	struct waiter none;
	int i;

	for (i = 0; i < 14; i++) {
		zone_owner_init(&owner[i]);
		buf[i] = take(&owner[i], 100 * K);
		ck_assert_uint_eq(buf[i]->len, (i < 2	 ? 128
						: i < 10 ? 256
							 : 64) *
						       K);
	}
	ask(&none, &c);
	ck_assert_ptr_null(none.buf);
	zone_wait_cancel(zones, &none.wait);
	zones_stats(zones, &stats);
	ck_assert_uint_eq(stats.bigger, 8);
	ck_assert_uint_eq(stats.chopped, 4);
	while (i-- > 0)
		zone_put(zones, buf[i]);
	zones_stats(zones, &stats);
	ck_assert_uint_eq(stats.zone[2].most, 8);
}
END_TEST

START_TEST(the_hot_one_first)
{
	struct zone_buf *first = take(&a, 1), *second = take(&a, 1), *hot;

	zone_put(zones, first);
	zone_put(zones, second);
	hot = take(&b, 1);
	ck_assert_ptr_eq(hot, second);
	zone_put(zones, hot);
}
END_TEST

START_TEST(wrong_sizes)
{
	static const struct zones_attr attr[] = {
		{ .n = 0 },
		{ .n = 1, .zone = { { 100, 1 } } },
		{ .n = 1, .zone = { { 4096, 0 } } },
		{ .n = 1, .zone = { { 0, 1 } } },
		{ .n = 2, .zone = { { 8192, 1 }, { 4096, 1 } } },
		{ .n = 2, .zone = { { 8192, 1 }, { 8192, 1 } } },
		{ .n = 1, .zone = { { (size_t)1 << 60, 16 } } },
		{ .n = ZONES_MAX + 1, .zone = { { 4096, 1 } } },
	};
	struct zones *zs;
	unsigned int i;

	for (i = 0; i < sizeof(attr) / sizeof(attr[0]); i++)
		ck_assert_int_eq(zones_open(&attr[i], &zs), -EINVAL);
}
END_TEST

/* ---- shares ---- */

START_TEST(half_is_the_most)
{
	struct zone_buf *buf[3] = { take(&a, 1), take(&a, 1), take(&a, 1) };
	struct waiter w[2];

	ask(&w[0], &a);
	ask(&w[1], &a);
	ck_assert(!w[0].buf && !w[1].buf);
	zone_put(zones, take(&b, 1));
	ck_assert_int_eq(turns, 0);
	zone_put(zones, buf[0]);
	ck_assert_int_eq(w[0].turn, 1);
	zone_put(zones, buf[1]);
	ck_assert_int_eq(w[1].turn, 2);
	zone_put(zones, buf[2]);
	zone_put(zones, w[0].buf);
	zone_put(zones, w[1].buf);
}
END_TEST

/* Owners that take turns leave some buffers for the next one. */
START_TEST(there_is_some_for_the_next)
{
	struct zone_owner *first[2] = { &a, &b };
	struct waiter w[2][FLAT], next;
	struct zones_stats stats;
	unsigned int i, k;

	for (k = 0; k < FLAT; k++)
		for (i = 0; i < 2; i++)
			ask(&w[i][k], first[i]);
	zones_stats(zones, &stats);
	ck_assert_uint_lt(stats.zone[0].in_use, FLAT);
	ask(&next, &c);
	ck_assert_ptr_nonnull(next.buf);
	zone_put(zones, next.buf);
	for (k = FLAT; k-- > 0;)
		for (i = 0; i < 2; i++)
			zone_wait_cancel(zones, &w[i][k].wait);
	for (k = 0; k < FLAT; k++)
		for (i = 0; i < 2; i++)
			if (w[i][k].buf)
				zone_put(zones, w[i][k].buf);
}
END_TEST

/* Leaves no buffer: three other owners have as many as they can have together. */
static void take_all(struct zone_buf *buf[FLAT])
{
	static const unsigned int has[] = { 0, 0, 0, 1, 1, 2 };

	for (unsigned int i = 0; i < FLAT; i++)
		buf[i] = take(&other[has[i]], 1);
}

/* One owner asks for many buffers first; the others get theirs before its second one. */
START_TEST(owners_take_turns)
{
	struct zone_buf *buf[FLAT];
	struct waiter wa[3], wb[2], wc;
	unsigned int i;

	take_all(buf);
	for (i = 0; i < 3; i++)
		ask(&wa[i], &a);
	ask(&wb[0], &b);
	ask(&wb[1], &b);
	ask(&wc, &c);
	for (i = 0; i < 3; i++)
		zone_put(zones, buf[i]);
	ck_assert_int_eq(wa[0].turn, 1);
	ck_assert_int_eq(wb[0].turn, 2);
	ck_assert_int_eq(wc.turn, 3);
	zone_put(zones, buf[3]); /* stays free for the next one */
	ck_assert_int_eq(turns, 3);
	zone_put(zones, buf[4]);
	ck_assert_int_eq(wa[1].turn, 4);
	zone_put(zones, buf[5]);
	ck_assert_int_eq(wb[1].turn, 5);
	zone_put(zones, wa[0].buf);
	ck_assert_int_eq(wa[2].turn, 6);
	zone_put(zones, wa[1].buf);
	zone_put(zones, wa[2].buf);
	zone_put(zones, wb[0].buf);
	zone_put(zones, wb[1].buf);
	zone_put(zones, wc.buf);
}
END_TEST

START_TEST(a_wait_can_be_given_up)
{
	struct zone_buf *buf[FLAT];
	struct waiter w1, w2;
	unsigned int i;

	take_all(buf);
	ask(&w1, &c);
	ask(&w2, &c);
	zone_wait_cancel(zones, &w1.wait);
	zone_wait_cancel(zones, &w1.wait);
	zone_put(zones, buf[0]);
	ck_assert_ptr_null(w1.buf);
	ck_assert_ptr_nonnull(w2.buf);
	zone_wait_cancel(zones, &w2.wait);
	zone_put(zones, w2.buf);
	for (i = 1; i < FLAT; i++)
		zone_put(zones, buf[i]);
}
END_TEST

static void put_at_once(struct zone_wait *wait, struct zone_buf *buf)
{
	turns++;
	zone_put(zones, buf);
}

/* A long queue whose ready() returns buffers does not deepen the stack. */
START_TEST(ready_may_put)
{
	static struct waiter w[1000];
	struct zone_buf *buf[FLAT];
	unsigned int i;

	take_all(buf);
	for (i = 0; i < 1000; i++) {
		w[i] = (struct waiter){ .wait.ready = put_at_once };
		zone_get_wait(zones, i % 2 ? &a : &c, 1, &w[i].wait);
	}
	for (i = 0; i < FLAT; i++)
		zone_put(zones, buf[i]);
	ck_assert_int_eq(turns, 1000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("zone");
	TCase *flat = tcase_create("shares"), *three = tcase_create("sizes");

	tcase_add_checked_fixture(three, setup_three, teardown);
	tcase_add_test(three, the_zone_that_fits);
	tcase_add_test(three, then_a_bigger_one_then_a_smaller);
	tcase_add_test(three, the_hot_one_first);
	tcase_add_test(three, wrong_sizes);
	tcase_add_checked_fixture(flat, setup_flat, teardown);
	tcase_add_test(flat, half_is_the_most);
	tcase_add_test(flat, there_is_some_for_the_next);
	tcase_add_test(flat, owners_take_turns);
	tcase_add_test(flat, a_wait_can_be_given_up);
	tcase_add_test(flat, ready_may_put);
	suite_add_tcase(s, three);
	suite_add_tcase(s, flat);
	return run_suite(s);
}
