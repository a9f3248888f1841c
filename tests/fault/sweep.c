/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sweep.c - repeats one scenario with a break at the first request, the second, and so on until no
 * request is hit.  In each run every request completes once, in order, and each end of the
 * connection gets one event of its end.
 */
#include <errno.h>
#include <stdio.h>

#include "tests/fault/faults.h"

#define N                                                                      \
	13 /* requests of the scenario; the last is a READ: it tells that
	      * the peer dealt with all of them */

static const enum tp_opcode ops[] = { TP_SEND, TP_WRITE, TP_READ, TP_FETCH_ADD,
				      TP_WRITE_IMM };

struct tally {
	unsigned int next; /* the next request to post */
	unsigned int recvs, gone;
	bool failed;
};

static void count_wc(struct tally *t, const struct tp_wc *wc)
{
	if (wc->opcode == TP_RECV || wc->opcode == TP_RECV_IMM) {
		ck_assert_uint_eq(wc->wr_id, t->recvs++);
		return;
	}
	ck_assert_uint_eq(wc->wr_id, t->next);
	ck_assert_int_eq(wc->opcode, ops[t->next % 5]);
	ck_assert(!t->failed || wc->status);
	t->failed = wc->status;
	t->next++;
}

static void count_ev(struct tally *t, const struct tp_event *ev)
{
	ck_assert_int_eq(ev->type, TP_EV_DISCONNECTED);
	t->gone++;
}

static void collect(struct side *s, struct tp_ep *ep, struct tally *t)
{
	struct tp_event ev;
	struct tp_wc wc;

	while (side_find_wc(s, ep, &wc))
		count_wc(t, &wc);
	while (side_find_ev(s, ep, &ev))
		count_ev(t, &ev);
}

/* Posts request i.  Returns false if the connection is broken. */
static bool post(struct link *l, unsigned int i, const struct tp_sge *sge,
		 struct mem *there)
{
	struct tp_send_wr wr = wr_rdma(ops[i % 5], i, sge, there, 0);
	int rc = tp_post_send(l->a, &wr);

	ck_assert(rc == 0 || rc == -ENOTCONN);
	return rc == 0;
}

/* Runs the scenario.  Returns whether the rule has acted. */
static bool run(const char *rule, bool at_b)
{
	struct link *l = link_open(&world, NULL);
	struct mem *m = mem_new(&world.a, 8, ALL);
	struct mem *there = mem_new(&world.b, 8, ALL);
	struct tp_sge sge = sge_of(m, 0, 8);
	uint64_t give_up = clock_after_ms(PATIENCE_MS);
	struct tally a = { 0 }, b = { 0 };
	struct side *ruled = at_b ? &world.b : &world.a;
	unsigned int i, posted = 0;
	bool hit;

	for (i = 0; i < N; i++)
		side_recv(l->b, i, there, 0, 8);
	at_b ? rules_b(rule) : rules_a(rule);
	while (posted < N && post(l, posted, &sge, there)) {
		posted++;
		world_pump(&world);
		collect(&world.a, l->a, &a);
	}
	while (!a.gone && a.next < posted) {
		ck_assert_uint_lt(clock_now(), give_up);
		world_pump(&world);
		collect(&world.a, l->a, &a);
	}
	hit = fault_hits(ruled->dev, 1);
	while (hit && (!a.gone || !b.gone || b.recvs < N || a.next < posted)) {
		ck_assert_uint_lt(clock_now(), give_up);
		world_pump(&world);
		collect(&world.a, l->a, &a);
		collect(&world.b, l->b, &b);
	}
	ck_assert_uint_eq(a.next, posted);
	ck_assert_uint_le(a.gone, 1);
	ck_assert_uint_le(b.gone, 1);
	link_close(l);
	return hit;
}

static const struct {
	const char *rule;
	bool at_b;
} kinds[] = {
	{ "post:reset:after=%u", false },
	{ "post:vanish:ms=30:after=%u", false },
	{ "recv:reset:after=%u", true },
	{ "recv:vanish:ms=30:after=%u", true },
};

START_TEST(break_at_each)
{
	char rule[64];
	unsigned int n = 0;

	do {
		ck_assert_uint_le(n, N);
		snprintf(rule, sizeof(rule), kinds[_i].rule, n++);
	} while (run(rule, kinds[_i].at_b));
	ck_assert_uint_gt(n, 4);
}
END_TEST

TCase *case_sweep(void)
{
	TCase *tc = world_case("sweep");

	tcase_add_loop_test(tc, break_at_each, 0, 4);
	return tc;
}
