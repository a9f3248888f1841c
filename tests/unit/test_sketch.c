/* SPDX-License-Identifier: BSD-2-Clause */
/* test_sketch.c - compares the sketch with counters for every key. */
#include <stdlib.h>
#include <string.h>

#include "tests/run_suite.h"
#include "common/util/sketch.h"

#define KEYS 4000u

static struct sketch s;
static uint64_t weight[KEYS], total;

static void setup(void)
{
	memset(&s, 0, sizeof(s));
	memset(weight, 0, sizeof(weight));
	total = 0;
	srand(11);
}

static void add(uint64_t key, uint64_t bytes)
{
	sketch_add(&s, key, bytes, 2 * bytes, 1);
	weight[key] += 3 * bytes + SKETCH_REQUEST;
	total += 3 * bytes + SKETCH_REQUEST;
}

static const struct sketch_row *row_of(uint64_t key)
{
	for (unsigned int i = 0; i < s.n; i++)
		if (s.row[i].key == key)
			return &s.row[i];
	return NULL;
}

static void check(void)
{
	for (uint64_t key = 0; key < KEYS; key++) {
		const struct sketch_row *row = row_of(key);

		if (!row) {
			ck_assert_uint_le(weight[key], total / SKETCH_MAX);
			continue;
		}
		ck_assert_uint_ge(row->weight, weight[key]);
		ck_assert_uint_le(row->weight - row->slack, weight[key]);
		ck_assert_uint_le(row->slack, total / SKETCH_MAX);
		ck_assert_uint_eq(row->weight - row->slack,
				  row->in + row->out +
					  row->requests * SKETCH_REQUEST);
	}
}

/* Small keys come often; each is new at some time. */
START_TEST(as_a_counter_for_each)
{
	for (unsigned int i = 0; i < 100000; i++) {
		unsigned int r = (unsigned int)rand() % KEYS,
			     q = (unsigned int)rand() % KEYS;
		uint64_t key = (uint64_t)r * q / KEYS * r / KEYS;

		add(key, (uint64_t)rand() % 100000);
		if (i % 5000 == 0)
			check();
	}
	check();
}
END_TEST

START_TEST(few_are_exact)
{
	for (unsigned int i = 0; i < 1000; i++)
		add(i % SKETCH_MAX, i);
	check();
	for (unsigned int i = 0; i < SKETCH_MAX; i++)
		ck_assert_uint_eq(row_of(i)->slack, 0);
}
END_TEST

/*
 * Keys that were frequent long ago are replaced by keys that are frequent now, among many others.
 */
START_TEST(the_past_fades)
{
	uint64_t now = 1;

	for (unsigned int i = 0; i < SKETCH_MAX; i++)
		sketch_add(&s, i, UINT64_C(1) << 40, 0, now);
	for (unsigned int i = 0; i < 100000; i++) {
		now += SKETCH_HALF_NS / 200;
		sketch_add(&s, 1000, 100000, 0, now);
		sketch_add(&s, 2000 + i, 1000, 0, now);
	}
	ck_assert_ptr_nonnull(row_of(1000));
	ck_assert_uint_ge(row_of(1000)->requests, 90000);
	ck_assert_ptr_null(row_of(3));
	/* a large jump of the clock has no effect */
	sketch_add(&s, 7, 1, 1, UINT64_MAX);
	sketch_add(&s, 7, 1, 1, 5);
}
END_TEST

START_TEST(joined)
{
	static struct sketch other;
	struct sketch_row rows[2 * SKETCH_MAX];
	unsigned int n;

	for (unsigned int i = 0; i < SKETCH_MAX; i++) {
		sketch_add(&s, i, i * 100, 0, 1);
		sketch_add(&other, i + 32, 0, i * 1000, 1);
	}
	n = sketch_join(&s, 1, rows, 0);
	ck_assert_uint_eq(n, SKETCH_MAX);
	n = sketch_join(&other, 1, rows, n);
	ck_assert_uint_eq(n, SKETCH_MAX);
	for (unsigned int i = 1; i < n; i++)
		ck_assert_uint_ge(rows[i - 1].weight, rows[i].weight);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t key = rows[i].key;

		ck_assert_uint_ge(key, 32);
		ck_assert_uint_eq(rows[i].in, key < 64 ? key * 100 : 0);
		ck_assert_uint_eq(rows[i].out, (key - 32) * 1000);
		ck_assert_uint_eq(rows[i].requests, key < 64 ? 2 : 1);
	}
	ck_assert_uint_eq(sketch_join(&other, UINT64_MAX, rows, 0), SKETCH_MAX);
	ck_assert_uint_eq(rows[0].weight, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sketch");
	TCase *tc = tcase_create("sketch");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, as_a_counter_for_each);
	tcase_add_test(tc, few_are_exact);
	tcase_add_test(tc, the_past_fades);
	tcase_add_test(tc, joined);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
