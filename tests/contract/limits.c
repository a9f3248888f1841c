/* SPDX-License-Identifier: BSD-2-Clause */
/* limits.c - the maximum of outstanding requests, and invalid requests. */
#include <errno.h>
#include <string.h>

#include "tests/contract/contract.h"

#define ALL (TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE)

static const struct tp_ep_attr small = { .max_send_wr = 4, .max_recv_wr = 3 };

START_TEST(receives)
{
	struct mem *in = mem_new(&world.b, 64, TP_LOCAL_WRITE);
	struct mem *out = mem_new(&world.a, 64, 0);
	struct link *l = link_idle(&world, &small);
	struct tp_recv_wr rwr = { 9, sge_of(in, 0, 64) };
	struct tp_sge sge = sge_of(out, 0, 64);
	struct tp_send_wr wr = wr_send(1, &sge);
	int i;

	for (i = 0; i < 3; i++)
		side_recv(l->b, i, in, 0, 64);
	ck_assert_int_eq(tp_post_recv(l->b, &rwr), -ENOBUFS);
	link_start(&world, l);
	ck_assert_int_eq(tp_post_recv(l->b, &rwr), -ENOBUFS);
	for (i = 0; i < 20; i++) {
		ck_ok(tp_post_send(l->a, &wr));
		expect_wc(&world, &world.b, l->b, i, TP_RECV, 0);
		side_recv(l->b, i + 3, in, 0, 64);
		ck_assert_int_eq(tp_post_recv(l->b, &rwr), -ENOBUFS);
		expect_wc(&world, &world.a, l->a, 1, TP_SEND, 0);
	}
}
END_TEST

/* Reads cannot complete while the peer is stopped, so there is no room for the fifth. */
START_TEST(sends)
{
	struct mem *in = mem_new(&world.a, 64, TP_LOCAL_WRITE);
	struct mem *there = mem_new(&world.b, 64, TP_REMOTE_READ);
	struct tp_sge sge = sge_of(in, 0, 64);
	struct tp_send_wr wr = wr_rdma(TP_READ, 1, &sge, there, 0);
	struct link *l = link_open(&world, &small);
	int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 4; i++)
			ck_ok(tp_post_send(l->a, &wr));
		ck_assert_int_eq(tp_post_send(l->a, &wr), -ENOBUFS);
		for (i = 0; i < 4; i++)
			expect_wc(&world, &world.a, l->a, 1, TP_READ, 0);
	}
	expect_silence(&world.a, l->a);
}
END_TEST

/* Of a chain that does not fit, nothing is posted. */
START_TEST(chain_all_or_nothing)
{
	struct mem *out = mem_new(&world.a, 64, 0);
	struct mem *there = mem_new(&world.b, 64, TP_REMOTE_WRITE);
	struct tp_sge sge = sge_of(out, 0, 64);
	struct link *l = link_open(&world, &small);
	struct tp_send_wr wr[5];
	int i;

	mem_fill(out, 1);
	for (i = 0; i < 5; i++) {
		wr[i] = wr_rdma(TP_WRITE, i, &sge, there, 0);
		wr[i].next = i < 4 ? &wr[i + 1] : NULL;
	}
	ck_assert_int_eq(tp_post_send(l->a, wr), -ENOBUFS);
	wr[3].opcode = TP_RECV; /* also for another error */
	wr[3].next = NULL;
	ck_assert_int_eq(tp_post_send(l->a, wr), -EINVAL);
	link_works(&world, l);
	mem_check_zero(there);
	expect_silence(&world.a, l->a);
	wr[3].opcode = TP_WRITE;
	ck_ok(tp_post_send(l->a, wr));
	for (i = 0; i < 4; i++)
		expect_wc(&world, &world.a, l->a, i, TP_WRITE, 0);
}
END_TEST

/* Unsignaled requests release their room with the next signaled one. */
START_TEST(unsignaled_room)
{
	struct mem *out = mem_new(&world.a, 64, 0);
	struct mem *there = mem_new(&world.b, 64, TP_REMOTE_WRITE);
	struct tp_sge sge = sge_of(out, 0, 64);
	struct tp_send_wr wr = wr_rdma(TP_WRITE, 1, &sge, there, 0);
	struct link *l = link_open(&world, &small);
	int i;

	for (i = 0; i < 100; i++) {
		wr.flags = 0;
		ck_ok(tp_post_send(l->a, &wr));
		ck_ok(tp_post_send(l->a, &wr));
		ck_ok(tp_post_send(l->a, &wr));
		wr.flags = TP_SIGNALED;
		ck_ok(tp_post_send(l->a, &wr));
		expect_wc(&world, &world.a, l->a, 1, TP_WRITE, 0);
	}
}
END_TEST

