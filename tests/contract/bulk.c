/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bulk.c - 64 MiB in each direction concurrently, in requests of random sizes with gather lists,
 * compared byte for byte.
 */
#include <errno.h>
#include <string.h>

#include "tests/contract/contract.h"

#define TOTAL contract_scaled(64u << 20)
#define ALL (TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE)
#define DEEP 12u /* chains in flight for each flow */
#define CHAIN 4u /* maximum number of requests in a chain */
#define PIECES 6u /* maximum number of gather entries */
#define SEND_SIZE (256u << 10)

/* One side moves all of its memory to or from the other side. */
struct flow {
	struct side *side; /* the side that posts */
	struct tp_ep *ep;
	struct mem *local, *remote;
	enum tp_opcode op;
	uint32_t off; /* offset of the next byte to post */
	uint64_t seed;
	uint64_t posted, done; /* numbers of chains */
};

/* Divides [off, off + len) of m into at most PIECES entries. */
static unsigned int pieces(struct flow *f, struct tp_sge *sgl, uint32_t len)
{
	unsigned int n = 1 + rnd(&f->seed) % PIECES, i;
	uint32_t at = f->off, end = f->off + len, piece;

	for (i = 0; i < n; i++) {
		piece = i + 1 < n ? rnd(&f->seed) % (end - at + 1) : end - at;
		sgl[i] = sge_of(f->local, at, piece);
		at += piece;
	}
	return n;
}

static uint32_t random_len(struct flow *f)
{
	uint32_t max = f->op == TP_SEND ? SEND_SIZE : 1 << 21;
	uint32_t len = 1 + rnd(&f->seed) % (rnd(&f->seed) % 2 ? max : 5000);

	return len < TOTAL - f->off ? len : TOTAL - f->off;
}

static void post_chain(struct flow *f)
{
	unsigned int n = 1 + rnd(&f->seed) % CHAIN, i;
	struct tp_sge sgl[CHAIN][PIECES];
	struct tp_send_wr wr[CHAIN];
	uint32_t len;

	for (i = 0; i < n; i++) {
		len = random_len(f);
		wr[i] = wr_rdma(f->op, f->posted, sgl[i],
				f->op == TP_SEND ? NULL : f->remote, f->off);
		wr[i].nsge = pieces(f, sgl[i], len);
		wr[i].flags = 0;
		wr[i].next = &wr[i + 1];
		f->off += len;
		if (f->off == TOTAL) {
			n = i + 1;
			break;
		}
	}
	wr[n - 1].flags = TP_SIGNALED;
	wr[n - 1].next = NULL;
	ck_ok(tp_post_send(f->ep, wr));
	f->posted++;
}

/* Returns true when everything is posted and done. */
static bool step(struct flow *f)
{
	if (f->off < TOTAL && f->posted - f->done < DEEP)
		post_chain(f);
	return f->off == TOTAL && f->posted == f->done;
}

static bool step_both(struct flow f[2])
{
	bool first = step(&f[0]), second = step(&f[1]);

	return first && second;
}

static void take(struct flow *f, const struct tp_wc *wc)
{
	ck_assert_int_eq(wc->status, 0);
	ck_assert_int_eq(wc->opcode, f->op);
	ck_assert_uint_eq(wc->wr_id, f->done);
	f->done++;
}

static void flow_init(struct flow *f, struct side *s, struct tp_ep *ep,
		      struct side *peer, enum tp_opcode op, uint64_t seed)
{
	memset(f, 0, sizeof(*f));
	f->side = s;
	f->ep = ep;
	f->op = op;
	f->seed = seed;
	f->local = mem_new(s, TOTAL, ALL);
	f->remote = mem_new(peer, TOTAL, ALL);
	mem_fill(op == TP_READ ? f->remote : f->local, seed);
}

static void flow_check(const struct flow *f, uint64_t seed)
{
	mem_check(f->op == TP_READ ? f->local : f->remote, 0, TOTAL, seed, 0);
}

/* Runs both flows to their end. */
static void run(struct flow f[2])
{
	uint64_t deadline = clock_after_ms(4 * PATIENCE_MS);
	struct tp_wc wc;
	int i;

	while (!step_both(f)) {
		ck_assert_uint_lt(clock_now(), deadline);
		world_pump(&world);
		for (i = 0; i < 2; i++)
			while (side_find_wc(f[i].side, f[i].ep, &wc))
				take(&f[i], &wc);
	}
}

