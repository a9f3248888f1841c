/* SPDX-License-Identifier: BSD-2-Clause */
/* group.c - several peers get requests at once, and the caller waits for all of them together. */
#include <stdlib.h>

#include "tests/contract/contract.h"
#include "tests/contract/worker.h"

enum { PEERS = 4, ROUNDS = 200 };

static const struct tp_ep_attr group = { .group = true };

static struct echo echo[PEERS];
static struct tp_ep *ep[PEERS];

static void group_open(void)
{
	int i;

	for (i = 0; i < PEERS; i++)
		ep[i] = connect_echo(&echo[i], &group);
}

static void group_close(const unsigned int *asked)
{
	int i;

	close_links();
	for (i = 0; i < PEERS; i++) {
		ck_ok(echo_join(&echo[i]));
		ck_assert_uint_eq(echo[i].served, asked[i]);
	}
}

static void ask(unsigned int who, const struct mem *out, const struct mem *in)
{
	struct tp_sge sge = sge_of(out, 0, ECHO_LEN);
	struct tp_send_wr wr = wr_send(1, &sge);
	uint64_t i;

	tp_cq_hold(world.a.cq);
	for (i = 0; i < PEERS; i++) {
		if (!(who & 1u << i))
			continue;
		side_recv(ep[i], 10 + i, in, 0, ECHO_LEN);
		wr.flags = TP_SIGNALED;
		ck_ok(tp_post_send(ep[i], &wr));
	}
	tp_cq_release(world.a.cq);
}

/* Sleeps whenever there is no event; `joined` says for which peers. */
static void await(unsigned int who, unsigned int joined)
{
	unsigned int answered = 0, sent = 0, i;
	uint64_t give_up = clock_after_ms(PATIENCE_MS);
	struct tp_wc wc;

	while (answered != who || sent != who) {
		if (tp_cq_poll(world.a.cq, &wc, 1) == 1) {
			ck_ok(wc.status);
			for (i = 0; wc.ep != ep[i]; i++)
				;
			*(wc.opcode == TP_SEND ? &sent : &answered) |= 1u << i;
			continue;
		}
		for (i = 0; i < PEERS; i++)
			if (who & ~answered & joined & 1u << i)
				tp_ep_join(ep[i]);
		ck_ok(tp_cq_wait(world.a.cq, give_up));
	}
}

/* Requests to all, some, or one; the waits are joined, single, or half of each. */
START_TEST(asked_at_once)
{
	struct mem *out = mem_new(&world.a, ECHO_LEN, 0);
	struct mem *in = mem_new(&world.a, ECHO_LEN, TP_LOCAL_WRITE);
	static const unsigned int who[] = { 0xf, 0x3, 0xf, 0x8, 0xe };
	static const unsigned int joined[] = { 0xf, 0x5, 0x0 };
	unsigned int asked[PEERS] = { 0 }, round, i;

	group_open();
	for (round = 0; round < contract_scaled(ROUNDS); round++) {
		ask(who[round % 5], out, in);
		await(who[round % 5], joined[round % 3]);
		for (i = 0; i < PEERS; i++)
			asked[i] += who[round % 5] >> i & 1;
	}
	group_close(asked);
}
END_TEST

/* Polls b.  Returns true when the endpoint `at` has had its event. */
static bool ended(struct tp_ep *at)
{
	struct tp_event ev;

	tp_cq_wait(world.a.cq, clock_after_ms(100));
	side_pump(&world.a);
	side_pump(&world.b);
	return side_find_ev(&world.a, at, &ev) && ev.type == TP_EV_DISCONNECTED;
}

/* One of the joined peers leaves: the wait does not include it. */
START_TEST(one_leaves)
{
	struct link *l[2] = { link_open(&world, &group),
			      link_open(&world, &group) };
	uint64_t give_up = clock_after_ms(PATIENCE_MS);

	tp_ep_close(l[0]->b);
	l[0]->b = NULL;
	do {
		ck_assert_uint_lt(clock_now(), give_up);
		tp_ep_join(l[0]->a);
		tp_ep_join(l[1]->a);
	} while (!ended(l[0]->a));
	link_works(&world, l[1]);
}
END_TEST

/* A message on an endpoint outside the group is not delayed. */
START_TEST(another_comes)
{
	struct link *l[3] = { link_open(&world, &group),
			      link_open(&world, &group),
			      link_open(&world, NULL) };
	struct mem *out = mem_new(&world.b, 64, 0);
	struct mem *in = mem_new(&world.a, 64, TP_LOCAL_WRITE);
	struct tp_sge sge = sge_of(out, 0, 64);
	struct tp_send_wr wr = wr_send(1, &sge);
	uint64_t give_up = clock_after_ms(PATIENCE_MS);
	struct tp_wc wc;

	side_recv(l[2]->a, 7, in, 0, 64);
	ck_ok(tp_post_send(l[2]->b, &wr));
	while (!side_find_wc(&world.a, l[2]->a, &wc)) {
		side_pump(&world.b);
		tp_ep_join(l[0]->a);
		tp_ep_join(l[1]->a);
		ck_ok(tp_cq_wait(world.a.cq, give_up));
		side_pump(&world.a);
	}
	ck_assert_uint_eq(wc.wr_id, 7);
	link_works(&world, l[0]);
}
END_TEST

TCase *case_group(void)
{
	TCase *tc = contract_case("group");

	tcase_add_test(tc, asked_at_once);
	tcase_add_test(tc, one_leaves);
	tcase_add_test(tc, another_comes);
	return tc;
}
