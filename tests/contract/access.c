/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * access.c - one-sided operations that must be rejected: the remote memory is not touched, the
 * connection breaks at both ends, and other connections do not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/contract/contract.h"

#define LEN 8192u

/* The fault of the request. */
enum wrong {
	WRONG_KEY,
	KEY_ZERO,
	STALE_KEY,
	BEFORE, /* starts before the memory */
	BEHIND, /* ends beyond the end of the memory */
	FAR, /* is completely beyond the end */
	LONGER, /* is longer than the whole memory */
	WRAPS, /* addr + len overflows */
	NO_RIGHT,
	OTHER_DEVICE, /* a key of the initiator itself */
	WRONGS
};

static const enum tp_opcode opcodes[] = {
	TP_WRITE, TP_WRITE_IMM, TP_READ, TP_FETCH_ADD, TP_CMP_SWAP,
};
#define OPCODES ((int)(sizeof(opcodes) / sizeof(opcodes[0])))

static unsigned int right_of(enum tp_opcode op)
{
	if (op == TP_READ)
		return TP_REMOTE_READ;
	return op == TP_WRITE || op == TP_WRITE_IMM ? TP_REMOTE_WRITE
						    : TP_REMOTE_ATOMIC;
}

static unsigned int rights(enum tp_opcode op, enum wrong wrong)
{
	unsigned int all = TP_REMOTE_READ | TP_REMOTE_WRITE | TP_REMOTE_ATOMIC |
			   TP_LOCAL_WRITE;

	return wrong == NO_RIGHT ? all & ~right_of(op) : all;
}

static void spoil(struct tp_send_wr *wr, enum wrong wrong, struct mem *there,
		  const struct mem *local)
{
	uint32_t len = wr->sgl->len;

	switch (wrong) {
	case WRONG_KEY:
		wr->rkey ^= 0x5a5a5a5au;
		break;
	case KEY_ZERO:
		wr->rkey = 0;
		break;
	case STALE_KEY:
		tp_mr_dereg(there->mr);
		ck_ok(tp_mr_reg(world.b.dev, there->p, there->len,
				TP_REMOTE_READ | TP_REMOTE_WRITE |
					TP_REMOTE_ATOMIC,
				&there->mr));
		break;
	case BEFORE:
		wr->remote_addr = (uintptr_t)there->p - 8;
		break;
	case BEHIND:
		wr->remote_addr = (uintptr_t)there->p + LEN - len + 8;
		break;
	case FAR:
		wr->remote_addr = (uintptr_t)there->p + LEN + 64;
		break;
	case LONGER:
		wr->remote_addr = (uintptr_t)there->p - (LEN > len ? 8 : 0);
		break;
	case WRAPS:
		wr->remote_addr = UINT64_MAX - 7;
		break;
	case OTHER_DEVICE:
		wr->remote_addr = (uintptr_t)local->p;
		wr->rkey = local->mr->rkey;
		break;
	case NO_RIGHT:
	case WRONGS:
		break;
	}
}

/* The receive 40 of ep was flushed.  Returns the completion of request 1. */
static struct tp_wc one_and_flush(struct side *s, struct tp_ep *ep)
{
	struct tp_wc wc[2] = { world_wc(&world, s, ep),
			       world_wc(&world, s, ep) };
	int recv = wc[0].wr_id == 40 ? 0 : 1;

	ck_assert_uint_eq(wc[recv].wr_id, 40);
	ck_assert_int_eq(wc[recv].opcode, TP_RECV);
	ck_assert_int_eq(wc[recv].status, -ECANCELED);
	ck_assert_uint_eq(wc[!recv].wr_id, 1);
	return wc[!recv];
}

/* Checks both ends of l after a rejected request 1 of opcode op. */
static void expect_refused(struct link *l, enum tp_opcode op)
{
	struct tp_wc wc = one_and_flush(&world.a, l->a);
	bool answers = op != TP_WRITE && op != TP_WRITE_IMM;
	struct tp_send_wr wr = wr_rdma(TP_WRITE, 3, NULL, NULL, 0);

	ck_assert_int_eq(wc.opcode, op);
	ck_assert(wc.status == -EACCES || (wc.status == 0 && !answers));
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -EACCES);
	ck_assert_int_lt(expect_gone(&world, &world.b, l->b), 0);
	expect_wc(&world, &world.b, l->b, 40, TP_RECV, -ECANCELED);
	ck_assert_int_eq(tp_post_send(l->a, &wr), -ENOTCONN);
	ck_assert_int_eq(tp_post_send(l->b, &wr), -ENOTCONN);
}