START_TEST(one_sided)
{
	static const enum tp_opcode ops[][2] = { { TP_WRITE, TP_WRITE },
						 { TP_READ, TP_READ },
						 { TP_WRITE, TP_READ } };
	struct link *l = link_open(&world, NULL);
	struct flow f[2];

	flow_init(&f[0], &world.a, l->a, &world.b, ops[_i][0], 1);
	flow_init(&f[1], &world.b, l->b, &world.a, ops[_i][1], 2);
	run(f);
	link_works(&world, l); /* the last bytes of a write have arrived */
	flow_check(&f[0], 1);
	flow_check(&f[1], 2);
	expect_silence(&world.a, l->a);
	expect_silence(&world.b, l->b);
}
END_TEST

/* The receiving end of a flow of messages. */
struct sink {
	struct side *side;
	struct tp_ep *ep;
	struct mem *slots;
	uint64_t seed;
	uint32_t off;
};
#define SLOTS 32u

static void sink_take(struct sink *k, const struct tp_wc *wc)
{
	size_t at = wc->wr_id * SEND_SIZE;

	ck_assert_int_eq(wc->status, 0);
	ck_assert_int_eq(wc->opcode, TP_RECV);
	mem_check(k->slots, at, wc->byte_len, k->seed, k->off);
	k->off += wc->byte_len;
	side_recv(k->ep, wc->wr_id, k->slots, at, SEND_SIZE);
}

static void sink_init(struct sink *k, struct side *s, struct tp_ep *ep,
		      uint64_t seed)
{
	uint64_t i;

	k->side = s;
	k->ep = ep;
	k->seed = seed;
	k->off = 0;
	k->slots = mem_new(s, (size_t)SLOTS * SEND_SIZE, TP_LOCAL_WRITE);
	for (i = 0; i < SLOTS; i++)
		side_recv(ep, i, k->slots, i * SEND_SIZE, SEND_SIZE);
}

static void sort_wc(struct flow *f, struct sink *k, const struct tp_wc *wc)
{
	if (wc->opcode == TP_SEND)
		take(f, wc);
	else
		sink_take(k, wc);
}

START_TEST(messages)
{
	struct link *l = link_open(&world, NULL);
	uint64_t deadline = clock_after_ms(4 * PATIENCE_MS);
	struct sink k[2];
	struct flow f[2];
	struct tp_wc wc;

	flow_init(&f[0], &world.a, l->a, &world.b, TP_SEND, 3);
	flow_init(&f[1], &world.b, l->b, &world.a, TP_SEND, 4);
	sink_init(&k[0], &world.a, l->a, 4);
	sink_init(&k[1], &world.b, l->b, 3);
	while (!step_both(f) || k[0].off < TOTAL || k[1].off < TOTAL) {
		ck_assert_uint_lt(clock_now(), deadline);
		world_pump(&world);
		while (side_find_wc(&world.a, l->a, &wc))
			sort_wc(&f[0], &k[0], &wc);
		while (side_find_wc(&world.b, l->b, &wc))
			sort_wc(&f[1], &k[1], &wc);
	}
}
END_TEST

/* One request of 128 MiB. */
START_TEST(one_large)
{
	uint32_t len = contract_scaled(128 << 20);
	struct link *l = link_open(&world, NULL);
	struct mem *m = mem_new(&world.a, len, ALL);
	struct mem *there = mem_new(&world.b, len, ALL);
	struct tp_sge sge = sge_of(m, 0, len);
	struct tp_send_wr wr = wr_rdma(_i ? TP_READ : TP_WRITE, 1, &sge, there,
				       0);

	mem_fill(_i ? there : m, 9);
	ck_ok(tp_post_send(l->a, &wr));
	expect_wc(&world, &world.a, l->a, 1, wr.opcode, 0);
	link_works(&world, l);
	mem_check(_i ? m : there, 0, len, 9, 0);
}
END_TEST

TCase *case_bulk(void)
{
	TCase *tc = contract_case("bulk");

	tcase_add_loop_test(tc, one_sided, 0, 3);
	tcase_add_test(tc, messages);
	tcase_add_loop_test(tc, one_large, 0, 2);
	return tc;
}
