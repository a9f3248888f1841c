/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_counter.c - counters of files: the result of each call, over the end of the process and of
 * the host.  After the end of the host, the page has the contents of the disk.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server/counter/counter.h"
#include "server/counter/counter_page.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "common/transport/transport.h"

#define HANDLE 77u
#define KEY object_key_own(HANDLE)
#define THREADS 4u
#define EACH 5000u

static char dir[64];
static struct log quiet;
static struct counters *counters;

static void say_nothing(void *arg, enum log_level level, const char *msg)
{
	(void)arg;
	(void)level;
	(void)msg;
}

static void open_as(bool in_memory)
{
	const struct counters_attr attr = { .dir = dir,
					    .in_memory = in_memory,
					    .log = &quiet };

	ck_assert_int_eq(counters_open(&attr, &counters), 0);
}

static void setup(void)
{
	strcpy(dir, "/tmp/pvfs-counter-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	quiet = (struct log){ LOG_LV_ERROR, say_nothing, NULL };
	open_as(false);
}

static void teardown(void)
{
	char cmd[128];

	counters_close(counters);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	ck_assert_int_eq(system(cmd), 0);
}

static bool bad_disk;

int fdatasync(int fd)
{
	if (!bad_disk)
		return (int)syscall(SYS_fdatasync, fd);
	errno = EIO;
	return -1;
}

static int change(uint64_t handle, unsigned int number, bool set, int64_t value,
		  int64_t *old)
{
	const struct counter_change c = { object_key_own(handle), number, set,
					  value };
	int rc = counter_change(counters, &c, true, old);

	return rc == -EAGAIN ? counter_change(counters, &c, false, old) : rc;
}

static int64_t add(uint64_t handle, unsigned int number, int64_t value)
{
	int64_t old = -999;

	ck_assert_int_eq(change(handle, number, false, value, &old), 0);
	return old;
}

static char *page_path(uint64_t handle)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/counters/%016llx", dir,
		 (unsigned long long)handle);
	return path;
}

static void page_io(uint64_t handle, struct counter_page *page, bool write)
{
	int fd = open(page_path(handle), O_RDWR);
	ssize_t n = write ? pwrite(fd, page, sizeof(*page), 0)
			  : pread(fd, page, sizeof(*page), 0);

	ck_assert_int_eq(n, sizeof(*page));
	close(fd);
}

/* ---- results of calls ---- */

START_TEST(adds_and_sets)
{
	int64_t old = 5;

	ck_assert_int_eq(add(HANDLE, 0, 0), 0);
	ck_assert_int_ne(access(page_path(HANDLE), F_OK), 0);
	ck_assert_int_eq(add(HANDLE, 0, 10), 0);
	ck_assert_int_eq(add(HANDLE, 0, -3), 10);
	ck_assert_int_eq(add(HANDLE, 0, 0), 7);
	ck_assert_int_eq(add(HANDLE, 1, 1), 0);
	ck_assert_int_eq(change(HANDLE, 0, true, -50, &old), 0);
	ck_assert_int_eq(old, 7);
	ck_assert_int_eq(add(HANDLE, 0, 1), -50);
	ck_assert_int_eq(add(HANDLE + 1, 0, 1), 0);
	ck_assert_int_eq(add(HANDLE, 1, 1), 1);
}
END_TEST

START_TEST(two_objects_of_a_file)
{
	const struct object_key other = { HANDLE, 1024 };
	const struct counter_change one = { other, 0, false, 1 };
	char path[160];
	int64_t old = -1;

	ck_assert_int_eq(add(HANDLE, 0, 5), 0);
	ck_assert_int_eq(counter_change(counters, &one, false, &old), 0);
	ck_assert_int_eq(old, 0);
	snprintf(path, sizeof(path), "%s-00000400", page_path(HANDLE));
	ck_assert_int_eq(access(path, F_OK), 0);
	counters_remove_file(counters, KEY);
	ck_assert_int_eq(access(path, F_OK), 0);
	ck_assert_int_ne(access(page_path(HANDLE), F_OK), 0);
	ck_assert_int_eq(counter_change(counters, &one, false, &old), 0);
	ck_assert_int_eq(old, 1);
	ck_assert_int_eq(add(HANDLE, 0, 1), 0);
	counters_remove_file(counters, other);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(add(HANDLE, 0, 1), 1);
}
END_TEST

