/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma.c - RDMA Write, Write with immediate, Read. */
#include <errno.h>
#include <string.h>

#include "tests/contract/contract.h"

#define BOTH (TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE)

#define LENT 300000u

static const uint32_t sizes[] = {
	1, 7, 8, 64, 1500, 4096, 65536, 262144, 1000003, 8 << 20,
};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

START_TEST(write_size)
{
	struct link *l = link_open(&world, NULL);
	uint32_t len = sizes[_i];
	struct mem *out = mem_new(&world.a, len, 0);
	struct mem *there = mem_new(&world.b, len + 200, TP_REMOTE_WRITE);
	struct tp_sge sge = sge_of(out, 0, len);
	struct tp_send_wr wr = wr_rdma(TP_WRITE, 1, &sge, there, 100);

	mem_fill(out, 21);
	ck_ok(tp_post_send(l->a, &wr));
	expect_wc(&world, &world.a, l->a, 1, TP_WRITE, 0);
	/* a later SEND shows that the bytes have arrived */
	link_works(&world, l);
	mem_check(there, 100, len, 21, 0);
	ck_assert_uint_eq(there->p[99], 0);
	ck_assert_uint_eq(there->p[100 + len], 0);
	expect_silence(&world.b, l->b);
}
END_TEST

START_TEST(read_size)
{
	struct link *l = link_open(&world, NULL);
	uint32_t len = sizes[_i];
	struct mem *in = mem_new(&world.a, len + 200, TP_LOCAL_WRITE);
	struct mem *there = mem_new(&world.b, len, TP_REMOTE_READ);
	struct tp_sge sge = sge_of(in, 100, len);
	struct tp_send_wr wr = wr_rdma(TP_READ, 1, &sge, there, 0);
	struct tp_wc wc;

	mem_fill(there, 22);
	ck_ok(tp_post_send(l->a, &wr));
	wc = expect_wc(&world, &world.a, l->a, 1, TP_READ, 0);
	ck_assert_uint_eq(wc.byte_len, len);
	mem_check(in, 100, len, 22, 0);
	ck_assert_uint_eq(in->p[99], 0);
	ck_assert_uint_eq(in->p[100 + len], 0);
	expect_silence(&world.b, l->b);
}
END_TEST

/* When the receive completes, bytes and immediate have arrived. */
START_TEST(write_imm)
{
	struct link *l = link_open(&world, NULL);
	uint32_t len = sizes[_i];
	struct mem *out = mem_new(&world.a, len, 0);
	struct mem *there = mem_new(&world.b, len, TP_REMOTE_WRITE);
	struct mem *in = mem_new(&world.b, 64, TP_LOCAL_WRITE);
	struct tp_sge sge = sge_of(out, 0, len);
	struct tp_send_wr wr = wr_rdma(TP_WRITE_IMM, 1, &sge, there, 0);
	struct tp_wc wc;

	mem_fill(out, 23);
	wr.imm = 0xfedcba98u;
	side_recv(l->b, 5, in, 0, 64);
	side_recv(l->b, 6, in, 0, 64);
	ck_ok(tp_post_send(l->a, &wr));
	wc = expect_wc(&world, &world.b, l->b, 5, TP_RECV_IMM, 0);
	ck_assert_uint_eq(wc.imm, 0xfedcba98u);
	ck_assert_uint_eq(wc.byte_len, len);
	mem_check(there, 0, len, 23, 0);
	mem_check_zero(in); /* the buffer of the receive is not used */
	expect_wc(&world, &world.a, l->a, 1, TP_WRITE_IMM, 0);
	expect_silence(&world.b, l->b);
}
END_TEST

