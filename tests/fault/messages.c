/* SPDX-License-Identifier: BSD-2-Clause */
/* messages.c - the rules DROP, CORRUPT and FAIL: single requests that fail. */
#include <errno.h>
#include <string.h>

#include "tests/fault/faults.h"

/* The third of five messages is lost, without an error. */
START_TEST(drop_send)
{
	struct link *l = link_open(&world, NULL);
	struct mem *in[5];
	int i;

	for (i = 0; i < 5; i++)
		in[i] = post_receive(l->b, &world.b, i);
	rules_a("send:drop:after=2");
	for (i = 0; i < 5; i++)
		post_message(l->a, &world.a, i, 100 + i);
	for (i = 0; i < 5; i++)
		expect_wc(&world, &world.a, l->a, i, TP_SEND, 0);
	for (i = 0; i < 4; i++) {
		expect_wc(&world, &world.b, l->b, i, TP_RECV, 0);
		mem_check(in[i], 0, MSG, 100 + i + (i >= 2), 0);
	}
	ck_assert_uint_eq(fault_hits(world.a.dev, 1), 1);
	post_message(l->a, &world.a, 5, 200);
	expect_wc(&world, &world.b, l->b, 4, TP_RECV, 0);
	mem_check(in[4], 0, MSG, 200, 0);
}
END_TEST

START_TEST(drop_write)
{
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, MSG, 0);
	struct mem *there = mem_new(&world.b, MSG, ALL);
	struct tp_sge sge = sge_of(out, 0, MSG);
	enum tp_opcode op = _i ? TP_WRITE_IMM : TP_WRITE;
	struct tp_send_wr wr = wr_rdma(op, 1, &sge, there, 0);

	mem_fill(out, 1);
	post_receive(l->b, &world.b, 10);
	post_receive(l->b, &world.b, 11);
	rules_a(_i ? "write_imm:drop" : "write:drop");
	ck_ok(tp_post_send(l->a, &wr));
	expect_wc(&world, &world.a, l->a, 1, op, 0);
	post_message(l->a, &world.a, 2, 7);
	expect_wc(&world, &world.b, l->b, 10, TP_RECV, 0);
	mem_check_zero(there);
	ck_ok(tp_post_send(l->a, &wr)); /* the second one succeeds */
	post_message(l->a, &world.a, 3, 7);
	expect_wc(&world, &world.b, l->b, 11, _i ? TP_RECV_IMM : TP_RECV, 0);
	mem_check(there, 0, MSG, 1, 0);
}
END_TEST

/* Checks that only the byte `at` of m differs from mem_fill(seed). */
static void check_changed(struct mem *m, size_t at, uint64_t seed)
{
	uint8_t right;

	pattern(&right, 1, seed, at);
	ck_assert_uint_ne(m->p[at], right);
	m->p[at] = right;
	mem_check(m, 0, m->len, seed, 0);
}

/* The sent copy is changed, and not the sender's memory. */
START_TEST(corrupt_sent)
{
	static const enum tp_opcode ops[] = { TP_SEND, TP_WRITE, TP_WRITE_IMM };
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, 3000, 0);
	struct mem *there = mem_new(&world.b, 3000, ALL);
	struct tp_sge sgl[3] = { sge_of(out, 0, 1000), sge_of(out, 1000, 1),
				 sge_of(out, 1001, 1999) };
	struct tp_send_wr wr = wr_rdma(ops[_i], 1, sgl, there, 0);

	wr.nsge = 3;
	mem_fill(out, 1);
	side_recv(l->b, 5, there, 0, 3000);
	rules_a("post:corrupt:at=1000");
	ck_ok(tp_post_send(l->a, &wr));
	expect_wc(&world, &world.a, l->a, 1, ops[_i], 0);
	if (ops[_i] == TP_WRITE)
		post_message(l->a, &world.a, 2, 2);
	world_wc(&world, &world.b, l->b);
	mem_check(out, 0, 3000, 1, 0);
	/* the message was received in the same memory */
	if (ops[_i] == TP_WRITE)
		memcpy(there->p, out->p, MSG);
	check_changed(there, 1000, 1);
}
END_TEST

/* An unsignaled read is changed when the next completion covers it. */
START_TEST(corrupt_read)
{
	struct link *l = link_open(&world, NULL);
	struct mem *in = mem_new(&world.a, 3000, ALL);
	struct mem *there = mem_new(&world.b, 3000, ALL);
	struct tp_sge sgl[2] = { sge_of(in, 0, 1000), sge_of(in, 1000, 2000) };
	struct tp_send_wr wr[2] = { wr_rdma(TP_READ, 1, sgl, there, 0),
				    wr_rdma(TP_READ, 2, NULL, there, 0) };

	wr[0].nsge = 2;
	wr[0].flags = _i ? 0 : TP_SIGNALED;
	wr[0].next = &wr[1];
	mem_fill(there, 3);
	rules_a("read:corrupt:at=9999"); /* beyond the end: the last byte */
	ck_ok(tp_post_send(l->a, wr));
	if (!_i)
		expect_wc(&world, &world.a, l->a, 1, TP_READ, 0);
	expect_wc(&world, &world.a, l->a, 2, TP_READ, 0);
	mem_check(there, 0, 3000, 3, 0);
	check_changed(in, 2999, 3);
}
END_TEST