START_TEST(defaults)
{
	struct mem *in = mem_new(&world.a, 64, ALL);
	struct mem *there = mem_new(&world.b, 64, ALL);
	struct tp_sge sge = sge_of(in, 0, 64);
	struct tp_send_wr wr = wr_rdma(TP_READ, 1, &sge, there, 0);
	struct tp_recv_wr rwr = { 2, sge_of(in, 0, 64) };
	struct link *l = link_open(&world, NULL);
	int i;

	for (i = 0; i < 256; i++)
		ck_ok(tp_post_send(l->a, &wr));
	ck_assert_int_eq(tp_post_send(l->a, &wr), -ENOBUFS);
	for (i = 0; i < 64; i++)
		ck_ok(tp_post_recv(l->a, &rwr));
	ck_assert_int_eq(tp_post_recv(l->a, &rwr), -ENOBUFS);
	for (i = 0; i < 256; i++)
		expect_wc(&world, &world.a, l->a, 1, TP_READ, 0);
}
END_TEST

START_TEST(cq_depth)
{
	const struct tp_ep_attr attr = { .max_send_wr = 60, .max_recv_wr = 40 };
	struct tp_ep *ep[3] = { NULL };
	struct tp_cq *cq;

	ck_ok(tp_cq_open(world.a.dev, 200, &cq));
	ck_ok(tp_ep_open(cq, &attr, &ep[0]));
	ck_ok(tp_ep_open(cq, &attr, &ep[1]));
	ck_assert_int_eq(tp_ep_open(cq, &attr, &ep[2]), -ENOBUFS);
	ck_assert_ptr_null(ep[2]);
	tp_ep_close(ep[0]);
	ck_ok(tp_ep_open(cq, &attr, &ep[2]));
	tp_ep_close(ep[1]);
	tp_ep_close(ep[2]);
	tp_cq_close(cq);
}
END_TEST

/* Invalid requests are rejected and change nothing. */
START_TEST(nonsense)
{
	struct mem *m = mem_new(&world.a, 64, ALL);
	struct mem *there = mem_new(&world.b, 64, ALL);
	struct link *l = link_open(&world, NULL);
	struct tp_sge sge[TP_SGE_MAX + 1];
	struct tp_send_wr wr = wr_rdma(TP_WRITE, 1, sge, there, 0);
	unsigned int i;

	for (i = 0; i <= TP_SGE_MAX; i++)
		sge[i] = sge_of(m, 0, 1);
	wr.nsge = TP_SGE_MAX + 1;
	ck_assert_int_eq(tp_post_send(l->a, &wr), -EINVAL);
	wr.opcode = TP_SEND;
	ck_assert_int_eq(tp_post_send(l->a, &wr), -EINVAL);
	wr.nsge = 1;
	wr.opcode = TP_RECV;
	ck_assert_int_eq(tp_post_send(l->a, &wr), -EINVAL);
	wr.opcode = TP_RECV_IMM;
	ck_assert_int_eq(tp_post_send(l->a, &wr), -EINVAL);
	wr.opcode = (enum tp_opcode)1000;
	ck_assert_int_eq(tp_post_send(l->a, &wr), -EINVAL);
	link_works(&world, l);
	expect_silence(&world.a, l->a);
	mem_check_zero(there);
}
END_TEST

/* Longer than a request may be; the gather list alone shows that. */
START_TEST(oversize)
{
	struct mem *m = mem_new(&world.a, TP_SEND_MAX, ALL);
	struct mem *there = mem_new(&world.b, 64, ALL);
	struct link *l = link_open(&world, NULL);
	struct tp_sge sge[TP_SGE_MAX];
	struct tp_send_wr wr;
	unsigned int i;

	for (i = 0; i < TP_SGE_MAX; i++)
		sge[i] = sge_of(m, 0, TP_SEND_MAX);
	wr = wr_send(1, sge);
	wr.nsge = 2;
	sge[1].len = 1;
	ck_assert_int_eq(tp_post_send(l->a, &wr), -EINVAL);
	wr = wr_rdma(TP_WRITE, 1, sge, there, 0);
	wr.nsge = TP_SGE_MAX; /* 259 * 4 MiB + 1: above 1 GiB */
	ck_assert_int_eq(tp_post_send(l->a, &wr), -EINVAL);
	wr.opcode = TP_READ;
	ck_assert_int_eq(tp_post_send(l->a, &wr), -EINVAL);
	link_works(&world, l);
}
END_TEST

TCase *case_limits(void)
{
	TCase *tc = contract_case("limits");

	tcase_add_test(tc, receives);
	tcase_add_test(tc, sends);
	tcase_add_test(tc, chain_all_or_nothing);
	tcase_add_test(tc, unsignaled_room);
	tcase_add_test(tc, defaults);
	tcase_add_test(tc, cq_depth);
	tcase_add_test(tc, nonsense);
	tcase_add_test(tc, oversize);
	return tc;
}