/* Lent memory and other memory in turn: order and content are the same. */
START_TEST(lent_memory)
{
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, LENT, 0);
	struct mem *in = mem_new(&world.a, 2 * LENT, TP_LOCAL_WRITE);
	struct mem *there[] = { mem_new(&world.b, LENT, TP_LENT | BOTH),
				mem_new(&world.b, LENT, BOTH) };
	struct tp_sge from = sge_of(out, 0, LENT), to;
	struct tp_send_wr wr;
	unsigned int i;

	mem_fill(out, 31);
	for (i = 0; i < 8; i++) {
		to = sge_of(in, i / 2 % 2 * LENT, LENT);
		wr = i % 4 < 2 ? wr_rdma(TP_WRITE, i, &from, there[i % 2], 0)
			       : wr_rdma(TP_READ, i, &to, there[i % 2], 0);
		ck_ok(tp_post_send(l->a, &wr));
	}
	for (i = 0; i < 8; i++)
		expect_wc(&world, &world.a, l->a, i,
			  i % 4 < 2 ? TP_WRITE : TP_READ, 0);
	mem_check(in, LENT, LENT, 31, 0);
	mem_check(there[0], 0, LENT, 31, 0);
	wr = wr_rdma(TP_WRITE, 9, &from, there[0], 0);
	tp_mr_dereg(there[0]->mr);
	mem_fill(out, 32);
	ck_ok(tp_post_send(l->a, &wr));
	ck_assert_int_ne(expect_gone(&world, &world.b, l->b), 0);
	mem_check(there[0], 0, LENT, 31, 0);
	ck_ok(tp_mr_reg(world.b.dev, there[0]->p, LENT, 0, &there[0]->mr));
}
END_TEST

/* A receive that is shorter than the write, or empty, is sufficient. */
START_TEST(write_imm_short_receive)
{
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, 4096, 0);
	struct mem *there = mem_new(&world.b, 4096, TP_REMOTE_WRITE);
	struct tp_sge sge = sge_of(out, 0, 4096);
	struct tp_send_wr wr = wr_rdma(TP_WRITE_IMM, 1, &sge, there, 0);
	struct tp_wc wc;

	mem_fill(out, 24);
	side_recv(l->b, 5, there, 0, 0);
	ck_ok(tp_post_send(l->a, &wr));
	wc = expect_wc(&world, &world.b, l->b, 5, TP_RECV_IMM, 0);
	ck_assert_uint_eq(wc.byte_len, 4096);
	mem_check(there, 0, 4096, 24, 0);
}
END_TEST

/* An immediate waits for a receive, and its bytes do not reveal it earlier. */
START_TEST(write_imm_waits)
{
	struct link *l = link_open(&world, NULL);
	struct link *other = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, 64, 0);
	struct mem *there = mem_new(&world.b, 64, TP_REMOTE_WRITE);
	struct tp_sge sge = sge_of(out, 0, 64);
	struct tp_send_wr wr = wr_rdma(TP_WRITE_IMM, 1, &sge, there, 0);

	wr.imm = 4;
	ck_ok(tp_post_send(l->a, &wr));
	link_works(&world, other);
	side_recv(l->b, 8, there, 0, 64);
	ck_assert_uint_eq(
		expect_wc(&world, &world.b, l->b, 8, TP_RECV_IMM, 0).imm, 4);
	expect_wc(&world, &world.a, l->a, 1, TP_WRITE_IMM, 0);
}
END_TEST

/* Sends and immediates consume the receives in the order of posting. */
START_TEST(mixed_order)
{
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, 64, 0);
	struct mem *in = mem_new(&world.b, 64, BOTH);
	struct tp_sge sge = sge_of(out, 0, 64);
	struct tp_send_wr wr;
	struct tp_wc wc;
	uint32_t i;

	for (i = 0; i < 40; i++)
		side_recv(l->b, i, in, 0, 64);
	for (i = 0; i < 40; i++) {
		wr = i % 3 ? wr_rdma(TP_WRITE_IMM, i, &sge, in, 0)
			   : wr_send(i, &sge);
		wr.imm = i * 1000;
		ck_ok(tp_post_send(l->a, &wr));
	}
	for (i = 0; i < 40; i++) {
		wc = expect_wc(&world, &world.b, l->b, i,
			       i % 3 ? TP_RECV_IMM : TP_RECV, 0);
		ck_assert_uint_eq(wc.byte_len, 64);
		if (i % 3)
			ck_assert_uint_eq(wc.imm, i * 1000);
		expect_wc(&world, &world.a, l->a, i,
			  i % 3 ? TP_WRITE_IMM : TP_SEND, 0);
	}
}
END_TEST