START_TEST(corrupt_received)
{
	struct link *l = link_open(&world, NULL);
	struct mem *in = post_receive(l->b, &world.b, 1);

	rules_b("recv:corrupt:at=7");
	post_message(l->a, &world.a, 1, 4);
	expect_wc(&world, &world.b, l->b, 1, TP_RECV, 0);
	check_changed(in, 7, 4);
}
END_TEST

/* The third post fails and does nothing; the fourth is not affected. */
START_TEST(fail_post)
{
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, MSG, ALL);
	struct mem *there = mem_new(&world.b, MSG, ALL);
	struct tp_sge sge = sge_of(out, 0, MSG);
	struct tp_send_wr wr = wr_rdma(TP_WRITE, 1, &sge, there, 0);
	int i;

	rules_a("post:fail:after=2:error=EIO");
	for (i = 0; i < 4; i++) {
		memset(out->p, i, MSG);
		ck_assert_int_eq(tp_post_send(l->a, &wr), i == 2 ? -EIO : 0);
		if (i != 2)
			expect_wc(&world, &world.a, l->a, 1, TP_WRITE, 0);
	}
	link_works(&world, l);
	ck_assert_uint_eq(there->p[0], 3);
	expect_silence(&world.a, l->a);
}
END_TEST

/* If a rule hits the middle of a chain, the whole chain fails. */
START_TEST(fail_chain)
{
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, MSG, ALL);
	struct mem *there = mem_new(&world.b, MSG, ALL);
	struct tp_sge sge = sge_of(out, 0, MSG);
	struct tp_send_wr wr[3];
	int i;

	for (i = 0; i < 3; i++) {
		wr[i] = wr_rdma(TP_WRITE, i, &sge, there, 0);
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
	}
	mem_fill(out, 1);
	rules_a("write:fail:after=1");
	ck_assert_int_eq(tp_post_send(l->a, wr), -ENOBUFS);
	link_works(&world, l);
	mem_check_zero(there);
	expect_silence(&world.a, l->a);
}
END_TEST

START_TEST(fail_calls)
{
	struct link *l = link_open(&world, NULL), *idle;
	struct mem *m = mem_new(&world.a, MSG, ALL);
	struct tp_recv_wr wr = { 1, sge_of(m, 0, MSG) };
	struct tp_mr *mr;

	rules_a("post_recv:fail; mr_reg:fail; connect:fail");
	ck_assert_int_eq(tp_post_recv(l->a, &wr), -ENOBUFS);
	ck_assert_int_eq(tp_mr_reg(world.a.dev, m->p, MSG, ALL, &mr), -ENOMEM);
	idle = link_idle(&world, NULL);
	ck_assert_int_eq(tp_connect(idle->a, &world.addr, NULL, 0,
				    clock_after_ms(PATIENCE_MS)),
			 -ENETUNREACH);
	link_start(&world, idle); /* only once, and it can still connect */
	link_works(&world, idle);
	link_works(&world, l);
}
END_TEST

/* The rule applies only to connections to the port that it names. */
START_TEST(one_port_only)
{
	struct addr addr = { .host = "127.0.0.1" };
	struct link *plain = link_open(&world, NULL), *marked;
	struct tp_listener *first = world.listener;
	char text[64];

	ck_ok(tp_listen(world.b.cq, &addr, 4, &world.listener));
	tp_listener_addr(world.listener, &world.addr);
	marked = link_open(&world, NULL);
	snprintf(text, sizeof(text), "send:drop:port=%u", world.addr.port);
	rules_a(text);
	link_works(&world, plain);
	ck_assert_uint_eq(fault_hits(world.a.dev, 1), 0);
	post_receive(marked->b, &world.b, 1);
	post_message(marked->a, &world.a, 1, 1);
	expect_wc(&world, &world.a, marked->a, 1, TP_SEND, 0);
	ck_assert_uint_eq(fault_hits(world.a.dev, 1), 1);
	tp_unlisten(first);
}
END_TEST

TCase *case_messages(void)
{
	TCase *tc = world_case("messages");

	tcase_add_test(tc, drop_send);
	tcase_add_loop_test(tc, drop_write, 0, 2);
	tcase_add_loop_test(tc, corrupt_sent, 0, 3);
	tcase_add_loop_test(tc, corrupt_read, 0, 2);
	tcase_add_test(tc, corrupt_received);
	tcase_add_test(tc, fail_post);
	tcase_add_test(tc, fail_chain);
	tcase_add_test(tc, fail_calls);
	tcase_add_test(tc, one_port_only);
	return tc;
}
