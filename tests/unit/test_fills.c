/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fills.c - what the kernel is told of a page has the writes that came before. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "common/util/clock.h"
#include "client/fuse/kept/fills.h"
#include "tests/run_suite.h"

#define PAGE 4096u

static struct fills *fills;

static void make(void)
{
	fills = fills_new();
	ck_assert_ptr_nonnull(fills);
}

static void drop(void)
{
	fills_free(fills);
}

static struct fill part(uint64_t file, uint64_t from, uint64_t len)
{
	return (struct fill){ .file = file, .from = from, .to = from + len };
}

static uint64_t soon(void)
{
	return clock_after_ms(1);
}

static void begin(struct fill *x)
{
	ck_assert_int_eq(fills_begin(fills, x, clock_after_ms(60000)), 0);
}

/* Files 1 and 65 share a list. */
static const struct {
	struct fill written;
	bool meets;
} cases[] = {
	{ { .file = 1, .from = PAGE, .to = 2 * PAGE }, true },
	{ { .file = 1, .from = 0, .to = 3 * PAGE }, true },
	{ { .file = 1, .from = PAGE + 7, .to = PAGE + 8 }, true },
	{ { .file = 1, .from = 0, .to = PAGE + 1 }, true },
	{ { .file = 1, .from = 2 * PAGE - 1, .to = 3 * PAGE }, true },
	{ { .file = 1, .from = 0, .to = PAGE }, false },
	{ { .file = 1, .from = 2 * PAGE, .to = 3 * PAGE }, false },
	{ { .file = 65, .from = PAGE, .to = 2 * PAGE }, false },
	{ { .file = 2, .from = PAGE, .to = 2 * PAGE }, false },
};

START_TEST(a_write_overtakes)
{
	struct fill page = part(1, PAGE, PAGE), bytes = cases[_i].written;

	begin(&page);
	fills_write(fills, &bytes);
	ck_assert(fills_end(fills, &page) != cases[_i].meets);
	fills_written(fills, &bytes);
	begin(&page);
	ck_assert(fills_end(fills, &page));
}
END_TEST

/* Though it has ended when the page is there. */
START_TEST(a_short_write_overtakes)
{
	struct fill page = part(1, PAGE, PAGE), bytes = cases[_i].written;

	begin(&page);
	fills_write(fills, &bytes);
	fills_written(fills, &bytes);
	ck_assert(fills_end(fills, &page) != cases[_i].meets);
}
END_TEST

START_TEST(a_write_is_waited_for)
{
	struct fill page = part(1, PAGE, PAGE), bytes = cases[_i].written;

	fills_write(fills, &bytes);
	ck_assert_int_eq(fills_begin(fills, &page, soon()),
			 cases[_i].meets ? -ETIMEDOUT : 0);
	if (!cases[_i].meets)
		ck_assert(fills_end(fills, &page));
	fills_written(fills, &bytes);
}
END_TEST

START_TEST(reads_do_not_meet)
{
	struct fill a = part(1, PAGE, PAGE), b = a;

	begin(&a);
	begin(&b);
	ck_assert(fills_end(fills, &a));
	ck_assert(fills_end(fills, &b));
}
END_TEST

/* ---- threads ---- */

#define ROUNDS 20000u

static atomic_uint stored;
static atomic_uint returned; /* writes before that one have */

static void *write_all(void *arg)
{
	for (unsigned int i = 1; i <= ROUNDS; i++) {
		struct fill bytes = part(1, i % 2 * 7, 8);

		fills_write(fills, &bytes);
		sched_yield();
		atomic_store(&stored, i);
		fills_written(fills, &bytes);
		atomic_store(&returned, i);
	}
	return arg;
}

START_TEST(no_read_is_older)
{
	struct fill page = part(1, 0, PAGE);
	unsigned int seen, least;
	pthread_t writer;

	atomic_store(&stored, 0);
	atomic_store(&returned, 0);
	ck_assert_int_eq(pthread_create(&writer, NULL, write_all, NULL), 0);
	do {
		do {
			begin(&page);
			seen = atomic_load(&stored);
			sched_yield();
			least = atomic_load(&returned);
		} while (!fills_end(fills, &page));
		ck_assert_uint_ge(seen, least);
	} while (seen < ROUNDS);
	pthread_join(writer, NULL);
}
END_TEST

int main(void)
{
	const int n = sizeof(cases) / sizeof(cases[0]);
	Suite *s = suite_create("fills");
	TCase *tc = tcase_create("fills");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_loop_test(tc, a_write_overtakes, 0, n);
	tcase_add_loop_test(tc, a_short_write_overtakes, 0, n);
	tcase_add_loop_test(tc, a_write_is_waited_for, 0, n);
	tcase_add_test(tc, reads_do_not_meet);
	tcase_add_test(tc, no_read_is_older);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
