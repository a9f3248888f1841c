/* SPDX-License-Identifier: BSD-2-Clause */
/* many.c - many endpoints on one completion queue: all progress, none starves, none leaks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/contract/contract.h"

#define ALL (TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE)
#define EPS 200

static const struct tp_ep_attr small = { .max_send_wr = 8, .max_recv_wr = 8 };

/* Message i of n uses link i; all are posted before any is polled. */
static void all_at_once(struct link **l, int n, struct mem *out, struct mem *in)
{
	struct tp_send_wr wr;
	struct tp_sge sge;
	int i;

	for (i = 0; i < n; i++) {
		side_recv(l[i]->b, i, in, i * 64ul, 64);
		sge = sge_of(out, i * 64ul, 64);
		wr = wr_send(i, &sge);
		ck_ok(tp_post_send(l[i]->a, &wr));
	}
	for (i = n - 1; i >= 0; i--) {
		expect_wc(&world, &world.b, l[i]->b, i, TP_RECV, 0);
		expect_wc(&world, &world.a, l[i]->a, i, TP_SEND, 0);
	}
	mem_check(in, 0, n * 64ul, 13, 0);
}

START_TEST(two_hundred)
{
	struct mem *out = mem_new(&world.a, EPS * 64, 0);
	struct mem *in = mem_new(&world.b, EPS * 64, TP_LOCAL_WRITE);
	static struct link *l[EPS];
	int i, round;

	mem_fill(out, 13);
	for (i = 0; i < EPS; i++)
		l[i] = link_open(&world, &small);
	for (round = 0; round < 20; round++)
		all_at_once(l, EPS, out, in);
	/* Every second endpoint is closed; the others are not affected. */
	for (i = 0; i < EPS / 2; i++) {
		link_close(l[2 * i]);
		l[i] = l[2 * i + 1];
	}
	for (round = 0; round < 5; round++)
		all_at_once(l, EPS / 2, out, in);
	expect_silence(&world.a, NULL);
}
END_TEST

/* All connects are posted before any is accepted. */
START_TEST(connect_storm)
{
	enum { N = 50 };
	struct link *l[N];
	int i;

	for (i = 0; i < N; i++) {
		l[i] = link_idle(&world, &small);
		ck_ok(tp_connect(l[i]->a, &world.addr, NULL, 0,
				 clock_after_ms(PATIENCE_MS)));
	}
	for (i = 0; i < N; i++)
		ck_ok(tp_accept(l[i]->b, expect_req(&world), NULL, 0));
	for (i = 0; i < N; i++) {
		expect_ev(&world, &world.a, l[i]->a, TP_EV_ESTABLISHED);
		expect_ev(&world, &world.b, l[i]->b, TP_EV_ESTABLISHED);
	}
}
END_TEST

/* Keeps the flooding endpoint busy: posts a write for each that has completed. */
static unsigned int flood(struct tp_ep *ep, struct tp_send_wr *wr,
			  unsigned int *under_way)
{
	unsigned int done = 0;
	struct tp_wc wc;

	while (side_find_wc(&world.a, ep, &wc)) {
		ck_assert_int_eq(wc.status, 0);
		done++;
	}
	*under_way -= done;
	for (; *under_way < 32; ++*under_way)
		ck_ok(tp_post_send(ep, wr));
	return done;
}

/*
 * One endpoint always has work, and another one plays ping-pong, on the same two queues.  The flood
 * may do no more than its share between two rounds.
 */
