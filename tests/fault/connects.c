/* SPDX-License-Identifier: BSD-2-Clause */
/* connects.c - connections that are rejected, late, or never accepted. */
#include <errno.h>
#include <stdio.h>

#include "tests/fault/faults.h"

static struct link *connecting(uint64_t ms)
{
	struct link *l = link_idle(&world, NULL);

	ck_ok(tp_connect(l->a, &world.addr, "hello", 5, clock_after_ms(ms)));
	return l;
}

/* The rules no longer match: the next connection succeeds. */
static void expect_next(void)
{
	link_works(&world, link_open(&world, NULL));
}

static void accept_req(struct link *l, struct tp_conn_req *req)
{
	ck_ok(tp_accept(l->b, req, NULL, 0));
	expect_ev(&world, &world.a, l->a, TP_EV_ESTABLISHED);
	expect_ev(&world, &world.b, l->b, TP_EV_ESTABLISHED);
	link_works(&world, l);
}

static void accept_it(struct link *l)
{
	struct tp_conn_req *req = expect_req(&world);
	unsigned int len;

	ck_assert_mem_eq(tp_req_private(req, &len), "hello", 5);
	ck_assert_uint_eq(len, 5);
	accept_req(l, req);
}

/* Requests that were posted before are flushed, too. */
START_TEST(refuse_connect)
{
	struct link *l = link_idle(&world, NULL);

	rules_a("connect:refuse");
	post_receive(l->a, &world.a, 1);
	ck_ok(tp_connect(l->a, &world.addr, NULL, 0,
			 clock_after_ms(PATIENCE_MS)));
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -ECONNREFUSED);
	expect_wc(&world, &world.a, l->a, 1, TP_RECV, -ECANCELED);
	expect_next();
}
END_TEST

START_TEST(refuse_accept)
{
	struct link *l;

	rules_b("accept:refuse");
	l = connecting(PATIENCE_MS);
	ck_assert_uint_eq(
		expect_ev(&world, &world.a, l->a, TP_EV_REJECTED).priv_len, 0);
	expect_next();
}
END_TEST

START_TEST(drop_connect)
{
	uint64_t from = clock_now();
	struct link *l;

	rules_a("connect:drop");
	l = connecting(100);
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -ETIMEDOUT);
	ck_assert_uint_ge(clock_now(), from + 100 * CLOCK_NS_PER_MS);
	expect_next();
}
END_TEST

/* On a busy machine, a connect may be over before its request arrives. */
START_TEST(drop_accept)
{
	uint64_t ms = 100;
	struct link *l;

	rules_b("accept:drop");
	for (; fault_hits(world.b.dev, 1) == 0; ms *= 2) {
		ck_assert_uint_lt(ms, PATIENCE_MS);
		l = connecting(ms);
		ck_assert_int_eq(expect_gone(&world, &world.a, l->a),
				 -ETIMEDOUT);
	}
	expect_next();
	ck_assert_uint_eq(fault_hits(world.b.dev, 1), 1);
}
END_TEST

START_TEST(delay_connect)
{
	uint64_t from = clock_now();
	struct link *l;

	rules_a("connect:delay:ms=100");
	l = connecting(PATIENCE_MS);
	accept_it(l);
	ck_assert_uint_ge(clock_now(), from + 100 * CLOCK_NS_PER_MS);
}
END_TEST

/* A connect after its deadline never succeeds. */
START_TEST(delay_connect_too_long)
{
	struct link *l;

	rules_a("connect:delay:ms=60000");
	l = connecting(50);
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -ETIMEDOUT);
	expect_next();
}
END_TEST

/* Returns whether a request overtakes one that is delayed by ms. */
static bool overtakes(unsigned int ms)
{
	uint64_t from = clock_now(), give_up = clock_after_ms(PATIENCE_MS);
	struct link *l, *next = link_idle(&world, NULL);
	struct tp_conn_req *first;
	unsigned int len;
	char rule[40];

	snprintf(rule, sizeof(rule), "accept:delay:ms=%u", ms);
	rules_b(rule);
	l = connecting(PATIENCE_MS);
	while (fault_hits(world.b.dev, 1) == 0) {
		ck_assert_uint_lt(clock_now(), give_up);
		world_pump(&world);
	}
	ck_ok(tp_connect(next->a, &world.addr, NULL, 0, give_up));
	first = expect_req(&world);
	tp_req_private(first, &len);
	if (len == 0) {
		accept_req(next, first);
		accept_it(l);
	} else {
		accept_req(l, first);
		accept_req(next, expect_req(&world));
	}
	ck_assert_uint_ge(clock_now(), from + ms * CLOCK_NS_PER_MS);
	return len == 0;
}

/* A busy machine may need longer to establish a connection. */
START_TEST(delay_accept)
{
	unsigned int ms = 150;

	while (!overtakes(ms)) {
		ms *= 2;
		ck_assert_uint_lt(ms, PATIENCE_MS);
	}
}
END_TEST

START_TEST(stall_accept)
{
	uint64_t from = clock_now();
	struct link *l;

	rules_b("accept:stall:ms=100");
	l = connecting(PATIENCE_MS);
	accept_it(l);
	ck_assert_uint_ge(clock_now(), from + 100 * CLOCK_NS_PER_MS);
}
END_TEST

START_TEST(stall_connect)
{
	struct link *l;

	rules_a("connect:stall:ms=50");
	l = connecting(PATIENCE_MS);
	accept_it(l);
}
END_TEST

/* Requests that wait in the wrapper are dropped with the listener. */
START_TEST(unlisten_waiting)
{
	struct link *l, *l2;
	int i;

	rules_b("accept:delay:ms=60000;accept:drop");
	l = connecting(PATIENCE_MS);
	for (i = 0; i < 5; i++)
		world_pump(&world);
	l2 = connecting(PATIENCE_MS);
	while (fault_hits(world.b.dev, 2) < 1)
		world_pump(&world);
	tp_unlisten(world.listener);
	world.listener = NULL;
	ck_assert_int_ne(world_ev(&world, &world.a, l->a).type,
			 TP_EV_ESTABLISHED);
	ck_assert_int_ne(world_ev(&world, &world.a, l2->a).type,
			 TP_EV_ESTABLISHED);
}
END_TEST

START_TEST(close_while_put_off)
{
	struct link *l;

	rules_a("connect:delay:ms=60000");
	l = connecting(PATIENCE_MS);
	link_close(l);
	expect_next();
}
END_TEST

TCase *case_connects(void)
{
	TCase *tc = world_case("connects");

	tcase_add_test(tc, refuse_connect);
	tcase_add_test(tc, refuse_accept);
	tcase_add_test(tc, drop_connect);
	tcase_add_test(tc, drop_accept);
	tcase_add_test(tc, delay_connect);
	tcase_add_test(tc, delay_connect_too_long);
	tcase_add_test(tc, delay_accept);
	tcase_add_test(tc, stall_accept);
	tcase_add_test(tc, stall_connect);
	tcase_add_test(tc, unlisten_waiting);
	tcase_add_test(tc, close_while_put_off);
	return tc;
}
