/* SPDX-License-Identifier: BSD-2-Clause */
/* test_inflight_io.c - a page that the kernel gets contains all earlier writes. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "client/fuse/cache/inflight_io.h"
#include "common/util/clock.h"
#include "tests/run_suite.h"

#define PAGE 4096u

static struct inflight_io *io;

static void make(void)
{
	io = inflight_io_new();
	ck_assert_ptr_nonnull(io);
}

static void drop(void)
{
	inflight_io_free(io);
}

static struct io_range part(uint64_t file, uint64_t from, uint64_t len)
{
	return (struct io_range){ .file = file,
				  .from = from,
				  .to = from + len };
}

static uint64_t soon(void)
{
	return clock_after_ms(1);
}

static void begin(struct io_range *x)
{
	ck_assert_int_eq(inflight_io_read_start(io, x, clock_after_ms(60000)),
			 0);
}

/* Files 1 and 65 share a list. */
static const struct {
	struct io_range written;
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
	struct io_range page = part(1, PAGE, PAGE), bytes = cases[_i].written;

	begin(&page);
	inflight_io_write_start(io, &bytes);
	ck_assert(inflight_io_read_end(io, &page) != cases[_i].meets);
	inflight_io_write_end(io, &bytes);
	begin(&page);
	ck_assert(inflight_io_read_end(io, &page));
}
END_TEST

/* The write counts although it has ended when the page arrives. */
START_TEST(a_short_write_overtakes)
{
	struct io_range page = part(1, PAGE, PAGE), bytes = cases[_i].written;

	begin(&page);
	inflight_io_write_start(io, &bytes);
	inflight_io_write_end(io, &bytes);
	ck_assert(inflight_io_read_end(io, &page) != cases[_i].meets);
}
END_TEST

START_TEST(a_write_is_waited_for)
{
	struct io_range page = part(1, PAGE, PAGE), bytes = cases[_i].written;

	inflight_io_write_start(io, &bytes);
	ck_assert_int_eq(inflight_io_read_start(io, &page, soon()),
			 cases[_i].meets ? -ETIMEDOUT : 0);
	if (!cases[_i].meets)
		ck_assert(inflight_io_read_end(io, &page));
	inflight_io_write_end(io, &bytes);
}
END_TEST

START_TEST(reads_do_not_meet)
{
	struct io_range a = part(1, PAGE, PAGE), b = a;

	begin(&a);
	begin(&b);
	ck_assert(inflight_io_read_end(io, &a));
	ck_assert(inflight_io_read_end(io, &b));
}
END_TEST

/* ---- threads ---- */

#define ROUNDS 20000u

static atomic_uint stored;
static atomic_uint returned; /* number of writes that have returned */

static void *write_all(void *arg)
{
	for (unsigned int i = 1; i <= ROUNDS; i++) {
		struct io_range bytes = part(1, i % 2 * 7, 8);

		inflight_io_write_start(io, &bytes);
		sched_yield();
		atomic_store(&stored, i);
		inflight_io_write_end(io, &bytes);
		atomic_store(&returned, i);
	}
	return arg;
}

START_TEST(no_read_is_older)
{
	struct io_range page = part(1, 0, PAGE);
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
		} while (!inflight_io_read_end(io, &page));
		ck_assert_uint_ge(seen, least);
	} while (seen < ROUNDS);
	pthread_join(writer, NULL);
}
END_TEST

int main(void)
{
	const int n = sizeof(cases) / sizeof(cases[0]);
	Suite *s = suite_create("inflight_io");
	TCase *tc = tcase_create("io");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_loop_test(tc, a_write_overtakes, 0, n);
	tcase_add_loop_test(tc, a_short_write_overtakes, 0, n);
	tcase_add_loop_test(tc, a_write_is_waited_for, 0, n);
	tcase_add_test(tc, reads_do_not_meet);
	tcase_add_test(tc, no_read_is_older);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
