/* SPDX-License-Identifier: BSD-2-Clause */
/* close.c - the end of a connection, at both ends. */
#include <errno.h>
#include <string.h>

#include "tests/contract/contract.h"

#define ALL (TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE)

/*
 * Posts a send for which b has no receive, so no later request proceeds.  The send may complete
 * earlier (iWARP, tcp) or fail.
 */
static void stall(struct link *l, const struct tp_sge *sge)
{
	struct tp_send_wr wr = wr_send(99, sge);

	ck_ok(tp_post_send(l->a, &wr));
}

/* Every posted request completes, receives with -ECANCELED. */
START_TEST(flush)
{
	struct mem *in = mem_new(&world.a, 64, ALL);
	struct mem *there = mem_new(&world.b, 64, ALL);
	struct tp_sge sge = sge_of(in, 0, 64);
	struct tp_send_wr wr;
	struct link *l = link_open(&world, NULL);
	struct tp_wc wc;
	int i, status, recvs = 0, reads = 0;

	for (i = 0; i < 10; i++)
		side_recv(l->a, i, in, 0, 64);
	stall(l, &sge);
	for (i = 0; i < 10; i++) {
		wr = wr_rdma(TP_READ, 100 + i, &sge, there, 0);
		ck_ok(tp_post_send(l->a, &wr));
	}
	tp_ep_close(l->b);
	l->b = NULL;
	while (recvs + reads < 21) {
		wc = world_wc(&world, &world.a, l->a);
		if (wc.opcode == TP_RECV) {
			ck_assert_int_eq(wc.status, -ECANCELED);
			ck_assert_uint_eq(wc.wr_id, recvs++);
			continue;
		}
		ck_assert_int_eq(wc.opcode, reads ? TP_READ : TP_SEND);
		ck_assert_uint_eq(wc.wr_id, 99 + reads);
		ck_assert((wc.status == 0 && !reads) ||
			  wc.status == -ECANCELED || wc.status == -ECONNRESET ||
			  wc.status == -ETIMEDOUT);
		reads++;
	}
	status = expect_gone(&world, &world.a, l->a);
	ck_assert(status == 0 || status == -ECONNRESET || status == -ETIMEDOUT);
	expect_silence(&world.a, l->a);
}
END_TEST

/* Unsignaled requests are flushed, too, and each has a completion. */
START_TEST(flush_unsignaled)
{
	struct mem *in = mem_new(&world.a, 64, ALL);
	struct mem *there = mem_new(&world.b, 64, ALL);
	struct tp_sge sge = sge_of(in, 0, 64);
	struct tp_send_wr wr = wr_rdma(TP_READ, 5, &sge, there, 0);
	struct link *l = link_open(&world, NULL);
	int i;

	wr.flags = 0;
	stall(l, &sge);
	for (i = 0; i < 5; i++)
		ck_ok(tp_post_send(l->a, &wr));
	tp_ep_close(l->b);
	l->b = NULL;
	ck_assert_uint_eq(world_wc(&world, &world.a, l->a).wr_id, 99);
	for (i = 0; i < 5; i++)
		ck_assert_int_lt(world_wc(&world, &world.a, l->a).status, 0);
	expect_gone(&world, &world.a, l->a);
}
END_TEST

/* An idle connection is closed in order: the status is 0, and nothing can be posted. */
START_TEST(orderly)
{
	struct mem *m = mem_new(&world.a, 64, ALL);
	struct tp_sge sge = sge_of(m, 0, 64);
	struct tp_send_wr wr = wr_send(1, &sge);
	struct tp_recv_wr rwr = { 2, sge };
	struct link *l = link_open(&world, NULL);
	struct link *other = link_open(&world, NULL);

	link_works(&world, l);
	tp_ep_close(l->b);
	l->b = NULL;
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), 0);
	ck_assert_int_eq(tp_post_send(l->a, &wr), -ENOTCONN);
	ck_assert_int_eq(tp_post_recv(l->a, &rwr), -ENOTCONN);
	link_works(&world, other);
	expect_silence(&world.a, l->a);
}
END_TEST

