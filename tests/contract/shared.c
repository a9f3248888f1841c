/* SPDX-License-Identifier: BSD-2-Clause */
/* shared.c - shared receives, for providers that support them. */
#include <errno.h>
#include <string.h>

#include "tests/contract/contract.h"

#define RECEIVES 8u
#define SIZE 64u
#define LONG 20000u /* longer than a packet */
#define LINKS 12u
#define ROUNDS 20u

static struct tp_srq *srq;
static struct mem *in;

static bool shares(void)
{
	return !strcmp(contract_provider(), "verbs");
}

static void post(unsigned int i, uint32_t size)
{
	struct tp_recv_wr wr = { i, sge_of(in, (size_t)i * size, size) };

	ck_ok(tp_srq_post_recv(srq, &wr));
}

/* Opens a queue with n receives of size bytes, on the accepting side. */
static void srq_open(unsigned int n, uint32_t size)
{
	unsigned int i;

	in = mem_new(&world.b, (size_t)n * size, TP_LOCAL_WRITE);
	ck_ok(tp_srq_open(world.b.cq, n, &srq, &srq));
	for (i = 0; i < n; i++)
		post(i, size);
}

static void srq_close(void)
{
	while (!LIST_EMPTY(&world.links))
		link_close(LIST_FIRST(&world.links));
	tp_srq_close(srq);
}

/* Opens a link whose end b has no receives of its own. */
static struct link *sharing(void)
{
	const struct tp_ep_attr attr = { .srq = srq };
	struct link *l = link_idle(&world, NULL);

	tp_ep_close(l->b);
	ck_ok(tp_ep_open(world.b.cq, &attr, &l->b));
	link_start(&world, l);
	return l;
}

static void send(struct link *l, struct mem *out, uint32_t len)
{
	struct tp_sge sge = sge_of(out, 0, len);
	struct tp_send_wr wr = wr_send(1, &sge);

	ck_ok(tp_post_send(l->a, &wr));
}

/* Returns a completion of a shared receive. */
static struct tp_wc taken(void)
{
	uint64_t deadline = clock_after_ms(PATIENCE_MS);
	struct tp_wc wc = { 0 };

	while (!side_find_wc(&world.b, NULL, &wc)) {
		ck_assert_msg(clock_now() < deadline, "no completion came");
		world_pump(&world);
	}
	ck_assert_ptr_eq(wc.srq, srq);
	return wc;
}

START_TEST(not_over_others)
{
	if (shares())
		return;
	ck_assert_int_eq(tp_srq_open(world.b.cq, 8, NULL, &srq), -EOPNOTSUPP);
}
END_TEST

START_TEST(bounds)
{
	struct tp_srq *other;
	struct tp_recv_wr wr;

	if (!shares())
		return;
	ck_assert_int_eq(tp_srq_open(world.b.cq, 1u << 30, NULL, &other),
			 -ENOBUFS);
	srq_open(RECEIVES, SIZE);
	ck_assert_ptr_eq(tp_srq_context(srq), &srq);
	ck_assert_int_eq(tp_srq_open(world.b.cq, 8, NULL, &other), -EBUSY);
	wr = (struct tp_recv_wr){ 0, sge_of(in, 0, SIZE) };
	ck_assert_int_eq(tp_srq_post_recv(srq, &wr), -ENOBUFS);
	wr.sge.lkey = TP_LKEY_NONE;
	ck_assert_int_eq(tp_srq_post_recv(srq, &wr), -EINVAL);
	wr.sge.lkey = in->mr->lkey;
	ck_assert_int_eq(tp_post_recv(sharing()->b, &wr), -ENOBUFS);
	srq_close();
}
END_TEST

/*
 * With more endpoints than receives, each completion names its endpoint, and all messages arrive.
 */
START_TEST(any_endpoint)
{
	struct mem *out;
	struct link *l[LINKS];
	unsigned int from[LINKS] = { 0 }, i, j;
	struct tp_wc wc;

	if (!shares())
		return;
	srq_open(RECEIVES, SIZE);
	out = mem_new(&world.a, SIZE, 0);
	mem_fill(out, 3);
	for (i = 0; i < LINKS; i++)
		l[i] = sharing();
	for (j = 0; j < ROUNDS; j++)
		for (i = 0; i < LINKS; i++)
			send(l[i], out, SIZE);
	for (j = 0; j < ROUNDS * LINKS; j++) {
		wc = taken();
		ck_assert_int_eq(wc.status, 0);
		ck_assert_uint_eq(wc.byte_len, SIZE);
		mem_check(in, wc.wr_id * SIZE, SIZE, 3, 0);
		for (i = 0; l[i]->b != wc.ep; i++)
			ck_assert_uint_lt(i, LINKS - 1);
		from[i]++;
		post((unsigned int)wc.wr_id, SIZE);
	}
	for (i = 0; i < LINKS; i++)
		ck_assert_uint_eq(from[i], ROUNDS);
	srq_close();
}
END_TEST

