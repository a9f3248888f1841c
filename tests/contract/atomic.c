/* SPDX-License-Identifier: BSD-2-Clause */
/* atomic.c - fetch and add, compare and swap on remote words. */
#include <errno.h>
#include <string.h>

#include "tests/contract/contract.h"

#define WORD (TP_REMOTE_ATOMIC | TP_REMOTE_READ)

static uint64_t *word(const struct mem *m, size_t off)
{
	return (uint64_t *)(void *)(m->p + off);
}

static struct tp_send_wr wr_atomic(enum tp_opcode op, const struct tp_sge *sge,
				   const struct mem *there, uint64_t operand,
				   uint64_t swap)
{
	struct tp_send_wr wr = wr_rdma(op, 7, sge, there, 8);

	wr.compare_add = operand;
	wr.swap = swap;
	return wr;
}

/* Runs one atomic operation on there + 8.  Returns the value before it. */
static uint64_t run(struct link *l, enum tp_opcode op, struct mem *there,
		    uint64_t operand, uint64_t swap)
{
	struct mem *old = mem_new(&world.a, 8, TP_LOCAL_WRITE);
	struct tp_sge sge = sge_of(old, 0, 8);
	struct tp_send_wr wr = wr_atomic(op, &sge, there, operand, swap);

	ck_ok(tp_post_send(l->a, &wr));
	expect_wc(&world, &world.a, l->a, 7, op, 0);
	return *word(old, 0);
}

START_TEST(fetch_add)
{
	struct link *l = link_open(&world, NULL);
	struct mem *there = mem_new(&world.b, 24, WORD);

	*word(there, 8) = 0x1122334455667788ull;
	ck_assert_uint_eq(run(l, TP_FETCH_ADD, there, 1, 0),
			  0x1122334455667788ull);
	ck_assert_uint_eq(*word(there, 8), 0x1122334455667789ull);
	ck_assert_uint_eq(run(l, TP_FETCH_ADD, there, UINT64_MAX, 0),
			  0x1122334455667789ull);
	ck_assert_uint_eq(*word(there, 8), 0x1122334455667788ull);
	ck_assert_uint_eq(run(l, TP_FETCH_ADD, there, 0, 0),
			  0x1122334455667788ull);
	ck_assert_uint_eq(*word(there, 0), 0);
	ck_assert_uint_eq(*word(there, 16), 0);
}
END_TEST

START_TEST(cmp_swap)
{
	struct link *l = link_open(&world, NULL);
	struct mem *there = mem_new(&world.b, 24, WORD);

	*word(there, 8) = 5;
	ck_assert_uint_eq(run(l, TP_CMP_SWAP, there, 4, 9), 5);
	ck_assert_uint_eq(*word(there, 8), 5);
	ck_assert_uint_eq(run(l, TP_CMP_SWAP, there, 5, 0xf00000000000000full),
			  5);
	ck_assert_uint_eq(*word(there, 8), 0xf00000000000000full);
	ck_assert_uint_eq(run(l, TP_CMP_SWAP, there, 5, 1),
			  0xf00000000000000full);
	ck_assert_uint_eq(*word(there, 0), 0);
	ck_assert_uint_eq(*word(there, 16), 0);
}
END_TEST

/* Not aligned, not 8 bytes, or not contiguous: rejected at posting. */
START_TEST(malformed)
{
	struct link *l = link_open(&world, NULL);
	struct mem *old = mem_new(&world.a, 16, TP_LOCAL_WRITE);
	struct mem *there = mem_new(&world.b, 64, WORD);
	struct tp_sge two[2] = { sge_of(old, 0, 4), sge_of(old, 4, 4) };
	struct tp_sge sge = sge_of(old, 0, 8), four = sge_of(old, 0, 4);
	struct tp_send_wr wr, first;
	enum tp_opcode op = _i ? TP_CMP_SWAP : TP_FETCH_ADD;

	wr = wr_atomic(op, &sge, there, 1, 2);
	wr.remote_addr += 4;
	ck_assert_int_eq(tp_post_send(l->a, &wr), -EINVAL);
	/* also at the end of a chain, of which nothing is executed */
	first = wr_atomic(op, &sge, there, 0, 1);
	first.next = &wr;
	ck_assert_int_eq(tp_post_send(l->a, &first), -EINVAL);
	wr = wr_atomic(op, &four, there, 0, 1);
	ck_assert_int_eq(tp_post_send(l->a, &wr), -EINVAL);
	wr = wr_atomic(op, two, there, 0, 1);
	wr.nsge = 2;
	ck_assert_int_eq(tp_post_send(l->a, &wr), -EINVAL);
	wr.nsge = 0;
	ck_assert_int_eq(tp_post_send(l->a, &wr), -EINVAL);
	link_works(&world, l);
	mem_check_zero(there);
	expect_silence(&world.a, l->a);
}
END_TEST