START_TEST(does_not_wrap)
{
	int64_t old = 5;

	ck_assert_int_eq(change(HANDLE, 0, true, INT64_MAX - 1, &old), 0);
	ck_assert_int_eq(change(HANDLE, 0, false, 2, &old), -EOVERFLOW);
	ck_assert_int_eq(old, 0);
	ck_assert_int_eq(add(HANDLE, 0, 1), INT64_MAX - 1);
	ck_assert_int_eq(change(HANDLE, 0, true, INT64_MIN, &old), 0);
	ck_assert_int_eq(change(HANDLE, 0, false, -1, &old), -EOVERFLOW);
	ck_assert_int_eq(add(HANDLE, 0, INT64_MAX), INT64_MIN);
	ck_assert_int_eq(add(HANDLE, 0, 1), -1);
}
END_TEST

/* Only the first call, and one above the ceiling, write to the disk. */
START_TEST(quick_ones_need_no_disk)
{
	struct counter_change c = { KEY, 0, false, 1 };
	int64_t old = -9;

	ck_assert_int_eq(counter_change(counters, &c, true, &old), -EAGAIN);
	ck_assert_int_eq(old, -9);
	ck_assert_int_eq(counter_change(counters, &c, false, &old), 0);
	ck_assert_int_eq(counter_change(counters, &c, true, &old), 0);
	ck_assert_int_eq(old, 1);
	c.value = COUNTER_CEILING_MIN * COUNTER_CEILING_STEPS;
	ck_assert_int_eq(counter_change(counters, &c, true, &old), -EAGAIN);
	c.set = true;
	ck_assert_int_eq(counter_change(counters, &c, true, &old), -EAGAIN);
	ck_assert_int_eq(add(HANDLE, 0, 0), 2);
}
END_TEST

static void *adder(void *arg)
{
	bool *seen = arg;

	for (unsigned int i = 0; i < EACH; i++) {
		int64_t old = add(HANDLE, 3, 1);

		ck_assert(old >= 0 && old < (int64_t)(THREADS * EACH));
		ck_assert(!__atomic_exchange_n(&seen[old], true,
					       __ATOMIC_RELAXED));
	}
	return NULL;
}

START_TEST(each_value_once)
{
	static bool seen[THREADS * EACH];
	pthread_t thread[THREADS];

	for (unsigned int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, adder, seen),
				 0);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	ck_assert_int_eq(add(HANDLE, 3, 0), THREADS * EACH);
}
END_TEST

/* Uses more files than are kept mapped. */
START_TEST(of_many_files)
{
	const uint64_t files = 3 * COUNTERS_MAPPED;

	for (int64_t round = 0; round < 3; round++)
		for (uint64_t h = 1; h <= files; h++)
			ck_assert_int_eq(add(h, h % WIRE_COUNTERS, (int64_t)h),
					 round * (int64_t)h);
}
END_TEST

START_TEST(goes_with_its_file)
{
	add(HANDLE, 0, 5);
	add(HANDLE + 1, 0, 6);
	counters_remove_file(counters, KEY);
	counters_remove_file(counters, object_key_own(HANDLE + 2));
	ck_assert_int_ne(access(page_path(HANDLE), F_OK), 0);
	ck_assert_int_eq(add(HANDLE, 0, 1), 0);
	ck_assert_int_eq(add(HANDLE + 1, 0, 1), 6);
}
END_TEST

/* ---- after the end of the process or host ---- */

/* The page has each state that it had when the process could have been killed. */
START_TEST(killed_at_any_time)
{
	struct counter_page page;

	for (int64_t i = 0; i < 3000; i++) {
		ck_assert_int_eq(add(HANDLE, 2, 1), i);
		page_io(HANDLE, &page, false);
		ck_assert_int_eq(page.slot[2].value, i + 1);
		ck_assert_int_ge(page.slot[2].ceiling, i + 1);
	}
}
END_TEST