static void refuse(enum tp_opcode op, enum wrong wrong, uint32_t len)
{
	unsigned int all = rights(op, -1);
	struct link *l = link_open(&world, NULL);
	struct link *other = link_open(&world, NULL);
	struct mem *local = mem_new(&world.a, LEN + 64, all);
	struct mem *there = mem_new(&world.b, LEN, rights(op, wrong));
	struct tp_sge sge = sge_of(local, 0, len);
	struct tp_send_wr wr = wr_rdma(op, 1, &sge, there, 0);

	memset(local->p, 0xff, local->len);
	side_recv(l->a, 40, mem_new(&world.a, 8, TP_LOCAL_WRITE), 0, 8);
	side_recv(l->b, 40, mem_new(&world.b, 8, TP_LOCAL_WRITE), 0, 8);
	wr.compare_add = wr.swap = 1;
	if (op == TP_CMP_SWAP)
		wr.compare_add = 0;
	spoil(&wr, wrong, there, local);
	ck_ok(tp_post_send(l->a, &wr));
	expect_refused(l, op);
	mem_check_zero(there);
	link_works(&world, other);
}

START_TEST(refused)
{
	enum tp_opcode op = opcodes[_i % OPCODES];
	enum wrong wrong = _i / OPCODES;
	bool atomic = op == TP_FETCH_ADD || op == TP_CMP_SWAP;

	if (atomic) {
		refuse(op, wrong, 8);
		return;
	}
	refuse(op, wrong, wrong == LONGER ? LEN + 64 : 4096);
	refuse(op, wrong, wrong == LONGER ? LEN + 64 : 16);
}
END_TEST

/* In a chain, the requests after the rejected one are not executed. */
START_TEST(rest_of_chain)
{
	struct link *l = link_open(&world, NULL);
	struct mem *local = mem_new(&world.a, LEN, TP_LOCAL_WRITE);
	struct mem *there = mem_new(&world.b, LEN, TP_REMOTE_WRITE);
	struct mem *hidden = mem_new(&world.b, LEN, 0);
	struct tp_sge sge = sge_of(local, 0, 64);
	struct tp_send_wr wr[3];
	int i;

	mem_fill(local, 3);
	for (i = 0; i < 3; i++) {
		wr[i] = wr_rdma(TP_READ, i, &sge, hidden, 0);
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
	}
	wr[1] = wr_rdma(TP_WRITE, 1, &sge, there, 0);
	wr[1].next = &wr[2];
	ck_ok(tp_post_send(l->a, wr));
	expect_wc(&world, &world.a, l->a, 0, TP_READ, -EACCES);
	expect_wc(&world, &world.a, l->a, 1, TP_WRITE, -ECANCELED);
	expect_wc(&world, &world.a, l->a, 2, TP_READ, -ECANCELED);
	ck_assert_int_eq(expect_gone(&world, &world.a, l->a), -EACCES);
	mem_check_zero(there);
}
END_TEST

/* The rejecting side may be the one that connected. */
START_TEST(connector_refuses)
{
	struct link *l = link_open(&world, NULL);
	struct mem *local = mem_new(&world.b, 64, TP_LOCAL_WRITE);
	struct mem *there = mem_new(&world.a, 64, TP_LOCAL_WRITE);
	struct tp_sge sge = sge_of(local, 0, 64);
	struct tp_send_wr wr = wr_rdma(TP_READ, 1, &sge, there, 0);

	ck_ok(tp_post_send(l->b, &wr));
	expect_wc(&world, &world.b, l->b, 1, TP_READ, -EACCES);
	ck_assert_int_eq(expect_gone(&world, &world.b, l->b), -EACCES);
	ck_assert_int_lt(expect_gone(&world, &world.a, l->a), 0);
}
END_TEST

