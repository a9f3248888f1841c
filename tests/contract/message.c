/* SPDX-License-Identifier: BSD-2-Clause */
/* message.c - SEND and receive: sizes, gather lists, order, completions. */
#include <errno.h>
#include <string.h>

#include "tests/contract/contract.h"

/* l->a sends len bytes in nsge pieces of `out` to `in` at l->b. */
static void send_pieces(struct link *l, struct mem *out, struct mem *in,
			uint32_t len, unsigned int nsge)
{
	struct tp_sge sgl[TP_SGE_MAX];
	struct tp_send_wr wr;
	struct tp_wc wc;
	unsigned int i;
	uint32_t at = 0, piece;

	for (i = 0; i < nsge; i++) {
		piece = i + 1 < nsge ? len / nsge : len - at;
		sgl[i] = sge_of(out, at, piece);
		at += piece;
	}
	side_recv(l->b, 20, in, 0, (uint32_t)in->len);
	wr = wr_send(10, sgl);
	wr.nsge = nsge;
	ck_ok(tp_post_send(l->a, &wr));
	/* the list belongs to the caller again */
	memset(sgl, 0xff, sizeof(sgl));
	memset(&wr, 0xff, sizeof(wr));
	wc = expect_wc(&world, &world.b, l->b, 20, TP_RECV, 0);
	ck_assert_uint_eq(wc.byte_len, len);
	expect_wc(&world, &world.a, l->a, 10, TP_SEND, 0);
	mem_check(in, 0, len, 5, 0);
}

static const uint32_t sizes[] = {
	0,    1,    7,	   8,	  63,	  64,	   65,
	1500, 4096, 65535, 65536, 262144, 1000003, TP_SEND_MAX,
};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

START_TEST(size)
{
	struct link *l = link_open(&world, NULL);
	uint32_t len = sizes[_i];
	struct mem *out = mem_new(&world.a, len + 1, 0);
	struct mem *in = mem_new(&world.b, len + 1, TP_LOCAL_WRITE);

	mem_fill(out, 5);
	send_pieces(l, out, in, len, 1);
	ck_assert_uint_eq(in->p[len], 0);
	if (len == 0)
		send_pieces(l, out, in, len, 0);
}
END_TEST

/* Gather lists, also with more entries than bytes: some are empty. */
START_TEST(gather)
{
	static const unsigned int counts[] = { 2, 3, 16, 64, TP_SGE_MAX };
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, 300000, 0);
	struct mem *in = mem_new(&world.b, 300000, TP_LOCAL_WRITE);

	mem_fill(out, 5);
	send_pieces(l, out, in, 300000, counts[_i]);
	send_pieces(l, out, in, 1001, counts[_i]);
	send_pieces(l, out, in, 2, counts[_i]);
	send_pieces(l, out, in, 0, counts[_i]);
}
END_TEST

/* Memory without a registration is sent if the CPU copies it, and otherwise rejected. */
START_TEST(unregistered)
{
	struct link *l = link_open(&world, NULL);
	struct mem *head = mem_new(&world.a, 64, 0);
	struct mem *in = mem_new(&world.b, 50000, TP_LOCAL_WRITE);
	static uint8_t plain[40000];
	struct tp_sge sgl[3] = { sge_of(head, 0, 64),
				 { plain, 39990, TP_LKEY_NONE },
				 { plain + 39990, 10, TP_LKEY_NONE } };
	struct tp_send_wr wr = wr_send(1, sgl);
	int rc;

	mem_fill(head, 3);
	pattern(plain, sizeof(plain), 3, 64);
	wr.nsge = 3;
	side_recv(l->b, 5, in, 0, 50000);
	rc = tp_post_send(l->a, &wr);
	if (rc) {
		ck_assert_int_eq(rc, -EINVAL);
		return;
	}
	expect_wc(&world, &world.b, l->b, 5, TP_RECV, 0);
	expect_wc(&world, &world.a, l->a, 1, TP_SEND, 0);
	mem_check(in, 0, 64 + sizeof(plain), 3, 0);
}
END_TEST

