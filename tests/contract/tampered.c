/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tampered.c - every operation of the tcp provider over a sealed connection with an attacker, who
 * makes every possible change.
 */
#include <errno.h>
#include <string.h>

#include "common/trust/gcm.h"
#include "tests/contract/harness.h"
#include "tests/run_suite.h"
#include "tests/contract/seal_relay.h"
#include "common/transport/tcp/tcp_frame.h"
#include "common/transport/tp_seal.h"

#define LONG 350000u /* several records */
#define SEED 5u

static const uint8_t key[2][MAC_KEY_LEN] = { { 1 }, { 2 } };
static struct world world;
static struct relay relay;
static struct link *l;
static struct mem *ours, *theirs;

static void seal(struct tp_ep *ep, int end)
{
	struct sealer *sealer;

	ck_ok(gcm_sealer(SEAL_ENCRYPT, key[end], key[!end], NULL, &sealer));
	ck_ok(tp_ep_seal(ep, sealer, 0));
}

static void setup(void)
{
	world_open(&world, "tcp", 1000);
}

static void teardown(void)
{
	world_close(&world);
	if (relay.fd)
		relay_stop(&relay);
}

/* a connects through the relay; the end of b is sealed first. */
static void meet(unsigned int dir, enum deed deed)
{
	struct addr addr = world.addr;

	relay = (struct relay){ .to = addr.port, .dir = dir, .deed = deed };
	relay_start(&relay);
	addr.port = relay.port;
	l = link_idle(&world, NULL);
	ck_ok(tp_connect(l->a, &addr, NULL, 0, clock_after_ms(60000)));
	ck_ok(tp_accept(l->b, expect_req(&world), NULL, 0));
	seal(l->b, 1);
	expect_ev(&world, &world.a, l->a, TP_EV_ESTABLISHED);
	seal(l->a, 0);
	expect_ev(&world, &world.b, l->b, TP_EV_ESTABLISHED);
	ours = mem_new(&world.a, LONG, TP_LOCAL_WRITE);
	theirs = mem_new(&world.b, LONG,
			 TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE |
				 TP_REMOTE_ATOMIC);
}

