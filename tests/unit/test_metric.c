/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_metric.c - differences between two replies of a server, and percentiles, compared with a
 * model that keeps each request.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/common/metric.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define ROWS 4u
#define MOST 300u

/* Rows "requests" of the operations "a", "b", ..., with the counts of the model. */
struct answer {
	uint64_t latency[ROWS][PVFS_LATENCIES];
	struct pvfs_metric row[ROWS];
};

static const char *const ops[ROWS] = { "a", "b", "c", "d" };

static void init(struct answer *a)
{
	*a = (struct answer){ 0 };
	for (unsigned int i = 0; i < ROWS; i++)
		a->row[i] = (struct pvfs_metric){
			.next = i < ROWS - 1 ? &a->row[i + 1] : NULL,
			.kind = PVFS_TIMES,
			.labels = 1,
			.name = "requests",
			.help = "",
			.label = { { "op", ops[i] } },
			.latency = a->latency[i],
		};
}

/* Copies the reply of a moment. */
static void copy(struct answer *to, const struct answer *from)
{
	init(to);
	for (unsigned int i = 0; i < ROWS; i++) {
		metric_add(&to->row[i], &from->row[i]);
		ck_assert_uint_eq(to->row[i].n, from->row[i].n);
	}
}

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int i = 0;

	while (i < PVFS_LATENCIES - 1 && ns >= pvfs_latency_ns(i + 1))
		i++;
	return i;
}

static void count(struct pvfs_metric *m, uint64_t ns)
{
	m->n++;
	m->errors += ns % 2;
	m->bytes_in += ns % 1000;
	m->bytes_out += ns % 77;
	m->ns += ns;
	m->most_ns = ns > m->most_ns ? ns : m->most_ns;
	m->latency[bucket_of(ns)]++;
}

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void check_percentile(const struct pvfs_metric *m, uint64_t *ns,
			     unsigned int n, double share)
{
	uint64_t got = metric_percentile(m, share);

	qsort(ns, n, sizeof(*ns), ascending);
	ck_assert_uint_le(got, m->most_ns);
	ck_assert_uint_eq(bucket_of(got),
			  bucket_of(ns[(unsigned int)(share * n)]));
}

START_TEST(since)
{
	struct rnd r = { 1 };

	for (unsigned int round = 0; round < 100; round++) {
		uint64_t ns[ROWS][MOST], none[PVFS_LATENCIES];
		unsigned int n[ROWS] = { 0 };
		struct answer now, before;
		struct pvfs_metric unknown;

		init(&now);
		for (unsigned int i = 0; i < MOST; i++)
			count(&now.row[rnd_next(&r) % ROWS],
			      rnd_next(&r) >> (20 + rnd_next(&r) % 40));
		copy(&before, &now);
		for (unsigned int i = 0; i < MOST; i++) {
			unsigned int k = rnd_next(&r) % ROWS;

			ns[k][n[k]] = rnd_next(&r) >> (20 + rnd_next(&r) % 40);
			count(&now.row[k], ns[k][n[k]++]);
		}
		for (unsigned int k = 0; k < ROWS; k++) {
			uint64_t latency[PVFS_LATENCIES], sum = 0, all = 0;
			const struct pvfs_metric s =
				metric_since(&now.row[k], before.row, latency);

			for (unsigned int i = 0; i < n[k]; i++)
				sum += ns[k][i];
			for (unsigned int i = 0; i < PVFS_LATENCIES; i++)
				all += s.latency[i];
			ck_assert_uint_eq(s.n, n[k]);
			ck_assert_uint_eq(all, n[k]);
			ck_assert_uint_eq(s.ns, sum);
			ck_assert_uint_eq(metric_mean(&s),
					  n[k] ? sum / n[k] : 0);
			for (double share = 0; n[k] && share < 1; share += 0.1)
				check_percentile(&s, ns[k], n[k], share);
		}
		/* a missing row, or one with a larger earlier count: the server was restarted */
		unknown = now.row[0];
		unknown.label[0].value = "e";
		ck_assert_uint_eq(metric_since(&unknown, before.row, none).n,
				  now.row[0].n);
		ck_assert_uint_eq(metric_since(&before.row[1], now.row, none).n,
				  n[1] ? before.row[1].n : 0);
	}
}
END_TEST

/* A current value has no difference. */
START_TEST(now)
{
	const struct pvfs_metric before = { .kind = PVFS_NOW,
					    .name = "used",
					    .n = 3 },
				 m = { .kind = PVFS_NOW,
				       .name = "used",
				       .n = 5 };

	ck_assert_uint_eq(metric_since(&m, &before, NULL).n, 5);
	ck_assert_uint_eq(metric_percentile(&m, 0.5), 0);
}
END_TEST

START_TEST(same)
{
	const struct pvfs_metric a = { .name = "user",
				       .labels = 2,
				       .label = { { "uid", "1" },
						  { "job", "" } } };
	struct pvfs_metric b = a;

	ck_assert_int_eq(metric_compare(&a, &b), 0);
	b.label[1].value = "x";
	ck_assert_int_lt(metric_compare(&a, &b), 0);
	b = a;
	b.label[b.labels].key = "way";
	b.label[b.labels++].value = "direct";
	ck_assert_int_lt(metric_compare(&a, &b), 0);
	ck_assert_int_gt(metric_compare(&b, &a), 0);
	b = a;
	b.label[0].key = "gid";
	ck_assert_int_ne(metric_compare(&a, &b), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("metric");
	TCase *tc = tcase_create("metric");

	tcase_add_test(tc, since);
	tcase_add_test(tc, now);
	tcase_add_test(tc, same);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