/* The value on disk may be as old as the last flush; the ceiling is newer. */
START_TEST(loses_power_at_any_time)
{
	struct rnd rnd;
	int64_t next = 0, old, by;
	struct counter_page page;

	rnd_init(&rnd, 4711);
	for (unsigned int life = 1; life < 200; life++) {
		for (uint64_t i = rnd_in(&rnd, 1, 50); i; i--) {
			by = (int64_t)rnd_in(&rnd, 1, 100);
			old = add(HANDLE, 0, by);
			ck_assert_int_ge(old, next);
			next = old + by;
		}
		page_io(HANDLE, &page, false);
		counters_close(counters);
		page.boot = life;
		page.slot[0].value = (int64_t)rnd_in(&rnd, 0, 99);
		page_io(HANDLE, &page, true);
		open_as(false);
		old = add(HANDLE, 0, 0);
		ck_assert_int_ge(old, next);
		ck_assert_int_le(old, next + 100 * COUNTER_CEILING_STEPS);
	}
}
END_TEST

/* A clean stop leaves no gap, even if the host was restarted. */
START_TEST(stopped)
{
	struct counter_page page;

	add(HANDLE, 0, 123);
	add(HANDLE, 7, -5);
	counters_close(counters);
	page_io(HANDLE, &page, false);
	page.boot++;
	page_io(HANDLE, &page, true);
	open_as(false);
	ck_assert_int_eq(add(HANDLE, 0, 1), 123);
	ck_assert_int_eq(add(HANDLE, 7, 1), -5);
}
END_TEST

START_TEST(set_is_on_the_disk)
{
	struct counter_page page;
	int64_t old;

	add(HANDLE, 0, 100000);
	ck_assert_int_eq(change(HANDLE, 0, true, 40, &old), 0);
	page_io(HANDLE, &page, false);
	counters_close(counters);
	page.boot++;
	page_io(HANDLE, &page, true);
	open_as(false);
	ck_assert_int_eq(add(HANDLE, 0, 1), 40);
}
END_TEST

START_TEST(in_memory_needs_no_ceiling)
{
	const struct counter_change c = { KEY, 0, false, INT64_MAX };
	int64_t old = -1;

	counters_close(counters);
	open_as(true);
	add(HANDLE, 1, 1);
	ck_assert_int_eq(counter_change(counters, &c, true, &old), 0);
	ck_assert_int_eq(old, 0);
	counters_close(counters);
	open_as(true);
	ck_assert_int_eq(add(HANDLE, 0, 0), INT64_MAX);
}
END_TEST

/* The new value may already be the ceiling on disk. */
START_TEST(a_set_that_failed)
{
	const struct counter_change next = { KEY, 0, false, 1 };
	struct counter_page page;
	int64_t old = -1;

	add(HANDLE, 0, 100000);
	bad_disk = true;
	ck_assert_int_eq(change(HANDLE, 0, true, 40, &old), -EIO);
	page_io(HANDLE, &page, false);
	ck_assert_uint_eq(page.boot, COUNTER_UNSURE);
	ck_assert_int_eq(counter_change(counters, &next, true, &old), -EAGAIN);
	ck_assert_int_eq(counter_change(counters, &next, false, &old), -EIO);
	bad_disk = false;
	ck_assert_int_eq(counter_change(counters, &next, true, &old), -EAGAIN);
	ck_assert_int_eq(add(HANDLE, 0, 1), 100000);
	ck_assert_int_eq(counter_change(counters, &next, true, &old), 0);
	ck_assert_int_eq(old, 100001);
	page_io(HANDLE, &page, false);
	ck_assert_uint_ne(page.boot, COUNTER_UNSURE);
}
END_TEST

/* ---- lent to clients of a device ---- */

static struct tp_dev *dev, *other;

static void setup_devices(void)
{
	setup();
	ck_assert_int_eq(tp_dev_open("tcp", NULL, &dev), 0);
	ck_assert_int_eq(tp_dev_open("tcp", NULL, &other), 0);
}