/* Data whose send completed before the peer closed still arrives. */
START_TEST(last_words)
{
	struct mem *in = mem_new(&world.a, 64, ALL);
	struct mem *out = mem_new(&world.b, 64, ALL);
	struct tp_sge sge = sge_of(out, 0, 64);
	struct tp_send_wr wr = wr_send(1, &sge);
	struct link *l = link_open(&world, NULL);

	mem_fill(out, 8);
	side_recv(l->a, 3, in, 0, 64);
	side_recv(l->a, 4, in, 0, 64);
	ck_ok(tp_post_send(l->b, &wr));
	expect_wc(&world, &world.a, l->a, 3, TP_RECV, 0);
	tp_ep_close(l->b);
	l->b = NULL;
	expect_wc(&world, &world.a, l->a, 4, TP_RECV, -ECANCELED);
	mem_check(in, 0, 64, 8, 0);
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), 0);
}
END_TEST

/* After tp_ep_close() nothing of the endpoint is reported, whatever was in flight. */
START_TEST(close_drops)
{
	struct mem *in = mem_new(&world.a, 1 << 20, ALL);
	struct mem *there = mem_new(&world.b, 1 << 20, ALL);
	struct tp_sge sge = sge_of(in, 0, 1 << 20);
	struct tp_send_wr wr = wr_rdma(TP_READ, 1, &sge, there, 0);
	struct link *other = link_open(&world, NULL);
	struct link *l = link_open(&world, NULL);
	struct tp_ep *closed = l->a;
	int i;

	for (i = 0; i < 10; i++) {
		side_recv(l->a, i, in, 0, 64);
		ck_ok(tp_post_send(l->a, &wr));
		wr.opcode = wr.opcode == TP_READ ? TP_WRITE : TP_READ;
	}
	for (i = 0; i < _i; i++) {
		side_pump(&world.a);
		side_pump(&world.b);
	}
	world.a.nwc = world.a.nev = 0;
	tp_ep_close(l->a);
	l->a = NULL;
	expect_gone(&world, &world.b, l->b);
	link_works(&world, other);
	expect_silence(&world.a, closed);
}
END_TEST

/* Completions that were ready but not polled are dropped as well. */
START_TEST(close_drops_ready)
{
	struct mem *m = mem_new(&world.a, 64, ALL);
	struct mem *in = mem_new(&world.b, 64, ALL);
	struct tp_sge sge = sge_of(m, 0, 64);
	struct tp_send_wr wr = wr_send(1, &sge);
	struct link *other = link_open(&world, NULL);
	struct link *l = link_open(&world, NULL);
	struct tp_ep *closed = l->b;
	struct tp_wc one;
	int i;

	for (i = 0; i < 30; i++) {
		side_recv(l->b, i, in, 0, 64);
		ck_ok(tp_post_send(l->a, &wr));
	}
	/* One of them is polled: the others are ready. */
	while (tp_cq_poll(world.b.cq, &one, 1) != 1)
		side_pump(&world.a);
	tp_ep_close(l->b);
	l->b = NULL;
	link_works(&world, other);
	expect_silence(&world.b, closed);
	expect_gone(&world, &world.a, l->a);
}
END_TEST

/* Events are dropped, too: no event tells that the endpoint was once connected. */
START_TEST(close_drops_events)
{
	struct link *other = link_open(&world, NULL);
	struct link *l = link_idle(&world, NULL);
	struct tp_ep *closed = l->a;
	struct tp_wc wc;
	int i;

	ck_ok(tp_connect(l->a, &world.addr, NULL, 0,
			 clock_after_ms(PATIENCE_MS)));
	while (!side_find_ev(&world.b, l->b, &(struct tp_event){ 0 })) {
		struct tp_event ev;

		tp_cq_poll(world.a.cq, &wc, 1);
		side_pump(&world.b);
		if (side_find_ev(&world.b, NULL, &ev))
			ck_ok(tp_accept(l->b, ev.req, NULL, 0));
	}
	for (i = 0; i < 10; i++)
		tp_cq_poll(world.a.cq, &wc, 1);
	tp_ep_close(l->a);
	l->a = NULL;
	expect_gone(&world, &world.b, l->b);
	link_works(&world, other);
	expect_silence(&world.a, closed);
}
END_TEST