/* Memory for one connection only: another connection cannot access it with its key. */
START_TEST(of_another_connection)
{
	unsigned int all = rights(opcodes[_i], -1);
	struct link *own = link_open(&world, NULL);
	struct link *l = link_open(&world, NULL);
	struct mem *local = mem_new(&world.a, 8, all);
	struct mem *there = mem_new(&world.b, 8, all | TP_OWNED);
	struct tp_sge sge = sge_of(local, 0, 8);
	struct tp_send_wr wr;
	int rc = tp_mr_only(there->mr, own->b);

	if (rc) { /* an adapter without memory windows; Soft-RoCE has them */
		ck_assert_int_eq(rc, -EOPNOTSUPP);
		ck_assert(!getenv("RXE_VM"));
		return;
	}
	wr = wr_rdma(opcodes[_i], 1, &sge, there, 0);
	memset(local->p, 0xff, local->len);
	side_recv(l->a, 40, mem_new(&world.a, 8, TP_LOCAL_WRITE), 0, 8);
	side_recv(l->b, 40, mem_new(&world.b, 8, TP_LOCAL_WRITE), 0, 8);
	wr.swap = 1;
	ck_ok(tp_post_send(l->a, &wr));
	expect_refused(l, opcodes[_i]);
	mem_check_zero(there);
	if (opcodes[_i] == TP_WRITE_IMM)
		side_recv(own->b, 41, mem_new(&world.b, 8, TP_LOCAL_WRITE), 0,
			  8);
	ck_ok(tp_post_send(own->a, &wr));
	expect_wc(&world, &world.a, own->a, 1, opcodes[_i], 0);
	if (opcodes[_i] == TP_WRITE_IMM)
		expect_wc(&world, &world.b, own->b, 41, TP_RECV_IMM, 0);
	link_works(&world, own);
}
END_TEST

/* A wrong local key is rejected at once, or fails the request. */
START_TEST(local_key)
{
	struct link *l = link_open(&world, NULL);
	struct mem *local = mem_new(&world.a, 64, 0);
	struct mem *there = mem_new(&world.b, 128,
				    TP_REMOTE_READ | TP_REMOTE_WRITE);
	struct tp_sge sge = sge_of(local, 0, 64);
	struct tp_send_wr wr = wr_rdma(TP_WRITE, 1, &sge, there, 0);
	int rc;

	switch (_i) {
	case 0:
		sge.lkey ^= 0x5a5a5a5au;
		break;
	case 1:
		sge.len = 65;
		break;
	case 2: /* a read must not write to it */
		wr.opcode = TP_READ;
		break;
	}
	rc = tp_post_send(l->a, &wr);
	if (rc) {
		ck_assert_int_eq(rc, -EINVAL);
		link_works(&world, l);
	} else {
		expect_wc(&world, &world.a, l->a, 1, wr.opcode, -EFAULT);
	}
	mem_check_zero(there);
	mem_check_zero(local);
}
END_TEST

START_TEST(local_key_of_receive)
{
	struct link *l = link_open(&world, NULL);
	struct mem *in = mem_new(&world.b, 64, 0);
	struct mem *out = mem_new(&world.a, 64, 0);
	struct tp_sge sge = sge_of(out, 0, 64);
	struct tp_recv_wr rwr = { 1, sge_of(in, 0, 64) };
	struct tp_send_wr wr = wr_send(2, &sge);
	int rc = tp_post_recv(l->b, &rwr);

	mem_fill(out, 1);
	if (rc) {
		ck_assert_int_eq(rc, -EINVAL);
		link_works(&world, l);
	} else {
		ck_ok(tp_post_send(l->a, &wr));
		expect_wc(&world, &world.b, l->b, 1, TP_RECV, -EFAULT);
	}
	mem_check_zero(in);
}
END_TEST

TCase *case_access(void)
{
	TCase *tc = contract_case("access");

	tcase_add_loop_test(tc, refused, 0, WRONGS * OPCODES);
	tcase_add_test(tc, rest_of_chain);
	tcase_add_test(tc, connector_refuses);
	tcase_add_loop_test(tc, of_another_connection, 0, OPCODES);
	tcase_add_loop_test(tc, local_key, 0, 3);
	tcase_add_test(tc, local_key_of_receive);
	return tc;
}