START_TEST(write_imm)
{
	struct mem *out, *there;
	struct tp_send_wr wr;
	struct tp_sge sge;
	struct tp_wc wc;
	struct link *l;

	if (!shares())
		return;
	srq_open(RECEIVES, SIZE);
	out = mem_new(&world.a, SIZE, 0);
	there = mem_new(&world.b, SIZE, TP_REMOTE_WRITE);
	l = sharing();
	sge = sge_of(out, 0, SIZE);
	wr = wr_rdma(TP_WRITE_IMM, 1, &sge, there, 0);
	wr.imm = 4711;
	ck_ok(tp_post_send(l->a, &wr));
	wc = taken();
	ck_assert_int_eq(wc.opcode, TP_RECV_IMM);
	ck_assert_uint_eq(wc.imm, 4711);
	ck_assert_uint_eq(wc.byte_len, SIZE);
	ck_assert_ptr_eq(wc.ep, l->b);
	srq_close();
}
END_TEST

/* The event arrives once, and again only if it is requested again. */
START_TEST(limit)
{
	struct tp_event ev;
	struct mem *out;
	struct link *l;
	int i;

	if (!shares())
		return;
	srq_open(RECEIVES, SIZE);
	out = mem_new(&world.a, SIZE, 0);
	l = sharing();
	ck_ok(tp_srq_limit(srq, RECEIVES - 2));
	for (i = 0; i < 2; i++) {
		send(l, out, SIZE);
		taken();
	}
	expect_silence(&world.b, NULL);
	send(l, out, SIZE);
	ev = expect_ev(&world, &world.b, NULL, TP_EV_SRQ_LIMIT);
	ck_assert_ptr_eq(ev.srq, srq);
	taken();
	send(l, out, SIZE);
	taken();
	ck_assert(!side_find_ev(&world.b, NULL, &ev));
	ck_ok(tp_srq_limit(srq, RECEIVES - 2));
	send(l, out, SIZE);
	expect_ev(&world, &world.b, NULL, TP_EV_SRQ_LIMIT);
	srq_close();
}
END_TEST

/* A message that is too long breaks only its connection. */
START_TEST(too_long)
{
	struct link *l, *other;
	struct mem *out;
	struct tp_wc wc;

	if (!shares())
		return;
	srq_open(RECEIVES, SIZE);
	out = mem_new(&world.a, LONG, 0);
	l = sharing();
	other = sharing();
	send(l, out, SIZE + 1);
	wc = taken();
	ck_assert_int_ne(wc.status, 0);
	ck_assert_int_ne(expect_gone(&world, &world.b, l->b), 0);
	post((unsigned int)wc.wr_id, SIZE);
	send(other, out, SIZE);
	wc = taken();
	ck_assert_int_eq(wc.status, 0);
	ck_assert_ptr_eq(wc.ep, other->b);
	srq_close();
}
END_TEST

/* Waits for n completions, and posts the receives again. */
static void all_back(unsigned int n, bool *seen)
{
	struct tp_wc wc;

	while (n--) {
		wc = taken();
		ck_assert(!seen[wc.wr_id]);
		seen[wc.wr_id] = true;
	}
}

/* Posts each completed receive again. */
static void again(void)
{
	struct tp_wc wc;

	while (side_find_wc(&world.b, NULL, &wc)) {
		ck_assert_ptr_eq(wc.srq, srq);
		post((unsigned int)wc.wr_id, LONG);
	}
}

/*
 * Endpoints are closed during messages, on either side.  Each receive that they consumed is
 * returned, and those that they did not consume serve others.
 */
START_TEST(closed_in_the_middle)
{
	struct mem *out;
	struct link *l, *last;
	unsigned int round, i;

	if (!shares())
		return;
	srq_open(RECEIVES, LONG);
	out = mem_new(&world.a, LONG, 0);
	last = sharing();
	for (round = 0; round < 10; round++) {
		bool seen[RECEIVES] = { false };

		l = sharing();
		for (i = 0; i < RECEIVES / 2; i++)
			send(l, out, LONG);
		if (round % 2)
			side_pump(&world.b);
		again();
		link_close(l);
		for (i = 0; i < 20; i++)
			world_pump(&world);
		again();
		for (i = 0; i < RECEIVES; i++)
			send(last, out, LONG);
		all_back(RECEIVES, seen);
		for (i = 0; i < RECEIVES; i++)
			post(i, LONG);
		side_forget(&world.a, last->a);
	}
	srq_close();
}
END_TEST

TCase *case_shared(void)
{
	TCase *tc = contract_case("shared");

	tcase_add_test(tc, not_over_others);
	tcase_add_test(tc, bounds);
	tcase_add_test(tc, any_endpoint);
	tcase_add_test(tc, write_imm);
	tcase_add_test(tc, limit);
	tcase_add_test(tc, too_long);
	tcase_add_test(tc, closed_in_the_middle);
	return tc;
}