/* The memory of the closing side belongs to it at once. */
START_TEST(memory_after_close)
{
	struct mem *in = mem_new(&world.a, 4 << 20, ALL);
	struct mem *there = mem_new(&world.b, 4 << 20, ALL);
	struct tp_sge sge = sge_of(in, 0, 4 << 20);
	struct tp_send_wr wr = wr_rdma(TP_READ, 1, &sge, there, 0);
	struct link *other = link_open(&world, NULL);
	struct link *l = link_open(&world, NULL);
	int i;

	mem_fill(there, 1);
	ck_ok(tp_post_send(l->a, &wr));
	for (i = 0; i < 6; i++) {
		side_pump(&world.a);
		side_pump(&world.b);
	}
	tp_ep_close(l->a);
	l->a = NULL;
	memset(in->p, 0, in->len);
	expect_gone(&world, &world.b, l->b);
	link_works(&world, other);
	mem_check_zero(in);
}
END_TEST

/* Both ends close at the same moment, with traffic in both directions. */
START_TEST(both_close)
{
	struct mem *m = mem_new(&world.a, 100000, ALL);
	struct mem *n = mem_new(&world.b, 100000, ALL);
	struct tp_sge here = sge_of(m, 0, 100000);
	struct tp_sge there = sge_of(n, 0, 100000);
	struct tp_send_wr wr;
	struct link *l;
	int i;

	for (i = 0; i < 20; i++) {
		l = link_open(&world, NULL);
		wr = wr_rdma(TP_WRITE, 1, &here, n, 0);
		ck_ok(tp_post_send(l->a, &wr));
		wr = wr_rdma(TP_READ, 1, &there, m, 0);
		ck_ok(tp_post_send(l->b, &wr));
		side_pump(&world.a);
		if (i & 1)
			side_pump(&world.b);
		link_close(l);
	}
	link_works(&world, link_open(&world, NULL));
}
END_TEST

/* The peer's device is closed with posted requests: each end notices it. */
START_TEST(device_gone)
{
	static struct side third;
	struct tp_ep_attr none = { 0 };
	struct link *l = link_idle(&world, NULL);
	struct tp_ep *ep;

	side_open(&third, contract_provider(), 1024);
	ck_ok(tp_ep_open(third.cq, &none, &ep));
	ck_ok(tp_connect(ep, &world.addr, NULL, 0,
			 clock_after_ms(PATIENCE_MS)));
	while (!world.b.nev) {
		side_pump(&third);
		side_pump(&world.b);
	}
	ck_ok(tp_accept(l->b, expect_req(&world), NULL, 0));
	while (!third.nev || !world.b.nev) {
		side_pump(&third);
		side_pump(&world.b);
	}
	expect_ev(&world, &world.b, l->b, TP_EV_ESTABLISHED);
	tp_ep_close(ep);
	side_close(&third);
	ck_assert_int_eq(expect_gone(&world, &world.b, l->b), 0);
}
END_TEST

TCase *case_close(void)
{
	TCase *tc = contract_case("close");

	tcase_add_test(tc, flush);
	tcase_add_test(tc, flush_unsignaled);
	tcase_add_test(tc, orderly);
	tcase_add_test(tc, last_words);
	tcase_add_loop_test(tc, close_drops, 0, 8);
	tcase_add_test(tc, close_drops_ready);
	tcase_add_test(tc, close_drops_events);
	tcase_add_test(tc, memory_after_close);
	tcase_add_test(tc, both_close);
	tcase_add_test(tc, device_gone);
	return tc;
}
