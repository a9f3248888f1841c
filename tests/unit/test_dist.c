/* SPDX-License-Identifier: BSD-2-Clause */
/* test_dist.c - striping, compared with a model that assigns byte after byte. */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/unit/dist_model.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define SEED 20030706u

/* Like ck_assert(), which makes a system call even if it holds. */
#define SURE(cond)                                                             \
	do {                                                                   \
		if (!(cond))                                                   \
			ck_abort_msg("%s", #cond);                             \
	} while (0)
#define SAME(a, b)                                                             \
	do {                                                                   \
		uint64_t a_ = (a), b_ = (b);                                   \
		if (a_ != b_)                                                  \
			ck_abort_msg("%s: %" PRIu64 ", but %s: %" PRIu64, #a,  \
				     a_, #b, b_);                              \
	} while (0)

/* Sizes that are small enough to walk, and no powers of two. */
static struct dist random_dist(struct rnd *r)
{
	struct dist d = { 0 };

	d.pcount = (uint32_t)rnd_in(r, 1, 9);
	d.ssize = (uint32_t)rnd_in(r, DIST_SSIZE_MIN, 150);
	return d;
}

/* Rounds at the start, in the middle and at the end of the largest file. */
static uint64_t random_round(struct rnd *r, const struct dist *d)
{
	uint64_t last = dist_model_round(d, INT64_MAX);

	switch (rnd_in(r, 0, 3)) {
	case 0:
		return 0;
	case 1:
		return rnd_in(r, 0, 1000);
	case 2:
		return last - rnd_in(r, 0, 40);
	default:
		return rnd_in(r, 0, last - 40);
	}
}

static void check_byte(const struct dist_model *m)
{
	const struct dist *d = m->d;

	SAME(dist_server(d, m->off), m->server);
	SAME(dist_local(d, m->off), m->local[m->server]);
	SAME(dist_logical(d, m->server, m->local[m->server]), m->off);
}

/* Checks up to the end of the current stripe, and one byte more. */
static void check_stripe(const struct dist_model *m)
{
	uint64_t local, left = m->d->ssize - m->off % m->d->ssize;
	uint32_t k;

	for (uint64_t len = 1; len <= left; len += left > 1 ? left - 1 : 1) {
		SURE(dist_stripe(m->d, m->off, len, &k, &local));
		SAME(k, m->server);
		SAME(local, m->local[m->server]);
	}
	SURE(!dist_stripe(m->d, m->off, left + 1, &k, &local));
}

/* Checks the sizes of the objects of a file that ends here. */
static void check_sizes(const struct dist_model *m)
{
	uint64_t max = 0, size;

	for (uint32_t k = 0; k < m->d->pcount; k++) {
		SAME(dist_local_size(m->d, k, m->off), m->local[k]);
		size = dist_file_size(m->d, k, m->local[k]);
		SURE(size <= m->off);
		if (size > max)
			max = size;
	}
	SAME(max, m->off);
}

START_TEST(bytes_and_sizes)
{
	struct dist_model m;
	struct dist d;
	struct rnd r;

	rnd_init(&r, SEED);
	for (int i = 0; i < 1500; i++) {
		d = random_dist(&r);
		dist_model_init(&m, &d, random_round(&r, &d));
		for (uint64_t n = rnd_in(&r, 1, 1500); n && m.off < INT64_MAX;
		     n--) {
			check_byte(&m);
			check_stripe(&m);
			check_sizes(&m);
			dist_model_step(&m);
		}
	}
}
END_TEST

/* Walks the part of one server byte by byte with the iterator. */
struct walk {
	struct dist_iter it;
	uint64_t at, left; /* position in the current piece, as file offset */
	uint64_t total;
};

static bool walk_has(struct walk *w, uint64_t off, uint64_t start)
{
	uint64_t delta;

	if (w->left == 0) {
		if (!dist_iter_next(&w->it, &delta, &w->left))
			return false;
		SURE(w->left > 0);
		w->at = start + delta;
	}
	SURE(w->at >= off);
	if (w->at != off)
		return false;
	w->at++;
	w->left--;
	w->total++;
	return true;
}

static void check_range(struct dist_model *m, uint64_t len)
{
	struct walk w[DIST_MODEL_SERVERS] = { 0 };
	uint64_t first[DIST_MODEL_SERVERS], off = m->off, local, delta, n;

	for (uint32_t k = 0; k < m->d->pcount; k++) {
		dist_iter_init(&w[k].it, m->d, k, off, len);
		first[k] = m->local[k];
	}
	for (uint64_t i = 0; i < len; i++) {
		SURE(walk_has(&w[m->server], m->off, off));
		dist_model_step(m);
	}
	for (uint32_t k = 0; k < m->d->pcount; k++) {
		SAME(w[k].left, 0);
		SAME(dist_iter_next(&w[k].it, &delta, &n), 0);
		SAME(dist_share(m->d, k, off, len, &local), w[k].total);
		SAME(local, first[k]);
		SAME(local + w[k].total, m->local[k]);
	}
}

START_TEST(ranges)
{
	uint64_t skip, len;
	struct dist_model m;
	struct dist d;
	struct rnd r;

	rnd_init(&r, SEED + 1);
	for (int i = 0; i < 6000; i++) {
		d = random_dist(&r);
		dist_model_init(&m, &d, random_round(&r, &d));
		skip = rnd_in(&r, 0, 800);
		len = rnd_in(&r, 0, i % 2 ? 3000 : 100);
		while (skip-- && m.off < INT64_MAX)
			dist_model_step(&m);
		if (len > INT64_MAX - m.off)
			len = INT64_MAX - m.off;
		check_range(&m, len);
	}
}
END_TEST

/* The last byte that a file can have. */
START_TEST(last_byte)
{
	struct dist_model m;
	struct dist d;
	struct rnd r;

	rnd_init(&r, SEED + 2);
	for (int i = 0; i < 1000; i++) {
		d = random_dist(&r);
		dist_model_init(&m, &d, dist_model_round(&d, INT64_MAX));
		check_range(&m, INT64_MAX - m.off);
		check_sizes(&m);
	}
}
END_TEST

/* Stripes that are too large to walk: the model is arithmetic that cannot overflow. */
START_TEST(large_stripes)
{
	struct dist d;
	struct rnd r;

	rnd_init(&r, SEED + 3);
	for (int i = 0; i < 100000; i++) {
		uint64_t off = rnd_next(&r) >> rnd_in(&r, 1, 63), local;
		unsigned __int128 back;
		uint32_t k;

		d.pcount = (uint32_t)rnd_in(&r, 1, 1024);
		d.ssize = (uint32_t)rnd_in(&r, DIST_SSIZE_MIN, DIST_SSIZE_MAX);
		k = dist_server(&d, off);
		local = dist_local(&d, off);
		back = (unsigned __int128)(local / d.ssize) * d.pcount + k;
		back = back * d.ssize + local % d.ssize;
		SURE(back == off);
		SAME(dist_logical(&d, k, local), off);
		SAME(dist_local_size(&d, k, off), local);
	}
}
END_TEST

/* The shares of a range of any size add up to its length. */
START_TEST(shares_add_up)
{
	struct dist d;
	struct rnd r;

	rnd_init(&r, SEED + 4);
	for (int i = 0; i < 2000; i++) {
		uint64_t off = rnd_next(&r) >> rnd_in(&r, 1, 63), sum = 0, at;
		uint64_t len = rnd_in(&r, 0, INT64_MAX - off);

		d.pcount = (uint32_t)rnd_in(&r, 1, 100);
		d.ssize = (uint32_t)rnd_in(&r, DIST_SSIZE_MIN, DIST_SSIZE_MAX);
		for (uint32_t k = 0; k < d.pcount; k++)
			sum += dist_share(&d, k, off, len, &at);
		SAME(sum, len);
	}
}
END_TEST

/* If an iod reports wrong sizes, the size of the file is not too small or negative. */
START_TEST(saturation)
{
	const struct dist d = { .pcount = 1024, .ssize = DIST_SSIZE_MAX };
	const struct dist one = { .pcount = 1, .ssize = 64 };
	const uint64_t max = INT64_MAX;

	ck_assert_uint_eq(dist_logical(&d, 1023, UINT64_MAX), max);
	ck_assert_uint_eq(dist_logical(&d, 0, max), max);
	ck_assert_uint_eq(dist_logical(&one, 0, max - 1), max - 1);
	ck_assert_uint_eq(dist_logical(&one, 0, max + 1), max);
	ck_assert_uint_eq(dist_file_size(&d, 5, UINT64_MAX), max);
	ck_assert_uint_eq(dist_file_size(&d, 5, max), max);
	ck_assert_uint_eq(dist_file_size(&one, 0, max), max);
	ck_assert_uint_eq(dist_file_size(&one, 0, 0), 0);
	ck_assert_uint_eq(dist_file_size(&d, 5, 0), 0);
}
END_TEST

/* With one server the range is one piece, however many stripes it has. */
START_TEST(one_server_is_one_piece)
{
	const struct dist d = { .pcount = 1, .ssize = 64 };
	struct dist_iter it;
	uint64_t delta, len;

	dist_iter_init(&it, &d, 0, 7, INT64_MAX - 7);
	ck_assert_int_eq(dist_iter_next(&it, &delta, &len), 1);
	ck_assert_uint_eq(delta, 0);
	ck_assert_uint_eq(len, INT64_MAX - 7);
	ck_assert_int_eq(dist_iter_next(&it, &delta, &len), 0);
}
END_TEST

START_TEST(check)
{
	static const struct {
		struct dist d;
		uint32_t niods;
		int rc;
	} t[] = {
		{ { 0, 1, 65536 }, 1, 0 },
		{ { 3, 4, DIST_SSIZE_MIN }, 4, 0 },
		{ { 3, 4, DIST_SSIZE_MAX }, 4, 0 },
		{ { 0, 1, 65536 }, 0, -EINVAL },
		{ { 4, 4, 65536 }, 4, -EINVAL },
		{ { UINT32_MAX, 4, 65536 }, 4, -EINVAL },
		{ { 0, 0, 65536 }, 4, -EINVAL },
		{ { 0, 5, 65536 }, 4, -EINVAL },
		{ { 0, 4, DIST_SSIZE_MIN - 1 }, 4, -EINVAL },
		{ { 0, 4, DIST_SSIZE_MAX + 1 }, 4, -EINVAL },
		{ { 0, 4, 0 }, 4, -EINVAL },
	};

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ck_assert_int_eq(dist_check(&t[i].d, t[i].niods), t[i].rc);
}
END_TEST

static Suite *dist_suite(void)
{
	Suite *suite = suite_create("dist");
	TCase *tc = tcase_create("dist");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, bytes_and_sizes);
	tcase_add_test(tc, ranges);
	tcase_add_test(tc, last_byte);
	tcase_add_test(tc, large_stripes);
	tcase_add_test(tc, shares_add_up);
	tcase_add_test(tc, saturation);
	tcase_add_test(tc, one_server_is_one_piece);
	tcase_add_test(tc, check);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return run_suite(dist_suite());
}