static void teardown_devices(void)
{
	unsigned int mrs;
	size_t bytes;

	teardown();
	tp_dev_registered(dev, &mrs, &bytes);
	ck_assert_uint_eq(mrs, 0);
	tp_dev_close(dev);
	tp_dev_close(other);
}

static int lend(struct tp_dev *to, struct counter_loan *place)
{
	const struct counter_loan_request wish = {
		.key = KEY, .number = 1, .dev = to, .step = 1
	};

	return counter_lend_to_device(counters, &wish, place);
}

static int raise_to(int64_t upto, struct counter_loan *place)
{
	const struct counter_loan_request wish = { .key = KEY,
						   .number = 1,
						   .dev = dev,
						   .step = 1,
						   .raise = true,
						   .upto = upto };

	return counter_lend_to_device(counters, &wish, place);
}

/* Changes the value as a client's adapter does. */
static int64_t by_device(const struct counter_loan *place, int64_t by)
{
	return __atomic_fetch_add((int64_t *)(uintptr_t)place->addr, by,
				  __ATOMIC_SEQ_CST);
}

START_TEST(lent_and_taken_back)
{
	struct counter_loan place, again;

	add(HANDLE, 1, 10);
	add(HANDLE, 2, 3);
	ck_assert_int_eq(lend(dev, &place), 0);
	ck_assert_int_ge(place.ceiling, 10 + COUNTER_CEILING_MIN);
	ck_assert_int_eq(lend(dev, &again), 0);
	ck_assert_uint_eq(again.addr, place.addr);
	ck_assert_uint_eq(again.rkey, place.rkey);
	ck_assert_int_eq(lend(other, &again), -EAGAIN);
	ck_assert_int_eq(by_device(&place, 5), 10);
	ck_assert_int_eq(add(HANDLE, 1, 0), 15);
	ck_assert_int_eq(add(HANDLE, 2, 1), 3);
	ck_assert_int_eq(by_device(&place, 1), 15);
	ck_assert_int_eq(add(HANDLE, 1, 1), 16);
	ck_assert_int_eq(lend(dev, &again), -EAGAIN);
	ck_assert_int_eq(add(HANDLE, 1, 1), 17);
}
END_TEST

/*
 * A value that a client got counts as used, even if it is above the ceiling that the client knows.
 */
START_TEST(raised_for_what_is_beyond)
{
	struct counter_loan place;
	struct counter_page page;

	ck_assert_int_eq(lend(dev, &place), 0);
	ck_assert_int_eq(by_device(&place, 5000), 0);
	ck_assert_int_eq(raise_to(5000, &place), 0);
	ck_assert_int_ge(place.ceiling, 5000);
	ck_assert_uint_ne(place.addr, 0);
	page_io(HANDLE, &page, false);
	ck_assert_int_eq(page.slot[1].ceiling, place.ceiling);
	by_device(&place, 5000);
	ck_assert_int_eq(add(HANDLE, 1, 0), 10000);
	page_io(HANDLE, &page, false);
	ck_assert_int_ge(page.slot[1].ceiling, 10000);
	/* the place was taken back, and the counter set to a smaller value */
	by_device(&place, 5000);
	add(HANDLE, 1, 1);
	ck_assert_int_eq(raise_to(15000, &place), 0);
	ck_assert_uint_eq(place.addr, 0);
	ck_assert_int_ge(place.ceiling, 15000);
	ck_assert_int_eq(raise_to(INT64_MAX, &place), 0);
	ck_assert_int_lt(place.ceiling, 1 << 20);
}
END_TEST

/* The process or the host is killed, and only the page is left. */
START_TEST(lent_over_an_end)
{
	struct counter_loan place;
	struct counter_page page;

	counters_close(counters);
	open_as(_i);
	add(HANDLE, 1, 7);
	add(HANDLE, 2, 3);
	ck_assert_int_eq(lend(dev, &place), 0);
	ck_assert_int_eq(by_device(&place, 900), 7);
	page_io(HANDLE, &page, false);
	counters_close(counters);
	page_io(HANDLE, &page, true);
	open_as(_i);
	ck_assert_int_eq(add(HANDLE, 1, 1), place.ceiling);
	ck_assert_int_eq(add(HANDLE, 2, 1), 3);
}
END_TEST