START_TEST(receives_before_start)
{
	struct mem *in = mem_new(&world.b, 4096, TP_LOCAL_WRITE);
	struct mem *out = mem_new(&world.a, 64, 0);
	struct tp_sge sge = sge_of(out, 0, 64);
	struct tp_send_wr wr = wr_send(1, &sge);
	struct link *l = link_idle(&world, NULL);
	unsigned int i;

	for (i = 0; i < 64; i++)
		side_recv(l->b, i, in, i * 64ul, 64);
	link_start(&world, l);
	mem_fill(out, 9);
	for (i = 0; i < 64; i++) {
		ck_ok(tp_post_send(l->a, &wr));
		expect_wc(&world, &world.b, l->b, i, TP_RECV, 0);
		expect_wc(&world, &world.a, l->a, 1, TP_SEND, 0);
		mem_check(in, i * 64ul, 64, 9, 0);
	}
}
END_TEST

enum { SLOTS = 32, SLOT = 5000, ALL = 1000 };

static void send_nth(struct link *l, const struct mem *out, uint32_t i)
{
	struct tp_sge sge = sge_of(out, i % SLOTS * SLOT, i * 37 % SLOT);
	struct tp_send_wr wr = wr_send(i, &sge);

	pattern(sge.addr, sge.len, i, 0);
	ck_ok(tp_post_send(l->a, &wr));
}

static void take_nth(struct link *l, const struct mem *in, uint32_t i,
		     const struct tp_wc *wc)
{
	ck_assert_int_eq(wc->status, 0);
	ck_assert_uint_eq(wc->wr_id, i % SLOTS);
	ck_assert_uint_eq(wc->byte_len, i * 37 % SLOT);
	mem_check(in, wc->wr_id * SLOT, wc->byte_len, i, 0);
	side_recv(l->b, wc->wr_id, in, wc->wr_id * SLOT, SLOT);
}

/* Messages of changing size, 32 in flight, arrive in order and complete. */
START_TEST(order)
{
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, SLOTS * SLOT, 0);
	struct mem *in = mem_new(&world.b, SLOTS * SLOT, TP_LOCAL_WRITE);
	uint64_t deadline = clock_after_ms(PATIENCE_MS);
	uint32_t i, sent = 0, done = 0, came = 0;
	struct tp_wc wc;

	for (i = 0; i < SLOTS; i++)
		side_recv(l->b, i, in, i * SLOT, SLOT);
	while (came < ALL || done < ALL) {
		ck_assert_uint_lt(clock_now(), deadline);
		while (sent < ALL && sent < came + SLOTS && sent < done + SLOTS)
			send_nth(l, out, sent++);
		world_pump(&world);
		while (side_find_wc(&world.b, l->b, &wc))
			take_nth(l, in, came++, &wc);
		while (side_find_wc(&world.a, l->a, &wc))
			ck_assert_uint_eq(wc.wr_id, done++);
	}
}
END_TEST

/* An unsignaled success has no completion; a later signaled one covers it. */
START_TEST(unsignaled)
{
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, 64, 0);
	struct mem *in = mem_new(&world.b, 64 * 64, TP_LOCAL_WRITE);
	struct tp_sge sge = sge_of(out, 0, 64);
	struct tp_send_wr wr;
	unsigned int i;

	for (i = 0; i < 30; i++) {
		side_recv(l->b, i, in, i * 64ul, 64);
		wr = wr_send(i, &sge);
		wr.flags = i % 10 == 9 ? TP_SIGNALED : 0;
		ck_ok(tp_post_send(l->a, &wr));
	}
	for (i = 0; i < 30; i++)
		expect_wc(&world, &world.b, l->b, i, TP_RECV, 0);
	for (i = 9; i < 30; i += 10)
		expect_wc(&world, &world.a, l->a, i, TP_SEND, 0);
	link_works(&world, l);
	expect_silence(&world.a, l->a);
	expect_silence(&world.b, l->b);
}
END_TEST

/* An unsignaled request that fails has a completion. */
START_TEST(unsignaled_failure)
{
	struct link *l = link_open(&world, NULL);
	struct mem *in = mem_new(&world.a, 64, TP_LOCAL_WRITE);
	struct mem *there = mem_new(&world.b, 64, 0);
	struct tp_sge sge = sge_of(in, 0, 64);
	struct tp_send_wr wr = wr_rdma(TP_READ, 6, &sge, there, 0);

	wr.flags = 0;
	ck_ok(tp_post_send(l->a, &wr));
	expect_wc(&world, &world.a, l->a, 6, TP_READ, -EACCES);
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -EACCES);
}
END_TEST