/* Zero bytes: neither address nor key is checked. */
START_TEST(zero_length)
{
	struct link *l = link_open(&world, NULL);
	struct mem *in = mem_new(&world.b, 64, TP_LOCAL_WRITE);
	struct tp_send_wr wr;
	struct tp_wc wc;

	wr = wr_rdma(TP_WRITE, 1, NULL, NULL, 0);
	wr.rkey = 0xdeadbeefu;
	wr.remote_addr = 12345;
	ck_ok(tp_post_send(l->a, &wr));
	expect_wc(&world, &world.a, l->a, 1, TP_WRITE, 0);
	wr.opcode = TP_READ;
	ck_ok(tp_post_send(l->a, &wr));
	wc = expect_wc(&world, &world.a, l->a, 1, TP_READ, 0);
	ck_assert_uint_eq(wc.byte_len, 0);
	side_recv(l->b, 3, in, 0, 64);
	wr.opcode = TP_WRITE_IMM;
	wr.imm = 42;
	ck_ok(tp_post_send(l->a, &wr));
	wc = expect_wc(&world, &world.b, l->b, 3, TP_RECV_IMM, 0);
	ck_assert_uint_eq(wc.byte_len, 0);
	ck_assert_uint_eq(wc.imm, 42);
	expect_wc(&world, &world.a, l->a, 1, TP_WRITE_IMM, 0);
}
END_TEST

/*
 * A chain of n pieces of odd sizes between two memories; local pieces are gather lists with at most
 * 4 entries.  Only the last one is signaled.
 */
static void chain(struct link *l, enum tp_opcode op, struct mem *local,
		  struct mem *remote, unsigned int n)
{
	struct tp_send_wr wr[128];
	struct tp_sge sge[128][4] = { 0 };
	unsigned int i, j;
	uint32_t at = 0, len, piece;

	for (i = 0; i < n; i++) {
		wr[i] = wr_rdma(op, 500 + i, sge[i], remote, at);
		wr[i].flags = i + 1 < n ? 0 : TP_SIGNALED;
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		wr[i].nsge = 1 + i % 4;
		len = i * 97 % 5000;
		for (j = 0; j < wr[i].nsge; j++) {
			piece = j + 1 < wr[i].nsge ? len / 4 : len;
			sge[i][j] = sge_of(local, at, piece);
			at += piece;
			len -= piece;
		}
	}
	ck_ok(tp_post_send(l->a, wr));
	memset(wr, 0xff, sizeof(wr));
	memset(sge, 0xff, sizeof(sge));
	expect_wc(&world, &world.a, l->a, 500 + n - 1, op, 0);
	link_works(&world, l);
	mem_check(op == TP_READ ? local : remote, 0, at, 31, 0);
}

START_TEST(write_chain)
{
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, 128 * 5000, 0);
	struct mem *there = mem_new(&world.b, 128 * 5000, TP_REMOTE_WRITE);

	mem_fill(out, 31);
	chain(l, TP_WRITE, out, there, 128);
	chain(l, TP_WRITE, out, there, 1);
	expect_silence(&world.a, l->a);
}
END_TEST

START_TEST(read_chain)
{
	struct link *l = link_open(&world, NULL);
	struct mem *in = mem_new(&world.a, 128 * 5000, TP_LOCAL_WRITE);
	struct mem *there = mem_new(&world.b, 128 * 5000, TP_REMOTE_READ);

	mem_fill(there, 31);
	chain(l, TP_READ, in, there, 128);
	chain(l, TP_READ, in, there, 1);
	expect_silence(&world.a, l->a);
}
END_TEST

/* The peer's pieces are in several registrations, in reverse order. */
START_TEST(scattered_chain)
{
	enum { N = 60, LEN = 3000 };
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, N * LEN, BOTH), *there[N];
	struct tp_send_wr wr[N];
	struct tp_sge sge[N];
	int i, op;

	for (i = 0; i < N; i++)
		there[i] = mem_new(&world.b, LEN, BOTH);
	for (op = TP_WRITE; op != -1; op = op == TP_WRITE ? TP_READ : -1) {
		mem_fill(out, op == TP_WRITE ? 41 : 42);
		for (i = 0; i < N; i++) {
			sge[i] = sge_of(out, (N - 1 - i) * LEN, LEN);
			wr[i] = wr_rdma(op, i, &sge[i], there[i], 0);
			wr[i].flags = i + 1 < N ? 0 : TP_SIGNALED;
			wr[i].next = i + 1 < N ? &wr[i + 1] : NULL;
		}
		ck_ok(tp_post_send(l->a, wr));
		expect_wc(&world, &world.a, l->a, N - 1, op, 0);
	}
	mem_check(out, 0, out->len, 41, 0);
	for (i = 0; i < N; i++)
		mem_check(there[i], 0, LEN, 41, (N - 1 - i) * LEN);
}
END_TEST

