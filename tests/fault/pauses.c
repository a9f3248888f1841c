/* SPDX-License-Identifier: BSD-2-Clause */
/* pauses.c - the rules DELAY and STALL. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/fault/faults.h"

static uint64_t ms(uint64_t n)
{
	return n * CLOCK_NS_PER_MS;
}

/* The second message and all later ones are delayed; their order stays. */
START_TEST(delay_send)
{
	struct link *l = link_open(&world, NULL);
	struct link *other = link_open(&world, NULL);
	uint64_t from;
	int i;

	for (i = 0; i < 4; i++)
		post_receive(l->b, &world.b, i);
	rules_a("send:delay:after=1:ms=150");
	post_message(l->a, &world.a, 0, 0);
	expect_wc(&world, &world.b, l->b, 0, TP_RECV, 0);
	from = clock_now();
	for (i = 1; i < 4; i++)
		post_message(l->a, &world.a, i, i);
	link_works(&world, other); /* not delayed */
	for (i = 1; i < 4; i++) {
		expect_wc(&world, &world.b, l->b, i, TP_RECV, 0);
		ck_assert_uint_ge(clock_now(), from + ms(150));
	}
	for (i = 0; i < 4; i++)
		expect_wc(&world, &world.a, l->a, i, TP_SEND, 0);
	ck_assert_uint_eq(fault_hits(world.a.dev, 1), 1);
	link_works(&world, l);
}
END_TEST

/* A wait ends early enough to release held requests. */
START_TEST(delay_and_wait)
{
	struct link *l = link_open(&world, NULL);
	uint64_t give_up = clock_after_ms(PATIENCE_MS);
	struct tp_wc wc;

	post_receive(l->b, &world.b, 1);
	rules_a("send:delay:ms=80");
	post_message(l->a, &world.a, 1, 1);
	while (!side_find_wc(&world.a, l->a, &wc)) {
		ck_assert_int_ne(tp_cq_wait(world.a.cq, give_up), -ETIMEDOUT);
		side_pump(&world.a);
		side_pump(&world.b);
	}
	ck_assert_int_eq(wc.status, 0);
}
END_TEST

/* The same for a caller that sleeps on the descriptor. */
START_TEST(delay_and_poll)
{
	struct link *l = link_open(&world, NULL);
	struct pollfd pfd = { .fd = tp_cq_fd(world.a.cq), .events = POLLIN };
	struct tp_wc wc;

	post_receive(l->b, &world.b, 1);
	rules_a("send:delay:ms=80");
	post_message(l->a, &world.a, 1, 1);
	while (side_pump(&world.a), !side_find_wc(&world.a, l->a, &wc)) {
		if (tp_cq_arm(world.a.cq) == 0)
			ck_assert_int_eq(poll(&pfd, 1, PATIENCE_MS), 1);
		side_pump(&world.b);
	}
	ck_assert_int_eq(wc.status, 0);
}
END_TEST

/* The connection ends while requests are held: they are flushed. */
START_TEST(delay_then_break)
{
	struct link *l = link_open(&world, NULL);
	int i;

	rules_a("send:delay:ms=60000");
	for (i = 0; i < 3; i++)
		post_message(l->a, &world.a, i, i);
	tp_ep_close(l->b);
	l->b = NULL;
	for (i = 0; i < 3; i++)
		expect_wc(&world, &world.a, l->a, i, TP_SEND, -ECANCELED);
	expect_gone(&world, &world.a, l->a);
	expect_silence(&world.a, l->a);
}
END_TEST

START_TEST(delay_then_close)
{
	struct link *l = link_open(&world, NULL);

	rules_a("send:delay:ms=60000");
	post_message(l->a, &world.a, 1, 1);
	tp_ep_close(l->a);
	l->a = NULL;
	ck_assert_int_eq(expect_gone(&world, &world.b, l->b), 0);
}
END_TEST

