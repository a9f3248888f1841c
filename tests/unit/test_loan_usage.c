/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_loan_usage.c - the counts of a borrower's page are added exactly, but not more than a host
 * can do, whatever the page says.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "server/lend/loan_usage.h"
#include "tests/run_suite.h"

#define SECOND UINT64_C(1000000000)

static struct loan_page_file page;
static struct loan_counters said;
static struct loan_usage told[2], sum[2];
static uint64_t now;

static void setup(void)
{
	memset(&page, 0, sizeof(page));
	memset(sum, 0, sizeof(sum));
	now = 5 * SECOND;
	loan_counters_start(&said, now);
}

static void look(void)
{
	now += SECOND;
	loan_counters_update(&said, &page, now, told);
	for (unsigned int i = 0; i < 2; i++) {
		sum[i].n += told[i].n;
		sum[i].bytes += told[i].bytes;
		sum[i].ns += told[i].ns;
		for (unsigned int b = 0; b < HISTOGRAM_BUCKETS; b++)
			sum[i].bucket[b] += told[i].bucket[b];
	}
}

/* Counts an access as direct.c does. */
static void count(unsigned int at, unsigned int write, uint64_t len,
		  uint64_t ns)
{
	struct loan_page_count *c = &page.marks.inside[at].count[write];

	if (c->n % LOAN_PAGE_TIMED == 0) {
		c->ns += ns;
		page.marks.inside[at].timed[write]++;
		page.bucket[write][histogram_bucket(ns)]++;
	}
	c->n++;
	c->bytes += len;
}

static uint64_t in_buckets(const struct loan_usage *t)
{
	uint64_t n = 0;

	for (unsigned int b = 0; b < HISTOGRAM_BUCKETS; b++)
		n += t->bucket[b];
	return n;
}

START_TEST(nothing_is_lost)
{
	uint64_t n[2] = { 0 }, bytes[2] = { 0 };

	srand(7);
	for (unsigned int i = 0; i < 20000; i++) {
		unsigned int write = (unsigned int)rand() % 2;
		uint64_t len = (uint64_t)rand() % LOAN_PAGE_MOST;

		count((unsigned int)rand() % LOAN_PAGE_INSIDE, write, len, 700);
		n[write]++;
		bytes[write] += len;
		if (rand() % 100 == 0)
			look();
	}
	look();
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_uint_eq(sum[i].n, n[i]);
		ck_assert_uint_eq(sum[i].bytes, bytes[i]);
		ck_assert_uint_eq(sum[i].ns, 700 * n[i]);
		ck_assert_uint_eq(sum[i].bucket[histogram_bucket(700)], n[i]);
	}
	look();
	ck_assert(!told[0].n && !told[0].bytes && !told[1].n && !told[1].ns);
}
END_TEST

static bool is_bounded(const struct loan_usage *t, uint64_t passed)
{
	return t->n <= passed && t->bytes <= passed * LOAN_BYTES_PER_NS &&
	       t->bytes <= t->n * LOAN_PAGE_MOST &&
	       t->ns <= passed * LOAN_PAGE_INSIDE && in_buckets(t) <= t->n;
}

START_TEST(whatever_it_says)
{
	unsigned char *p = (unsigned char *)&page;

	srand(9);
	for (unsigned int round = 0; round < 2000; round++) {
		for (size_t i = 0; i < sizeof(page); i++)
			p[i] = (unsigned char)(rand() % 3 ? rand() : 255);
		now += (uint64_t)rand() % 1000 - 1000;
		look();
		ck_assert(is_bounded(&told[0], SECOND));
		ck_assert(is_bounded(&told[1], SECOND));
	}
}
END_TEST

START_TEST(what_goes_back_says_nothing)
{
	count(3, 0, 100, 1);
	count(3, 0, 100, 1);
	look();
	ck_assert_uint_eq(told[0].n, 2);
	page.marks.inside[3].count[0].n = 1;
	page.marks.inside[3].count[0].bytes = 0;
	look();
	ck_assert_uint_eq(told[0].n + told[0].bytes, 0);
	count(3, 0, 100, 1);
	look();
	ck_assert_uint_eq(told[0].n, 1);
	ck_assert_uint_eq(told[0].bytes, 100);
}
END_TEST

static const struct {
	uint64_t sampled[3], n, share[3];
} shapes[] = {
	{ { 1, 0, 1 }, 128, { 64, 0, 64 } },
	{ { 1, 1, 1 }, 100, { 33, 33, 34 } },
	{ { 0, 0, 1 }, 1, { 0, 0, 1 } },
	{ { UINT64_MAX / 2, 0, 1 }, 1000, { 1000, 0, 0 } },
	{ { 1u << 24, 0, 1u << 24 }, 500000000, { 250000000, 0, 250000000 } },
	{ { 0, 0, 0 }, 5, { 0, 0, 0 } },
};

static void say(const uint64_t sampled[3], uint64_t n)
{
	page.marks.inside[1].count[1].n += n;
	for (unsigned int b = 0; b < 3; b++)
		page.bucket[1][20 + b] += sampled[b];
	look();
}

static void ck_share(const uint64_t share[3])
{
	for (unsigned int b = 0; b < 3; b++)
		ck_assert_uint_eq(told[1].bucket[20 + b], share[b]);
	ck_assert_uint_eq(in_buckets(&told[0]), 0);
	ck_assert_uint_eq(in_buckets(&told[1]), share[0] + share[1] + share[2]);
}

/* Timed accesses stand for all; if none was timed, earlier ones do. */
START_TEST(some_stand_for_all)
{
	static const uint64_t none[3], all[3] = { 30, 0, 10 },
				       more[3] = { 0, 5, 0 };

	say(shapes[_i].sampled, shapes[_i].n);
	ck_share(shapes[_i].share);
	setup();
	say(all, 40);
	ck_share(all);
	say(none, 4);
	ck_share((const uint64_t[]){ 3, 0, 1 });
	say(more, 7);
	ck_share((const uint64_t[]){ 0, 7, 0 });
	say(none, 0);
	ck_share(none);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("loan_usage");
	TCase *tc = tcase_create("told");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, nothing_is_lost);
	tcase_add_test(tc, whatever_it_says);
	tcase_add_test(tc, what_goes_back_says_nothing);
	tcase_add_loop_test(tc, some_stand_for_all, 0,
			    sizeof(shapes) / sizeof(shapes[0]));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