/* One chain: write, read it back, notify the peer; all in order. */
START_TEST(mixed_chain)
{
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, 100000, 0);
	struct mem *back = mem_new(&world.a, 100000, TP_LOCAL_WRITE);
	struct mem *there = mem_new(&world.b, 100000, BOTH);
	struct mem *in = mem_new(&world.b, 64, TP_LOCAL_WRITE);
	struct tp_sge src = sge_of(out, 0, 100000);
	struct tp_sge dst = sge_of(back, 0, 100000);
	struct tp_sge msg = sge_of(out, 0, 64);
	struct tp_send_wr wr[3];

	mem_fill(out, 51);
	wr[0] = wr_rdma(TP_WRITE, 1, &src, there, 0);
	wr[1] = wr_rdma(TP_READ, 2, &dst, there, 0);
	wr[2] = wr_send(3, &msg);
	wr[0].next = &wr[1];
	wr[1].next = &wr[2];
	wr[0].flags = wr[1].flags = 0;
	side_recv(l->b, 9, in, 0, 64);
	ck_ok(tp_post_send(l->a, wr));
	expect_wc(&world, &world.a, l->a, 3, TP_SEND, 0);
	/* Completions are in order, so the data of the read has arrived. */
	mem_check(back, 0, back->len, 51, 0);
	expect_wc(&world, &world.b, l->b, 9, TP_RECV, 0);
	mem_check(there, 0, there->len, 51, 0);
	expect_silence(&world.a, l->a);
}
END_TEST

/* Reads and messages in both directions concurrently: completions stay in order. */
START_TEST(completion_order)
{
	enum { N = 120 };
	struct link *l = link_open(&world, NULL);
	struct mem *m = mem_new(&world.a, 70000, BOTH);
	struct mem *there = mem_new(&world.b, 70000, BOTH);
	struct tp_sge sge;
	struct tp_send_wr wr;
	enum tp_opcode op;
	int i;

	for (i = 0; i < N; i++) {
		op = i % 2 ? TP_WRITE : TP_READ;
		sge = sge_of(m, 0, i % 7 ? 100 : 70000);
		wr = wr_rdma(op, i, &sge, there, 0);
		ck_ok(tp_post_send(l->a, &wr));
	}
	for (i = 0; i < N; i++)
		expect_wc(&world, &world.a, l->a, i, i % 2 ? TP_WRITE : TP_READ,
			  0);
}
END_TEST

/* The accepting side works the same way. */
START_TEST(acceptor_drives)
{
	struct link *l = link_open(&world, NULL);
	struct mem *m = mem_new(&world.b, 100000, BOTH);
	struct mem *there = mem_new(&world.a, 100000, BOTH);
	struct tp_sge sge = sge_of(m, 0, 100000);
	struct tp_send_wr wr = wr_rdma(TP_READ, 1, &sge, there, 0);

	mem_fill(there, 61);
	ck_ok(tp_post_send(l->b, &wr));
	expect_wc(&world, &world.b, l->b, 1, TP_READ, 0);
	mem_check(m, 0, m->len, 61, 0);
	mem_fill(m, 62);
	wr.opcode = TP_WRITE;
	ck_ok(tp_post_send(l->b, &wr));
	expect_wc(&world, &world.b, l->b, 1, TP_WRITE, 0);
	link_works(&world, l);
	mem_check(there, 0, there->len, 62, 0);
}
END_TEST

TCase *case_rdma(void)
{
	TCase *tc = contract_case("rdma");

	tcase_add_loop_test(tc, write_size, 0, SIZES);
	tcase_add_loop_test(tc, read_size, 0, SIZES);
	tcase_add_loop_test(tc, write_imm, 0, SIZES);
	tcase_add_test(tc, lent_memory);
	tcase_add_test(tc, write_imm_short_receive);
	tcase_add_test(tc, write_imm_waits);
	tcase_add_test(tc, mixed_order);
	tcase_add_test(tc, zero_length);
	tcase_add_test(tc, write_chain);
	tcase_add_test(tc, read_chain);
	tcase_add_test(tc, scattered_chain);
	tcase_add_test(tc, mixed_chain);
	tcase_add_test(tc, completion_order);
	tcase_add_test(tc, acceptor_drives);
	return tc;
}
