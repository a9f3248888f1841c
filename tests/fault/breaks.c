/* SPDX-License-Identifier: BSD-2-Clause */
/* breaks.c - the rules RESET and VANISH: connections that end. */
#include <errno.h>
#include <string.h>

#include "tests/fault/faults.h"

/* Checks that nothing can be posted on ep any more. */
static void expect_dead(struct tp_ep *ep, struct side *s)
{
	struct mem *m = mem_new(s, MSG, TP_LOCAL_WRITE);
	struct tp_sge sge = sge_of(m, 0, MSG);
	struct tp_send_wr wr = wr_send(1, &sge);
	struct tp_recv_wr rwr = { 1, sge };

	ck_assert_int_eq(tp_post_send(ep, &wr), -ENOTCONN);
	ck_assert_int_eq(tp_post_recv(ep, &rwr), -ENOTCONN);
	ck_assert_ptr_nonnull(strstr(tp_ep_peer(ep), "127.0.0.1"));
}

/* The fourth message finds the connection broken. */
START_TEST(reset_send)
{
	struct link *l = link_open(&world, NULL);
	struct link *other = link_open(&world, NULL);
	int i;

	post_receive(l->a, &world.a, 50);
	for (i = 0; i < 6; i++)
		post_receive(l->b, &world.b, i);
	rules_a("send:reset:after=3");
	for (i = 0; i < 3; i++) {
		post_message(l->a, &world.a, i, i);
		expect_wc(&world, &world.a, l->a, i, TP_SEND, 0);
		expect_wc(&world, &world.b, l->b, i, TP_RECV, 0);
	}
	post_message(l->a, &world.a, 3, 3); /* accepted, as on a real network */
	expect_dead(l->a, &world.a);
	expect_wc(&world, &world.a, l->a, 3, TP_SEND, -ECONNRESET);
	expect_wc(&world, &world.a, l->a, 50, TP_RECV, -ECANCELED);
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -ECONNRESET);
	for (i = 3; i < 6; i++)
		expect_wc(&world, &world.b, l->b, i, TP_RECV, -ECANCELED);
	expect_gone(&world, &world.b, l->b);
	link_works(&world, other);
	expect_silence(&world.a, l->a);
	expect_silence(&world.b, l->b);
	ck_assert_uint_eq(fault_hits(world.a.dev, 1), 1);
}
END_TEST

/* The rule hits the middle of a chain: every request of it completes once. */
START_TEST(reset_chain)
{
	struct link *l = link_open(&world, NULL);
	struct mem *m = mem_new(&world.a, MSG, ALL);
	struct mem *there = mem_new(&world.b, MSG, ALL);
	struct tp_sge sge = sge_of(m, 0, MSG);
	struct tp_send_wr wr[5];
	int i;

	for (i = 0; i < 5; i++) {
		wr[i] = wr_rdma(TP_READ, i, &sge, there, 0);
		wr[i].flags = i == 4 ? TP_SIGNALED : 0;
		wr[i].next = i < 4 ? &wr[i + 1] : NULL;
	}
	rules_a("read:reset:after=2");
	ck_ok(tp_post_send(l->a, wr));
	for (i = 0; i < 5; i++)
		expect_wc(&world, &world.a, l->a, i, TP_READ,
			  i ? -ECANCELED : -ECONNRESET);
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -ECONNRESET);
	expect_silence(&world.a, l->a);
}
END_TEST

/* The connection breaks when the message arrives, which is not reported. */
START_TEST(reset_received)
{
	struct link *l = link_open(&world, NULL);
	int i;

	for (i = 0; i < 4; i++)
		post_receive(l->b, &world.b, i);
	rules_b("recv:reset:after=1");
	post_message(l->a, &world.a, 1, 1);
	expect_wc(&world, &world.b, l->b, 0, TP_RECV, 0);
	post_message(l->a, &world.a, 2, 2);
	for (i = 1; i < 4; i++)
		expect_wc(&world, &world.b, l->b, i, TP_RECV, -ECANCELED);
	ck_assert_int_eq(expect_gone(&world, &world.b, l->b), -ECONNRESET);
	expect_gone(&world, &world.a, l->a);
}
END_TEST

/* An endpoint that a rule has broken is closed, without a poll before. */
START_TEST(close_after_reset)
{
	struct link *l = link_open(&world, NULL);
	struct tp_ep *gone = l->a;

	post_receive(l->a, &world.a, 1);
	rules_a("send:reset");
	post_message(l->a, &world.a, 1, 1);
	tp_ep_close(l->a);
	l->a = NULL;
	expect_gone(&world, &world.b, l->b);
	link_works(&world, link_open(&world, NULL));
	expect_silence(&world.a, gone);
}
END_TEST

/* Silence in both directions, until the time is up. */
START_TEST(vanish)
{
	struct link *l = link_open(&world, NULL);
	struct link *other = link_open(&world, NULL);
	uint64_t give_up = clock_after_ms(PATIENCE_MS), from;
	struct tp_wc wc;
	int i;

	for (i = 0; i < 3; i++) {
		post_receive(l->a, &world.a, 50 + i);
		post_receive(l->b, &world.b, i);
	}
	rules_a("send:vanish:after=1:ms=200");
	post_message(l->a, &world.a, 0, 0);
	expect_wc(&world, &world.b, l->b, 0, TP_RECV, 0);
	expect_wc(&world, &world.a, l->a, 0, TP_SEND, 0);
	from = clock_now();
	post_message(l->a, &world.a, 1, 1);
	post_message(l->a, &world.a, 2, 2);
	post_message(l->b, &world.b, 9, 9); /* and it is not received */
	/* the clock of a is stopped */
	while (!side_find_wc(&world.b, l->b, &wc)) {
		ck_assert_uint_lt(clock_now(), give_up);
		side_pump(&world.b);
	}
	ck_assert_uint_eq(wc.wr_id, 9);
	ck_ok(wc.status);
	for (i = 0; i < 5; i++)
		link_works(&world, other);
	expect_wc(&world, &world.a, l->a, 1, TP_SEND, -ETIMEDOUT);
	ck_assert_uint_ge(clock_now(), from + 200 * CLOCK_NS_PER_MS);
	expect_wc(&world, &world.a, l->a, 2, TP_SEND, -ECANCELED);
	for (i = 0; i < 3; i++)
		expect_wc(&world, &world.a, l->a, 50 + i, TP_RECV, -ECANCELED);
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -ETIMEDOUT);
	for (i = 1; i < 3; i++)
		expect_wc(&world, &world.b, l->b, i, TP_RECV, -ECANCELED);
	expect_gone(&world, &world.b, l->b);
	expect_dead(l->a, &world.a);
}
END_TEST

START_TEST(vanish_received)
{
	struct link *l = link_open(&world, NULL);

	post_receive(l->b, &world.b, 1);
	rules_b("recv:vanish:ms=50");
	post_message(l->a, &world.a, 1, 1);
	expect_wc(&world, &world.b, l->b, 1, TP_RECV, -ECANCELED);
	ck_assert_int_eq(expect_gone(&world, &world.b, l->b), -ETIMEDOUT);
	expect_gone(&world, &world.a, l->a);
}
END_TEST

TCase *case_breaks(void)
{
	TCase *tc = world_case("breaks");

	tcase_add_test(tc, reset_send);
	tcase_add_test(tc, reset_chain);
	tcase_add_test(tc, reset_received);
	tcase_add_test(tc, close_after_reset);
	tcase_add_test(tc, vanish);
	tcase_add_test(tc, vanish_received);
	return tc;
}