START_TEST(fair)
{
	struct link *busy = link_open(&world, NULL);
	struct link *polite = link_open(&world, NULL);
	uint32_t len = _i ? contract_scaled(1 << 20) : 64;
	struct mem *m = mem_new(&world.a, 1 << 20, ALL);
	struct mem *there = mem_new(&world.b, 1 << 20, ALL);
	struct mem *in = mem_new(&world.b, 64, ALL);
	struct tp_sge sge = sge_of(m, 0, len), small_sge = sge_of(m, 0, 64);
	struct tp_send_wr wr = wr_rdma(TP_WRITE, 1, &sge, there, 0);
	struct tp_send_wr ping = wr_send(2, &small_sge);
	unsigned int under_way = 0, i;
	uint64_t flooded = 0;
	struct tp_wc wc;

	for (i = 0; i < contract_scaled(200); i++) {
		side_recv(polite->b, i, in, 0, 64);
		ck_ok(tp_post_send(polite->a, &ping));
		do {
			flooded += flood(busy->a, &wr, &under_way);
			world_pump(&world);
			ck_assert_uint_lt(flooded, 200 * 1000);
		} while (!side_find_wc(&world.b, polite->b, &wc));
		ck_assert_uint_eq(wc.wr_id, i);
		expect_wc(&world, &world.a, polite->a, 2, TP_SEND, 0);
	}
	/* The flood continues, too. */
	ck_assert_uint_gt(flooded, 0);
}
END_TEST

START_TEST(churn)
{
	struct link *stays = link_open(&world, NULL);
	unsigned int before, i;

	link_works(&world, stays);
	for (i = 0; i < 10; i++)
		link_close(link_open(&world, NULL));
	link_works(&world, stays);
	before = fd_count();
	for (i = 0; i < contract_scaled(200); i++) {
		struct link *l = link_open(&world, NULL);

		if (i % 3 == 0)
			link_works(&world, l);
		link_close(l);
	}
	/* A close may wait for the peer's reply, but no descriptor stays for ever. */
	for (i = 0; fd_count() > before; i++) {
		ck_assert_uint_lt(i, 1000);
		link_works(&world, stays);
		tp_cq_wait(world.a.cq, clock_after_ms(2));
	}
}
END_TEST

/* Opens a world whose devices take a peer for dead after 300 ms of silence. */
static void open_impatient(struct world *w)
{
	struct tp_dev_attr attr = { .dead_peer_ms = 300 };
	struct side *side[2] = { &w->a, &w->b };
	int i;

	memset(w, 0, sizeof(*w));
	for (i = 0; i < 2; i++) {
		ck_ok(tp_dev_open(contract_provider(), &attr, &side[i]->dev));
		ck_ok(tp_cq_open(side[i]->dev, 1024, &side[i]->cq));
	}
	ck_ok(tp_listen(w->b.cq, &(struct addr){ .host = "127.0.0.1" }, 4,
			&w->listener));
	tp_listener_addr(w->listener, &w->addr);
}

/*
 * A program that computes and does not poll is not dead, whether much or nothing is in flight to
 * it.  Silence means that its host does not reply.
 */
START_TEST(busy_is_not_dead)
{
	static struct world w;
	struct timespec long_time = { 1, 500000000 };
	uint32_t len = 16 << 20;
	struct mem *m, *there;
	struct tp_send_wr wr;
	struct tp_sge sge;
	struct link *l;
	int i;

	open_impatient(&w);
	l = link_open(&w, NULL);
	m = mem_new(&w.a, len, ALL);
	there = mem_new(&w.b, len, ALL);
	sge = sge_of(m, 0, len);
	wr = wr_rdma(TP_WRITE, 1, &sge, there, 0);
	mem_fill(m, 3);
	if (_i)
		ck_ok(tp_post_send(l->a, &wr));
	for (i = 0; i < 10; i++)
		side_pump(&w.a);
	nanosleep(&long_time, NULL);
	for (i = 0; i < 10; i++)
		side_pump(&w.a);
	if (_i) {
		expect_wc(&w, &w.a, l->a, 1, TP_WRITE, 0);
		link_works(&w, l);
		mem_check(there, 0, len, 3, 0);
	}
	link_works(&w, l);
	world_close(&w);
}
END_TEST

TCase *case_many(void)
{
	TCase *tc = contract_case("many");

	tcase_add_test(tc, two_hundred);
	tcase_add_test(tc, connect_storm);
	tcase_add_loop_test(tc, fair, 0, 2);
	tcase_add_test(tc, churn);
	tcase_add_loop_test(tc, busy_is_not_dead, 0, 2);
	return tc;
}
