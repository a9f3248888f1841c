/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_list_req.c - the iod reconstructs from list requests what the client asked for: random
 * plans, encoded and decoded, compared with the cursor that names every byte.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/io/list_req_int.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

/* The headers of server and client use some equal names. */
struct store_seg {
	uint64_t off, len;
};
int list_share_expand(const struct wire_list *list, const struct wire_vec *vec,
		      struct store_seg *seg, unsigned int *nseg);

#define SPANS 3000u
#define MEM (4u << 20)

/* Like ck_assert(), which writes each success to a file. */
#define MUST(cond)                                                             \
	do {                                                                   \
		if (!(cond))                                                   \
			ck_abort_msg("%s", #cond);                             \
	} while (0)

static struct plan_span span[SPANS];
static struct iovec iov[SPANS];
static struct store_seg seg[WIRE_PIECE_MAX];
static struct list_req req;
static char arena[MEM];
static struct dist dist;
static struct file_view view;
static struct io_plan plan;

static void add(uint64_t pos, uint64_t len)
{
	if (plan.nspan < SPANS)
		span[plan.nspan++] = (struct plan_span){ pos, len };
}

static void regular(struct rnd *r)
{
	uint64_t n1 = rnd_in(r, 1, 60), n2 = rnd_in(r, 1, 30), i, k;
	uint64_t len = rnd_in(r, 1, 900), off = rnd_in(r, 0, 5000);
	uint64_t stride = len + rnd_in(r, 0, 900);
	uint64_t stride2 = n1 * stride + rnd_in(r, 0, 4000);

	for (k = 0; k < n2; k++)
		for (i = 0; i < n1; i++)
			add(off + k * stride2 + i * stride, len);
}

static void irregular(struct rnd *r)
{
	uint64_t n = rnd_in(r, 1, SPANS), off = 0;

	while (n--) {
		off += rnd_in(r, 0, 1000);
		add(off, rnd_in(r, 1, 400));
		off += span[plan.nspan - 1].len;
	}
}

static uint64_t memory(struct rnd *r)
{
	uint64_t total = 0, left, max = rnd_in(r, 1, 1) + rnd_in(r, 0, 20000);
	char *at = arena;
	unsigned int i;

	for (i = 0; i < plan.nspan; i++)
		total += span[i].len;
	for (left = total, plan.niov = 0; left; plan.niov++) {
		uint64_t len = rnd_in(r, 1, max);

		if (len > left || plan.niov == SPANS - 1)
			len = left;
		iov[plan.niov] = (struct iovec){ at, len };
		at += len + rnd_in(r, 0, 3);
		if (at > arena + MEM / 2)
			at = arena;
		left -= len;
	}
	return total;
}

/* Decodes the request as the iod does. */
static unsigned int served(uint32_t k)
{
	struct wire_list list = {
		.io = { .total = htole64(req.total),
			.nreg = htole32(req.vecs.n) },
		.skip = htole64(req.skip),
		.dist = { htole32(k), htole32(dist.pcount), htole32(dist.ssize),
			  0 },
	};
	unsigned int n;

	MUST(req.vecs.pieces <= WIRE_PIECE_MAX);
	MUST(list_share_expand(&list, req.vecs.v, seg, &n) == 0);
	return n;
}

/* Every byte of the request must be where the cursor says. */
static void same(struct plan_cur *cur, unsigned int n)
{
	unsigned int i, s = 0;
	uint64_t in_seg = 0, len;

	for (i = 0; i < n; i++) {
		uint64_t off = seg[i].off, left = seg[i].len;

		for (; left; left -= len, off += len) {
			unsigned int v;
			size_t m;
			char *mem;

			MUST(plan_piece(&plan, cur));
			mem = plan_memory(&plan, cur, left, &m, &v);
			if (!req.packed && m > req.seg[s].len - in_seg)
				m = req.seg[s].len - in_seg;
			len = m;
			MUST(cur->piece.local == off);
			if (!req.packed) {
				MUST((char *)req.seg[s].addr + in_seg == mem);
				in_seg += m;
				if (in_seg == req.seg[s].len) {
					s++;
					in_seg = 0;
				}
			}
			plan_advance(cur, len);
		}
	}
}

static uint64_t one_server(uint32_t k, const struct list_limits *limits)
{
	struct plan_cur cur, check;
	uint64_t sum = 0;

	plan_start(&plan, &cur, k);
	plan_start(&plan, &check, k);
	while (list_req_next(&plan, &cur, limits, &req)) {
		if (req.packed)
			MUST(req.total <= limits->pack);
		else
			MUST(req.total >= limits->place * req.nseg);
		same(&check, served(k));
		sum += req.total;
	}
	MUST(!plan_piece(&plan, &check));
	return sum;
}

START_TEST(both_ends_agree)
{
	static const uint32_t ssize[] = { 64, 100, 4096, 65536 };
	struct rnd r;

	rnd_init(&r, 3);
	for (int i = 0; i < 250; i++) {
		struct list_limits limits = { rnd_in(&r, 0, 3000),
					      rnd_in(&r, 1, 100000) };
		uint64_t total, sum = 0;

		plan = (struct io_plan){
			.dist = &dist, .view = &view, .span = span, .iov = iov
		};
		dist.pcount = (uint32_t)rnd_in(&r, 1, 5);
		dist.ssize = ssize[rnd_in(&r, 0, 3)];
		view.gsize = rnd_in(&r, 0, 3) ? 0 : rnd_in(&r, 1, 300);
		view.stride = view.gsize + rnd_in(&r, 0, 100);
		/* a long row of small memory may go in place, with limit 0 */
		limits.pack = limits.place ? limits.pack + MEM : limits.pack;
		if (rnd_in(&r, 0, 1))
			regular(&r);
		else
			irregular(&r);
		total = memory(&r);
		for (uint32_t k = 0; k < dist.pcount; k++)
			sum += one_server(k, &limits);
		ck_assert_uint_eq(sum, total);
	}
}
END_TEST

static unsigned int requests(uint32_t k, unsigned int *vecs)
{
	struct list_limits limits = { 4096, 1 << 20 };
	struct plan_cur cur;
	unsigned int n = 0;

	*vecs = 0;
	plan_start(&plan, &cur, k);
	while (list_req_next(&plan, &cur, &limits, &req)) {
		*vecs += req.vecs.n;
		n++;
	}
	return n;
}

/* The access patterns of the paper need one descriptor, whatever the stripes are. */
START_TEST(patterns_are_descriptors)
{
	unsigned int i, k, n;

	dist = (struct dist){ .pcount = 4, .ssize = 65536 };
	view = (struct file_view){ 0 };
	plan = (struct io_plan){ .dist = &dist,
				 .view = &view,
				 .span = span,
				 .iov = iov,
				 .niov = 1 };
	iov[0] = (struct iovec){ arena, SIZE_MAX / 2 };
	/* a tile's rows of 24 KiB */
	for (i = 0; i < 768; i++)
		add((uint64_t)i * 49152 + 24576, 24576);
	for (k = 0; k < 4; k++) {
		ck_assert_uint_eq(requests(k, &n), 1);
		ck_assert_uint_eq(n, 1);
	}
	/* rows of planes */
	plan.nspan = 0;
	for (k = 0; k < 30; k++)
		for (i = 0; i < 50; i++)
			add((uint64_t)k * 1000000 + i * 3000, 100);
	for (k = 0; k < 4; k++) {
		ck_assert_uint_eq(requests(k, &n), 1);
		ck_assert_uint_le(n, 8);
	}
	/* a partition */
	view = (struct file_view){ .off = 7, .gsize = 10, .stride = 1000 };
	plan.nspan = 0;
	add(5, 20000);
	ck_assert_uint_eq(requests(1, &n), 1);
	ck_assert_uint_le(n, 3);
}
END_TEST

START_TEST(vectors_end_with_the_message)
{
	struct vecs v;
	unsigned int i;

	vecs_begin(&v);
	for (i = 0; i < WIRE_VEC_MAX; i++)
		ck_assert(vecs_add(&v, i * i * 1000, 1 + i, true));
	ck_assert(!vecs_add(&v, 1ull << 40, 5000, true));
	ck_assert(vecs_add(&v, 1ull << 40, 5000, false));
	ck_assert(!vecs_add(&v, 1ull << 40, 5000, true));
	vecs_end(&v);
	ck_assert_uint_eq(v.n, WIRE_VEC_MAX);
	vecs_begin(&v);
	for (i = 0; i < WIRE_PIECE_MAX; i++)
		ck_assert(vecs_add(&v, i * 10ull, 1, true));
	ck_assert(!vecs_add(&v, i * 10ull, 1, true));
	vecs_end(&v);
	ck_assert_uint_eq(v.n, 1);
	/* unneeded pieces are removed */
	vecs_begin(&v);
	ck_assert(vecs_add(&v, 0, 10, true));
	ck_assert(vecs_add(&v, 100, 20, false));
	ck_assert(vecs_add(&v, 200, 10, true));
	vecs_end(&v);
	ck_assert_uint_eq(le32toh(v.v[0].count2), 2);
	ck_assert_uint_eq(v.n, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("list_req");
	TCase *tc = tcase_create("list_req");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, both_ends_agree);
	tcase_add_test(tc, patterns_are_descriptors);
	tcase_add_test(tc, vectors_end_with_the_message);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
