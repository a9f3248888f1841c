/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_lend_told.c - what a borrower's page says is counted to the last one, and no more
 * of it than a host can do, whatever it says.
 */
#include <stdlib.h>
#include <string.h>

#include "lend_int.h"
#include "run_suite.h"

#define SECOND UINT64_C(1000000000)

static struct lent_marks marks;
static struct lend_said said;
static struct lend_told told[2], sum[2];
static uint64_t now;

static void setup(void)
{
	memset(&marks, 0, sizeof(marks));
	memset(sum, 0, sizeof(sum));
	now = 5 * SECOND;
	lend_said_begin(&said, now);
}

static void look(void)
{
	now += SECOND;
	lend_said_more(&said, &marks, now, told);
	for (unsigned int i = 0; i < 2; i++) {
		sum[i].n += told[i].n;
		sum[i].bytes += told[i].bytes;
		sum[i].ns += told[i].ns;
	}
}

/* An access, as direct.c counts it. */
static void count(unsigned int at, unsigned int write, uint64_t len,
		  uint64_t ns)
{
	struct lent_count *c = &marks.inside[at].count[write];

	if (c->n % LENT_TIMED == 0) {
		c->ns += ns;
		marks.inside[at].timed[write]++;
	}
	c->n++;
	c->bytes += len;
}

START_TEST(nothing_is_lost)
{
	uint64_t n[2] = { 0 }, bytes[2] = { 0 };

	srand(7);
	for (unsigned int i = 0; i < 20000; i++) {
		unsigned int write = (unsigned int)rand() % 2;
		uint64_t len = (uint64_t)rand() % LENT_MOST;

		count((unsigned int)rand() % LENT_INSIDE, write, len, 700);
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
	}
	look();
	ck_assert(!told[0].n && !told[0].bytes && !told[1].n && !told[1].ns);
}
END_TEST

static bool is_bounded(const struct lend_told *t, uint64_t passed)
{
	return t->n <= passed && t->bytes <= passed * LEND_TELL_NS &&
	       t->bytes <= t->n * LENT_MOST && t->ns <= passed * LENT_INSIDE;
}

START_TEST(whatever_it_says)
{
	unsigned char *p = (unsigned char *)&marks;

	srand(9);
	for (unsigned int round = 0; round < 2000; round++) {
		for (size_t i = 0; i < sizeof(marks); i++)
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
	marks.inside[3].count[0].n = 1;
	marks.inside[3].count[0].bytes = 0;
	look();
	ck_assert_uint_eq(told[0].n + told[0].bytes, 0);
	count(3, 0, 100, 1);
	look();
	ck_assert_uint_eq(told[0].n, 1);
	ck_assert_uint_eq(told[0].bytes, 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lend_told");
	TCase *tc = tcase_create("told");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, nothing_is_lost);
	tcase_add_test(tc, whatever_it_says);
	tcase_add_test(tc, what_goes_back_says_nothing);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