/* Held requests count as outstanding. */
START_TEST(delay_has_limits)
{
	struct tp_ep_attr attr = { .max_send_wr = 2, .max_recv_wr = 2 };
	struct link *l = link_open(&world, &attr);
	struct tp_send_wr wr = wr_rdma(TP_WRITE, 1, NULL, NULL, 0);

	rules_a("post:delay:ms=50");
	ck_ok(tp_post_send(l->a, &wr));
	ck_ok(tp_post_send(l->a, &wr));
	ck_assert_int_eq(tp_post_send(l->a, &wr), -ENOBUFS);
	expect_wc(&world, &world.a, l->a, 1, TP_WRITE, 0);
	expect_wc(&world, &world.a, l->a, 1, TP_WRITE, 0);
	ck_ok(tp_post_send(l->a, &wr));
	expect_wc(&world, &world.a, l->a, 1, TP_WRITE, 0);
}
END_TEST

/* The queue is stalled; then everything arrives. */
START_TEST(stall_post)
{
	struct link *l = link_open(&world, NULL);
	struct link *other = link_open(&world, NULL);
	uint64_t from;
	int i;

	for (i = 0; i < 3; i++) {
		post_receive(l->b, &world.b, i);
		post_receive(other->a, &world.a, 10 + i);
	}
	rules_a("send:stall:ms=150");
	from = clock_now();
	for (i = 0; i < 3; i++) {
		post_message(l->a, &world.a, i, i);
		post_message(other->b, &world.b, i, i);
	}
	for (i = 0; i < 3; i++) {
		expect_wc(&world, &world.a, other->a, 10 + i, TP_RECV, 0);
		ck_assert_uint_ge(clock_now(), from + ms(150));
		expect_wc(&world, &world.b, l->b, i, TP_RECV, 0);
		expect_wc(&world, &world.a, l->a, i, TP_SEND, 0);
	}
}
END_TEST

/* The message that triggers the stall is not lost, and arrives first. */
START_TEST(stall_received)
{
	struct link *l = link_open(&world, NULL);
	uint64_t from = clock_now();
	int i;

	for (i = 0; i < 3; i++)
		post_receive(l->b, &world.b, i);
	rules_b("recv:stall:after=1:ms=100");
	for (i = 0; i < 3; i++)
		post_message(l->a, &world.a, i, i);
	for (i = 0; i < 3; i++) {
		expect_wc(&world, &world.b, l->b, i, TP_RECV, 0);
		expect_wc(&world, &world.a, l->a, i, TP_SEND, 0);
	}
	ck_assert_uint_ge(clock_now(), from + ms(100));
	link_works(&world, l);
}
END_TEST

static void *wake_soon(void *arg)
{
	usleep(20000);
	tp_cq_wake(arg);
	return NULL;
}

/* A wait on a stalled queue ends at its deadline, and can be woken. */
START_TEST(stall_and_wait)
{
	struct link *l = link_open(&world, NULL);
	uint64_t at;
	pthread_t thread;

	rules_a("send:stall:ms=60000");
	post_receive(l->b, &world.b, 1);
	post_message(l->a, &world.a, 1, 1);
	at = clock_after_ms(30);
	while (tp_cq_wait(world.a.cq, at) == 0)
		;
	ck_assert_uint_ge(clock_now(), at);
	ck_ok(pthread_create(&thread, NULL, wake_soon, world.a.cq));
	ck_ok(tp_cq_wait(world.a.cq, clock_after_ms(PATIENCE_MS)));
	pthread_join(thread, NULL);
	expect_silence(&world.b, l->b);
}
END_TEST

TCase *case_pauses(void)
{
	TCase *tc = world_case("pauses");

	tcase_add_test(tc, delay_send);
	tcase_add_test(tc, delay_and_wait);
	tcase_add_test(tc, delay_and_poll);
	tcase_add_test(tc, delay_then_break);
	tcase_add_test(tc, delay_then_close);
	tcase_add_test(tc, delay_has_limits);
	tcase_add_test(tc, stall_post);
	tcase_add_test(tc, stall_received);
	tcase_add_test(tc, stall_and_wait);
	return tc;
}
