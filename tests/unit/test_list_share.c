/* SPDX-License-Identifier: BSD-2-Clause */
/* test_list_share.c - an iod's share of a list, compared with dist byte by byte. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "common/dist/dist.h"
#include "server/xfer/list_share.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define VECS 5u
#define BYTES 40000u

/* Like ck_assert(), which writes each success to a file. */
#define MUST(cond)                                                             \
	do {                                                                   \
		if (!(cond))                                                   \
			ck_abort_msg("%s", #cond);                             \
	} while (0)

static struct {
	struct wire_list list;
	struct wire_vec vec[VECS];
	struct store_seg seg[WIRE_PIECE_MAX];
	unsigned int nseg;
} g;

static struct dist dist;

static void random_list(struct rnd *r)
{
	uint32_t i, n = (uint32_t)rnd_in(r, 1, VECS);

	dist.pcount = (uint32_t)rnd_in(r, 1, 5);
	dist.ssize = (uint32_t)rnd_in(r, 64, 200);
	for (i = 0; i < n; i++)
		g.vec[i] = (struct wire_vec){
			.off = htole64(rnd_in(r, 0, 3000)),
			.len = htole64(rnd_in(r, 1, rnd_in(r, 1, 700))),
			.stride = htole64(rnd_in(r, 0, 500)),
			.stride2 = htole64(rnd_in(r, 0, 900)),
			.count = htole32((uint32_t)rnd_in(r, 1, 8)),
			.count2 = htole32((uint32_t)rnd_in(r, 1, 3)),
		};
	g.list.io.nreg = htole32(n);
	g.list.dist.base = htole32((uint32_t)rnd_in(r, 0, dist.pcount - 1));
	g.list.dist.pcount = htole32(dist.pcount);
	g.list.dist.ssize = htole32(dist.ssize);
}

/* Computes the local offset of each byte of the share. */
static size_t model(uint64_t *local)
{
	size_t n = 0;
	uint64_t a, b, c, off;

	for (uint32_t i = 0; i < le32toh(g.list.io.nreg); i++) {
		const struct wire_vec *v = &g.vec[i];

		for (a = 0; a < v->count2; a++)
			for (b = 0; b < v->count; b++)
				for (c = 0; c < v->len; c++) {
					off = v->off + a * v->stride2 +
					      b * v->stride + c;
					if (dist_server(&dist, off) !=
					    g.list.dist.base)
						continue;
					MUST(n < BYTES);
					local[n++] = dist_local(&dist, off);
				}
	}
	return n;
}

static void same(const uint64_t *local, uint64_t total)
{
	uint64_t at = 0, i;

	for (unsigned int s = 0; s < g.nseg; s++) {
		MUST(g.seg[s].len > 0);
		for (i = 0; i < g.seg[s].len; i++, at++)
			MUST(g.seg[s].off + i == local[at]);
	}
	MUST(at == total);
}

START_TEST(share_is_that_of_dist)
{
	static uint64_t local[BYTES];
	struct rnd r;
	size_t n;

	rnd_init(&r, 42);
	for (int i = 0; i < 3000; i++) {
		random_list(&r);
		n = model(local);
		if (!n)
			continue;
		g.list.skip = htole64(rnd_in(&r, 0, n - 1));
		g.list.io.total = htole64(rnd_in(&r, 1, n - g.list.skip));
		ck_assert_int_eq(
			list_share_expand(&g.list, g.vec, g.seg, &g.nseg), 0);
		ck_assert_uint_le(g.nseg, list_share_pieces(&g.list, g.vec));
		same(local + g.list.skip, g.list.io.total);
		g.list.io.total = htole64(n - g.list.skip + 1);
		ck_assert_int_eq(list_share_expand(&g.list, g.vec, g.seg,
						   &g.nseg),
				 -EPROTO);
	}
}
END_TEST

START_TEST(regular_pieces_that_touch_are_one)
{
	g.list = (struct wire_list){
		.io = { .total = htole64(65536), .nreg = htole32(1) },
		.dist = { 0, htole32(1), htole32(65536), 0 },
	};
	g.vec[0] = (struct wire_vec){ .off = htole64(100),
				      .len = htole64(1),
				      .stride = htole64(1),
				      .stride2 = htole64(256),
				      .count = htole32(256),
				      .count2 = htole32(256) };
	ck_assert_uint_eq(list_share_pieces(&g.list, g.vec), 65536);
	ck_assert_int_eq(list_share_expand(&g.list, g.vec, g.seg, &g.nseg), 0);
	ck_assert_uint_eq(g.nseg, 1);
	ck_assert_uint_eq(g.seg[0].off, 100);
	ck_assert_uint_eq(g.seg[0].len, 65536);
}
END_TEST

/* The largest possible offsets. */
START_TEST(ends_of_the_file)
{
	g.list = (struct wire_list){
		.io = { .total = htole64(1), .nreg = htole32(1) },
		.skip = htole64(INT64_MAX - 1),
		.dist = { 0, htole32(1), htole32(1u << 30), 0 },
	};
	g.vec[0] = (struct wire_vec){ .len = htole64(INT64_MAX),
				      .count = htole32(1),
				      .count2 = htole32(1) };
	ck_assert_int_eq(list_share_expand(&g.list, g.vec, g.seg, &g.nseg), 0);
	ck_assert_uint_eq(g.seg[0].off, INT64_MAX - 1);
	g.list.skip = htole64(INT64_MAX);
	ck_assert_int_eq(list_share_expand(&g.list, g.vec, g.seg, &g.nseg),
			 -EPROTO);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("list_share");
	TCase *tc = tcase_create("list_share");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, share_is_that_of_dist);
	tcase_add_test(tc, regular_pieces_that_touch_are_one);
	tcase_add_test(tc, ends_of_the_file);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