START_TEST(chain)
{
	enum { N = 50 };
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, N * 64, 0);
	struct mem *in = mem_new(&world.b, N * 64, TP_LOCAL_WRITE);
	struct tp_send_wr wr[N];
	struct tp_sge sge[N];
	unsigned int i;

	mem_fill(out, 12);
	for (i = 0; i < N; i++) {
		side_recv(l->b, i, in, i * 64ul, 64);
		sge[i] = sge_of(out, i * 64ul, 64);
		wr[i] = wr_send(100 + i, &sge[i]);
		wr[i].flags = 0;
		wr[i].next = i + 1 < N ? &wr[i + 1] : NULL;
	}
	wr[N - 1].flags = TP_SIGNALED;
	ck_ok(tp_post_send(l->a, wr));
	memset(wr, 0xff, sizeof(wr));
	memset(sge, 0xff, sizeof(sge));
	for (i = 0; i < N; i++)
		expect_wc(&world, &world.b, l->b, i, TP_RECV, 0);
	expect_wc(&world, &world.a, l->a, 100 + N - 1, TP_SEND, 0);
	mem_check(in, 0, in->len, 12, 0);
	link_works(&world, l);
	expect_silence(&world.a, l->a);
}
END_TEST

/* Many round trips; the reply is posted at the receive's completion. */
START_TEST(ping_pong)
{
	struct link *l = link_open(&world, NULL);
	int i;

	for (i = 0; i < 200; i++)
		link_works(&world, l);
}
END_TEST

/* A message that waits for a receive delays only its own endpoint, and continues later. */
START_TEST(no_receive_posted)
{
	struct link *slow = link_open(&world, NULL);
	struct link *other = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, 1 << 20, 0);
	struct mem *in = mem_new(&world.b, 1 << 20, TP_LOCAL_WRITE);
	struct tp_sge sge = sge_of(out, 0, 1 << 20);
	struct tp_send_wr wr;
	int i;

	mem_fill(out, 4);
	for (i = 0; i < 8; i++) {
		wr = wr_send(i, &sge);
		ck_ok(tp_post_send(slow->a, &wr));
	}
	for (i = 0; i < 20; i++)
		link_works(&world, other);
	for (i = 0; i < 8; i++) {
		memset(in->p, 0, in->len);
		side_recv(slow->b, 50 + i, in, 0, 1 << 20);
		expect_wc(&world, &world.b, slow->b, 50 + i, TP_RECV, 0);
		mem_check(in, 0, in->len, 4, 0);
	}
	for (i = 0; i < 8; i++)
		expect_wc(&world, &world.a, slow->a, i, TP_SEND, 0);
	link_works(&world, slow);
}
END_TEST

/* A message that is longer than the receive breaks both ends, but not the next endpoint. */
START_TEST(too_long)
{
	struct link *l = link_open(&world, NULL);
	struct link *other = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, 4096, 0);
	struct mem *in = mem_new(&world.b, 4096, TP_LOCAL_WRITE);
	struct tp_sge sge = sge_of(out, 0, 1001);
	struct tp_send_wr wr = wr_send(1, &sge);
	struct tp_wc wc;

	mem_fill(out, 6);
	side_recv(l->b, 11, in, 0, 1000);
	side_recv(l->b, 12, in, 2000, 1000);
	ck_ok(tp_post_send(l->a, &wr));
	expect_wc(&world, &world.b, l->b, 11, TP_RECV, -EMSGSIZE);
	expect_wc(&world, &world.b, l->b, 12, TP_RECV, -ECANCELED);
	ck_assert_int_eq(expect_gone(&world, &world.b, l->b), -EMSGSIZE);
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -EMSGSIZE);
	wc = world_wc(&world, &world.a, l->a);
	ck_assert_uint_eq(wc.wr_id, 1);
	ck_assert(wc.status == 0 || wc.status == -EMSGSIZE);
	ck_assert_mem_eq(in->p + 1000, in->p + 3000, 1000);
	link_works(&world, other);
}
END_TEST

TCase *case_message(void)
{
	TCase *tc = contract_case("message");

	tcase_add_loop_test(tc, size, 0, SIZES);
	tcase_add_loop_test(tc, gather, 0, 5);
	tcase_add_test(tc, unregistered);
	tcase_add_test(tc, receives_before_start);
	tcase_add_test(tc, order);
	tcase_add_test(tc, unsignaled);
	tcase_add_test(tc, unsignaled_failure);
	tcase_add_test(tc, chain);
	tcase_add_test(tc, ping_pong);
	tcase_add_test(tc, no_receive_posted);
	tcase_add_test(tc, too_long);
	return tc;
}