START_TEST(lent_over_an_orderly_end)
{
	struct counter_loan place;

	counters_close(counters);
	open_as(_i);
	add(HANDLE, 1, 7);
	ck_assert_int_eq(lend(dev, &place), 0);
	by_device(&place, 5);
	counters_close(counters);
	open_as(_i);
	ck_assert_int_eq(add(HANDLE, 1, 1), 12);
}
END_TEST

START_TEST(not_lent_far_out)
{
	struct counter_loan place;
	int64_t old;

	ck_assert_int_eq(lend(dev, &place), 0);
	by_device(&place, INT64_C(1) << 61);
	ck_assert_int_eq(raise_to(INT64_C(1) << 61, &place), 0);
	ck_assert_uint_eq(place.addr, 0);
	ck_assert_int_ge(place.ceiling, INT64_C(1) << 61);
	ck_assert_int_eq(change(HANDLE, 1, false, INT64_MAX, &old), -EOVERFLOW);
}
END_TEST

START_TEST(lent_of_a_file_that_goes)
{
	struct counter_loan place;

	ck_assert_int_eq(lend(dev, &place), 0);
	by_device(&place, 5);
	counters_remove_file(counters, KEY);
	ck_assert_int_eq(add(HANDLE, 1, 1), 0);
}
END_TEST

/* ---- damaged pages ---- */

START_TEST(damaged_pages_are_refused)
{
	struct counter_page page;
	int64_t old = -1;

	add(HANDLE, 0, 5);
	counters_close(counters);
	page_io(HANDLE, &page, false);
	page.magic++;
	page_io(HANDLE, &page, true);
	open_as(false);
	ck_assert_int_eq(change(HANDLE, 0, false, 1, &old), -EUCLEAN);
	page.magic--;
	page_io(HANDLE, &page, true);
	ck_assert_int_eq(truncate(page_path(HANDLE), 100), 0);
	ck_assert_int_eq(change(HANDLE, 0, false, 1, &old), -EUCLEAN);
	ck_assert_int_eq(old, -1);
	counters_remove_file(counters, KEY);
	ck_assert_int_eq(add(HANDLE, 0, 1), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("counter");
	TCase *calls = tcase_create("calls"), *ends = tcase_create("ends");
	TCase *lent = tcase_create("lent");

	tcase_add_checked_fixture(calls, setup, teardown);
	tcase_add_test(calls, adds_and_sets);
	tcase_add_test(calls, two_objects_of_a_file);
	tcase_add_test(calls, does_not_wrap);
	tcase_add_test(calls, quick_ones_need_no_disk);
	tcase_add_test(calls, each_value_once);
	tcase_add_test(calls, of_many_files);
	tcase_add_test(calls, goes_with_its_file);
	tcase_add_test(calls, damaged_pages_are_refused);
	suite_add_tcase(suite, calls);
	tcase_add_checked_fixture(ends, setup, teardown);
	tcase_add_test(ends, killed_at_any_time);
	tcase_add_test(ends, loses_power_at_any_time);
	tcase_add_test(ends, stopped);
	tcase_add_test(ends, set_is_on_the_disk);
	tcase_add_test(ends, a_set_that_failed);
	tcase_add_test(ends, in_memory_needs_no_ceiling);
	suite_add_tcase(suite, ends);
	tcase_add_checked_fixture(lent, setup_devices, teardown_devices);
	tcase_add_test(lent, lent_and_taken_back);
	tcase_add_test(lent, raised_for_what_is_beyond);
	tcase_add_loop_test(lent, lent_over_an_end, 0, 2);
	tcase_add_loop_test(lent, lent_over_an_orderly_end, 0, 2);
	tcase_add_test(lent, not_lent_far_out);
	tcase_add_test(lent, lent_of_a_file_that_goes);
	suite_add_tcase(suite, lent);
	return run_suite(suite);
}
