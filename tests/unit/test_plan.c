/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_plan.c - plans, compared with a map of every byte.  A case is random, determined by its
 * number.  The test computes the place in the file and in memory of each byte of the transfer.  The
 * requests must have the same places, each byte once.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/io/plan.h"
#include "tests/run_suite.h"

#define MEM_MAX (1u << 20)
#define SPANS_MAX 40
#define IOV_MAX_ 900
#define CASES 400

static char arena[MEM_MAX]; /* used only for addresses */
static uint64_t file_of[MEM_MAX]; /* file offset, by byte of the transfer */
/* byte of the transfer + 1, by byte of memory */
static uint32_t byte_of[MEM_MAX];

/* Like ck_assert(), which writes each success to a file. */
#define MUST(cond)                                                             \
	do {                                                                   \
		if (!(cond))                                                   \
			ck_abort_msg("%s", #cond);                             \
	} while (0)

struct rig {
	unsigned int seed;
	struct dist dist;
	struct file_view view;
	struct plan_span span[SPANS_MAX];
	struct iovec iov[IOV_MAX_];
	struct io_plan plan;
	uint64_t total;
};

static uint32_t roll(struct rig *r, uint32_t below)
{
	return (uint32_t)rand_r(&r->seed) % below;
}

static void rig_file(struct rig *r)
{
	static const uint32_t ssize[] = { 64, 65, 100, 4096, 65536 };
	static const uint32_t count[] = { 1, 2, 3, 4, 7, 16 };
	uint64_t pos = roll(r, 2) ? roll(r, 300000) : 1ull << 40;
	unsigned int i, n = roll(r, 3) ? 1 : 1 + roll(r, SPANS_MAX);

	r->dist = (struct dist){ .pcount = count[roll(r, 6)],
				 .ssize = ssize[roll(r, 5)] };
	r->view = (struct file_view){ .off = roll(r, 1000) };
	if (roll(r, 2)) {
		r->view.gsize = 1 + roll(r, 500);
		r->view.stride = r->view.gsize + roll(r, 700);
	}
	for (i = 0; i < n; i++) {
		r->span[i].pos = pos;
		r->span[i].len = roll(r, n == 1 ? 60000 : 2000);
		pos += r->span[i].len + (roll(r, 2) ? roll(r, 5000) : 0);
		r->total += r->span[i].len;
	}
	r->plan.nspan = n;
}

/* Chooses pieces of the arena, some adjacent, some empty. */
static void rig_memory(struct rig *r)
{
	uint64_t left = r->total;
	uint32_t at = roll(r, 100), many = roll(r, 2);
	unsigned int n = 0;

	while (left && n < IOV_MAX_ - 1) {
		uint64_t len = many ? roll(r, 90) : roll(r, 30000);

		if (len > left)
			len = left;
		r->iov[n].iov_base = arena + at;
		r->iov[n++].iov_len = (size_t)len;
		left -= len;
		at += (uint32_t)len + (roll(r, 2) ? roll(r, 50) : 0);
	}
	if (left)
		r->iov[n++] = (struct iovec){ arena + at, (size_t)left };
	r->plan.niov = n;
}

static void rig_map(struct rig *r)
{
	uint64_t byte = 0, k;
	unsigned int i;

	for (i = 0; i < r->plan.nspan; i++) {
		for (k = 0; k < r->span[i].len; k++)
			MUST(view_map(&r->view, r->span[i].pos + k,
				      &file_of[byte++]));
	}
	memset(byte_of, 0, sizeof(byte_of));
	byte = 0;
	for (i = 0; i < r->plan.niov; i++) {
		char *base = r->iov[i].iov_base;

		for (k = 0; k < r->iov[i].iov_len; k++)
			byte_of[base - arena + (ptrdiff_t)k] = (uint32_t)++byte;
	}
	ck_assert_uint_eq(byte, r->total);
}

static void rig_make(struct rig *r, unsigned int seed)
{
	memset(r, 0, sizeof(*r));
	r->seed = seed;
	r->plan.dist = &r->dist;
	r->plan.view = &r->view;
	r->plan.span = r->span;
	r->plan.iov = r->iov;
	rig_file(r);
	rig_memory(r);
	rig_map(r);
}

/* Compares the memory of the request with its regions, byte by byte. */
static void check_bytes(const struct rig *r, uint32_t k,
			const struct plan_req *req)
{
	uint64_t reg_at = 0, done = 0;
	unsigned int reg = 0, s;
	uint32_t i;

	for (s = 0; s < req->nseg; s++) {
		ptrdiff_t mem = (char *)req->seg[s].addr - arena;

		for (i = 0; i < req->seg[s].len; i++, done++) {
			uint32_t byte = byte_of[mem + i];
			uint64_t local = le64toh(req->reg[reg].off) + reg_at;

			MUST(byte != 0);
			byte_of[mem + i] = 0;
			MUST(dist_logical(&r->dist, k, local) ==
			     file_of[byte - 1]);
			if (++reg_at == le64toh(req->reg[reg].len)) {
				reg_at = 0;
				reg++;
			}
		}
	}
	ck_assert_uint_eq(done, req->total);
	ck_assert_uint_eq(reg, req->nreg);
}

static void check_limits(const struct rig *r, const struct plan_req *req)
{
	unsigned int i;

	ck_assert_uint_gt(req->total, 0);
	ck_assert_uint_le(req->total, PLAN_REQUEST_MAX);
	ck_assert_uint_le(req->nreg, WIRE_REGION_MAX);
	ck_assert_uint_le(req->nseg, WIRE_MEM_MAX);
	for (i = 0; i < req->nseg; i++) {
		const struct plan_seg *s = &req->seg[i];
		const struct iovec *v = &r->iov[s->iov];

		MUST((char *)s->addr >= (char *)v->iov_base);
		MUST(s->len > 0);
		MUST((char *)s->addr + s->len <=
		     (char *)v->iov_base + v->iov_len);
	}
}

START_TEST(requests_cover_every_byte_once)
{
	static struct plan_req req;
	static struct rig r;
	struct plan_cur cur;
	uint64_t sum = 0;
	uint32_t k;

	rig_make(&r, (unsigned int)_i);
	for (k = 0; k < r.dist.pcount; k++) {
		plan_start(&r.plan, &cur, k);
		while (plan_next(&r.plan, &cur, &req)) {
			check_limits(&r, &req);
			check_bytes(&r, k, &req);
			sum += req.total;
		}
		ck_assert(!plan_next(&r.plan, &cur, &req));
	}
	ck_assert_uint_eq(sum, r.total);
}
END_TEST

/* The pieces of a short read, which are filled with zeros. */
START_TEST(pieces_say_where_they_belong)
{
	static struct rig r;
	struct plan_cur cur;
	uint64_t sum = 0;
	uint32_t k;

	rig_make(&r, (unsigned int)_i);
	for (k = 0; k < r.dist.pcount; k++) {
		plan_start(&r.plan, &cur, k);
		while (plan_piece(&r.plan, &cur)) {
			unsigned int iov;
			size_t len;
			char *mem = plan_memory(&r.plan, &cur, UINT64_MAX, &len,
						&iov);

			MUST(byte_of[mem - arena] == cur.piece.at + 1);
			MUST(dist_logical(&r.dist, k, cur.piece.local) ==
			     file_of[cur.piece.at]);
			plan_advance(&cur, len);
			sum += len;
		}
	}
	ck_assert_uint_eq(sum, r.total);
}
END_TEST

/* A contiguous transfer has one region for each server and one segment for each stripe. */
START_TEST(plain_transfers_stay_plain)
{
	struct dist dist = { .pcount = 4, .ssize = 65536 };
	struct file_view view = { 0 };
	struct plan_span span = { 0, 1u << 20 };
	struct iovec iov = { arena, 1u << 20 };
	struct io_plan plan = { &dist, &view, &span, 1, &iov, 1 };
	static struct plan_req req;
	struct plan_cur cur;

	plan_start(&plan, &cur, 2);
	ck_assert(plan_next(&plan, &cur, &req));
	ck_assert_uint_eq(req.total, 262144);
	ck_assert_uint_eq(req.nreg, 1);
	ck_assert_uint_eq(req.nseg, 4);
	ck_assert_ptr_eq(req.seg[1].addr, arena + 6 * 65536);
	ck_assert(!plan_next(&plan, &cur, &req));

	dist.pcount = 1;
	plan_start(&plan, &cur, 0);
	ck_assert(plan_next(&plan, &cur, &req));
	ck_assert_uint_eq(req.total, 1u << 20);
	ck_assert_uint_eq(req.nseg, 1);
}
END_TEST

/* Nothing is transferred, so the memory need not exist. */
START_TEST(huge_transfers_are_cut)
{
	struct dist dist = { .pcount = 1, .ssize = 65536 };
	struct file_view view = { 0 };
	struct plan_span span = { 5, 10ull << 30 };
	struct iovec iov = { arena, (size_t)10 << 30 };
	struct io_plan plan = { &dist, &view, &span, 1, &iov, 1 };
	static struct plan_req req;
	struct plan_cur cur;
	uint64_t sum = 0;

	plan_start(&plan, &cur, 0);
	while (plan_next(&plan, &cur, &req)) {
		ck_assert_uint_le(req.total, PLAN_REQUEST_MAX);
		ck_assert_uint_eq(le64toh(req.reg[0].off), 5 + sum);
		sum += req.total;
	}
	ck_assert_uint_eq(sum, span.len);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plan");
	TCase *tc = tcase_create("plan");

	tcase_add_loop_test(tc, requests_cover_every_byte_once, 0, CASES);
	tcase_add_loop_test(tc, pieces_say_where_they_belong, 0, CASES);
	tcase_add_test(tc, plain_transfers_stay_plain);
	tcase_add_test(tc, huge_transfers_are_cut);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