/* The operation that a posts, its length, and the direction of its data. */
static const struct kind {
	enum tp_opcode opcode;
	uint32_t len;
	unsigned int dir;
	bool receives; /* b must post a receive */
} kinds[] = {
	{ TP_SEND, LONG, 0, true },	 { TP_WRITE, LONG, 0, false },
	{ TP_WRITE_IMM, LONG, 0, true }, { TP_READ, LONG, 1, false },
	{ TP_FETCH_ADD, 8, 1, false },	 { TP_CMP_SWAP, 8, 0, false },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void start(const struct kind *k)
{
	struct tp_sge sge = sge_of(ours, 0, k->len);
	struct tp_send_wr wr = wr_rdma(k->opcode, 7, &sge, theirs, 0);

	wr.compare_add = 0;
	wr.swap = 9;
	if (k->opcode == TP_FETCH_ADD)
		wr.compare_add = 9;
	if (k->receives)
		side_recv(l->b, 8, theirs, 0, LONG);
	mem_fill(k->opcode == TP_READ ? theirs : ours, SEED);
	ck_ok(tp_post_send(l->a, &wr));
}

static uint64_t first_word(const struct mem *m)
{
	uint64_t v;

	memcpy(&v, m->p, sizeof(v));
	return v;
}

START_TEST(test_works)
{
	const struct kind *k = &kinds[_i];

	meet(0, DEED_NONE);
	start(k);
	expect_wc(&world, &world.a, l->a, 7, k->opcode, 0);
	if (k->receives)
		expect_wc(&world, &world.b, l->b, 8,
			  k->opcode == TP_SEND ? TP_RECV : TP_RECV_IMM, 0);
	link_works(&world, l);
	if (k->opcode == TP_READ)
		mem_check(ours, 0, LONG, SEED, 0);
	else if (k->opcode == TP_FETCH_ADD)
		ck_assert_uint_eq(first_word(theirs), 9);
	else if (k->opcode == TP_CMP_SWAP)
		ck_assert_uint_eq(first_word(theirs), 9);
	else
		mem_check(theirs, 0, LONG, SEED, 0);
}
END_TEST

static const struct {
	enum deed deed;
	enum tp_flaw flaw;
	bool needs_more; /* it needs a following record */
	bool passes; /* the operation completes before the change is detected */
} deeds[] = {
	{ DEED_FLIP_LEN, TP_FLAW_LENGTH, false, false },
	{ DEED_FLIP_NUMBER, TP_FLAW_ORDER, false, false },
	{ DEED_FLIP_FIRST, TP_FLAW_FALSE, false, false },
	{ DEED_FLIP_LAST, TP_FLAW_FALSE, false, false },
	{ DEED_FLIP_TAG, TP_FLAW_FALSE, false, false },
	{ DEED_INJECT, TP_FLAW_FALSE, false, false },
	{ DEED_DROP, TP_FLAW_ORDER, true, false },
	{ DEED_REPEAT, TP_FLAW_ORDER, false, true },
	{ DEED_SWAP, TP_FLAW_ORDER, true, false },
	{ DEED_CUT, TP_FLAW_CUT, false, false },
};
#define NDEEDS (sizeof(deeds) / sizeof(deeds[0]))

static uint64_t seen(struct side *s, enum tp_flaw flaw)
{
	uint64_t count[TP_FLAWS];

	tp_dev_flaws(s->dev, count);
	return count[flaw];
}

/* Checks that no receive or request of ep succeeds. */
static int gone(struct side *s, struct tp_ep *ep)
{
	struct tp_event ev;
	struct tp_wc wc;

	while (!side_find_ev(s, ep, &ev))
		world_pump(&world);
	while (side_find_wc(s, ep, &wc))
		if (wc.opcode != TP_SEND && wc.opcode != TP_WRITE &&
		    wc.opcode != TP_WRITE_IMM)
			ck_assert_int_ne(wc.status, 0);
	ck_assert_int_eq(ev.type, TP_EV_DISCONNECTED);
	return ev.status;
}

/* Checks that the target memory of the record is unchanged. */
static void untouched(const struct kind *k)
{
	if (k->opcode == TP_READ) {
		mem_check_zero(ours);
	} else if (k->opcode == TP_CMP_SWAP) {
		ck_assert_uint_eq(first_word(theirs), 0);
	} else if (k->opcode == TP_FETCH_ADD) {
		mem_check(ours, 0, 8, SEED, 0);
	} else {
		mem_check_zero(theirs);
	}
}

/* All operations with all changes: nothing of a forged record is used. */
START_TEST(test_deeds)
{
	const struct kind *k = &kinds[(size_t)_i / NDEEDS];
	size_t d = (size_t)_i % NDEEDS;
	struct side *victim = k->dir ? &world.a : &world.b;
	struct tp_ep **ep;
	int status;

	if (k->len != LONG && (deeds[d].needs_more || deeds[d].passes))
		return;
	meet(k->dir, deeds[d].deed);
	ep = k->dir ? &l->a : &l->b;
	start(k);
	if (deeds[d].passes) {
		while (!seen(victim, deeds[d].flaw))
			world_pump(&world);
		return;
	}
	status = gone(victim, *ep);
	ck_assert_int_eq(status, deeds[d].deed == DEED_CUT ? 0 : -EBADMSG);
	ck_assert_uint_eq(seen(victim, deeds[d].flaw), 1);
	untouched(k);
	gone(k->dir ? &world.b : &world.a, k->dir ? l->b : l->a);
}
END_TEST

/* Before the first record: an unsealed frame, or the announcement of records is missing. */
START_TEST(test_downgrade)
{
	static const enum deed what[] = { DEED_BARE, DEED_STRIP };
	unsigned int dir = (unsigned int)_i / 2;
	struct side *victim = dir ? &world.a : &world.b;
	uint8_t zeros[8] = { 0 };

	meet(dir, what[_i % 2]);
	start(&kinds[dir ? 3 : 1]); /* data flows in both directions */
	gone(victim, dir ? l->a : l->b);
	gone(dir ? &world.b : &world.a, dir ? l->b : l->a);
	ck_assert_mem_eq((dir ? ours : theirs)->p, zeros, sizeof(zeros));
	if (what[_i % 2] == DEED_BARE)
		ck_assert_uint_eq(seen(victim, TP_FLAW_BARE), 1);
}
END_TEST

/* A close sends a sealed record, so the other end does not take it for an attack. */
START_TEST(test_close)
{
	uint64_t count[TP_FLAWS];

	meet(0, DEED_NONE);
	link_works(&world, l);
	side_forget(&world.a, l->a);
	tp_ep_close(l->a);
	l->a = NULL;
	ck_assert_int_eq(expect_gone(&world, &world.b, l->b), 0);
	tp_dev_flaws(world.b.dev, count);
	for (int i = 0; i < TP_FLAWS; i++)
		ck_assert_uint_eq(count[i], 0);
}
END_TEST

/* A rejection reaches the peer sealed, with its reason. */
START_TEST(test_refusal)
{
	struct tp_sge sge;
	struct tp_send_wr wr;

	meet(0, DEED_NONE);
	sge = sge_of(ours, 0, 64);
	wr = wr_rdma(TP_READ, 7, &sge, theirs, 0);
	wr.rkey++;
	ck_ok(tp_post_send(l->a, &wr));
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -EACCES);
	ck_assert_int_eq(expect_gone(&world, &world.b, l->b), -EACCES);
}
END_TEST

START_TEST(test_twice)
{
	struct sealer *sealer;

	meet(0, DEED_NONE);
	ck_ok(gcm_sealer(SEAL_AUTH, key[0], key[1], NULL, &sealer));
	ck_assert_int_eq(tp_ep_seal(l->a, sealer, 0), -EALREADY);
	ck_assert(tp_dev_seals(world.a.dev));
}
END_TEST

/* The ends have different keys. */
START_TEST(test_other_keys)
{
	struct sealer *sealer;
	struct mem *m;

	l = link_open(&world, NULL);
	m = mem_new(&world.b, 64, TP_LOCAL_WRITE);
	side_recv(l->b, 1, m, 0, 64);
	ck_ok(gcm_sealer(SEAL_AUTH, key[0], key[1], NULL, &sealer));
	ck_ok(tp_ep_seal(l->a, sealer, 0));
	ck_ok(gcm_sealer(SEAL_AUTH, key[0], key[1], NULL, &sealer));
	ck_ok(tp_ep_seal(l->b, sealer, 0));
	ours = mem_new(&world.a, 64, 0);
	{
		struct tp_sge sge = sge_of(ours, 0, 64);
		struct tp_send_wr wr = wr_send(1, &sge);

		ck_ok(tp_post_send(l->a, &wr));
	}
	ck_assert_int_eq(gone(&world.b, l->b), -EBADMSG);
	mem_check_zero(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_seal");
	TCase *tc = tcase_create("tcp_seal");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 0);
	tcase_add_loop_test(tc, test_works, 0, KINDS);
	tcase_add_loop_test(tc, test_deeds, 0, KINDS * NDEEDS);
	tcase_add_loop_test(tc, test_downgrade, 0, 4);
	tcase_add_test(tc, test_close);
	tcase_add_test(tc, test_refusal);
	tcase_add_test(tc, test_twice);
	tcase_add_test(tc, test_other_keys);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