START_TEST(no_right)
{
	struct link *l = link_open(&world, NULL);
	struct mem *old = mem_new(&world.a, 8, TP_LOCAL_WRITE);
	struct mem *there = mem_new(&world.b, 24,
				    TP_REMOTE_READ | TP_REMOTE_WRITE);
	struct tp_sge sge = sge_of(old, 0, 8);
	struct tp_send_wr wr = wr_atomic(TP_FETCH_ADD, &sge, there, 1, 0);

	ck_ok(tp_post_send(l->a, &wr));
	expect_wc(&world, &world.a, l->a, 7, TP_FETCH_ADD, -EACCES);
	mem_check_zero(there);
}
END_TEST

/* A chain of additions, with adjacent results. */
START_TEST(chain)
{
	enum { N = 100 };
	struct link *l = link_open(&world, NULL);
	struct mem *old = mem_new(&world.a, N * 8, TP_LOCAL_WRITE);
	struct mem *there = mem_new(&world.b, 24, WORD);
	struct tp_send_wr wr[N];
	struct tp_sge sge[N];
	uint64_t i;

	for (i = 0; i < N; i++) {
		sge[i] = sge_of(old, i * 8, 8);
		wr[i] = wr_atomic(TP_FETCH_ADD, &sge[i], there, 3, 0);
		wr[i].flags = i + 1 < N ? 0 : TP_SIGNALED;
		wr[i].next = i + 1 < N ? &wr[i + 1] : NULL;
	}
	ck_ok(tp_post_send(l->a, wr));
	expect_wc(&world, &world.a, l->a, 7, TP_FETCH_ADD, 0);
	for (i = 0; i < N; i++)
		ck_assert_uint_eq(*word(old, i * 8), i * 3);
	ck_assert_uint_eq(*word(there, 8), N * 3);
}
END_TEST

/* Two endpoints add to one word concurrently: no addition is lost. */
START_TEST(no_lost_update)
{
	enum { EACH = 500 };
	struct link *l[2] = { link_open(&world, NULL),
			      link_open(&world, NULL) };
	struct mem *old = mem_new(&world.a, 16, TP_LOCAL_WRITE);
	struct mem *there = mem_new(&world.b, 24, WORD);
	unsigned int sent[2] = { 0 }, done[2] = { 0 }, i;
	uint64_t deadline = clock_after_ms(PATIENCE_MS);
	struct tp_send_wr wr;
	struct tp_sge sge;
	struct tp_wc wc;

	while (done[0] + done[1] < 2 * EACH) {
		ck_assert_uint_lt(clock_now(), deadline);
		for (i = 0; i < 2; i++) {
			if (sent[i] == EACH || sent[i] - done[i] == 30)
				continue;
			sge = sge_of(old, i * 8, 8);
			wr = wr_atomic(TP_FETCH_ADD, &sge, there, 1, 0);
			ck_ok(tp_post_send(l[i]->a, &wr));
			sent[i]++;
		}
		if (sent[0] + sent[1] < 2 * EACH)
			side_pump(&world.a);
		world_pump(&world);
		for (i = 0; i < 2; i++)
			while (side_find_wc(&world.a, l[i]->a, &wc)) {
				ck_assert_int_eq(wc.status, 0);
				done[i]++;
			}
	}
	ck_assert_uint_eq(*word(there, 8), 2 * EACH);
}
END_TEST

TCase *case_atomic(void)
{
	TCase *tc = contract_case("atomic");

	tcase_add_test(tc, fetch_add);
	tcase_add_test(tc, cmp_swap);
	tcase_add_loop_test(tc, malformed, 0, 2);
	tcase_add_test(tc, no_right);
	tcase_add_test(tc, chain);
	tcase_add_test(tc, no_lost_update);
	return tc;
}
