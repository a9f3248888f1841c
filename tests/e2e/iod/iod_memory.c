/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_memory.c - a store in memory. Overwrites are received directly into a mapping of the object,
 * with the same results as through buffers.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/e2e/iod/memory_rig.h"

#define DAY_NS (86400ull * 1000000000)
#define STALL_LEN 16384u
#define STALL_MS 500u

/* Sizes to which the object is truncated while the iod uses it. */
static _Atomic long cut_mapped = -1; /* during madvise() of its mapping */
static _Atomic long cut_landed = -1; /* when its mtime is set */

static void cut(_Atomic long *size)
{
	long n = atomic_exchange(size, -1);

	if (n >= 0)
		must(!truncate(object, n));
}

int madvise(void *p, size_t len, int advice)
{
	int rc = (int)syscall(SYS_madvise, p, len, advice);

	cut(&cut_mapped);
	return rc;
}

int futimens(int fd, const struct timespec times[2])
{
	cut(&cut_landed);
	return (int)syscall(SYS_utimensat, fd, NULL, times, 0);
}

/* The client's thread stops before it sends STALL_LEN bytes or more. */
static _Thread_local bool stalls;
static sem_t stalled, go_on;

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	size_t len = 0;

	for (size_t i = 0; stalls && i < msg->msg_iovlen; i++)
		len += msg->msg_iov[i].iov_len;
	if (len >= STALL_LEN) {
		stalls = false;
		sem_post(&stalled);
		while (sem_wait(&go_on))
			;
	}
	return syscall(SYS_sendmsg, fd, msg, flags);
}

static uint64_t size_now(void)
{
	uint64_t size;

	ck_assert_int_eq(iodc_size(&client, 1, &size), 0);
	return size;
}

START_TEST(overwritten_in_place)
{
	uint64_t done;

	make(LEN, 1);
	put(0, LEN, 2);
	ck_assert_int_eq(mapped(), 2);
	holds(0, LEN, 2);
	put(1000, 3000001, 3);
	holds(1000, 3000001, 3);
	holds(0, 1000, 2);
	ck_assert_int_eq(iodc_pread(&client, 1, 1000, 3000001, &done), 0);
	ck_assert_uint_eq(done, 3000001);
	ck_assert_uint_eq(size_now(), LEN);
	/* not only in windows: beyond the end of the object */
	put(LEN - 300000, 600000, 4);
	holds(LEN - 300000, 600000, 4);
	ck_assert_uint_eq(size_now(), LEN + 300000);
}
END_TEST

START_TEST(little_is_copied)
{
	make(LEN, 1);
	put(4096, 100000, 2);
	put(200000, 100000, 3);
	ck_assert_int_eq(mapped(), 0);
	put(4096, 100000, 4); /* for the second time */
	ck_assert_int_eq(mapped(), 1);
	holds(4096, 100000, 4);
	holds(200000, 100000, 3);
}
END_TEST

START_TEST(holes_take_units)
{
	make(1 << 20, 1);
	ck_assert_int_eq(iodc_resize(&mgr, 1, LEN), 0);
	put(1 << 20, 2 << 20, 2);
	ck_assert_int_eq(mapped(), 0);
	/* the object is sparse elsewhere, but not in this range */
	put(0, 3 << 20, 3);
	ck_assert_int_eq(mapped(), 1);
	holds(0, 3 << 20, 3);
}
END_TEST

START_TEST(time_is_set)
{
	const struct wire_objsize *obj = (void *)client.tail;
	struct timespec old[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	struct timespec now;

	make(LEN, 1);
	ck_assert_int_eq(utimensat(AT_FDCWD, object, old, 0), 0);
	put(0, LEN, 2);
	ck_assert_int_eq(mapped(), 2);
	size_now();
	clock_gettime(CLOCK_REALTIME, &now);
	ck_assert_uint_gt(le64toh(obj->mtime) + DAY_NS,
			  (uint64_t)now.tv_sec * 1000000000);
	/* again, when the pages are already dirty */
	ck_assert_int_eq(utimensat(AT_FDCWD, object, old, 0), 0);
	put(0, LEN, 3);
	size_now();
	ck_assert_uint_gt(le64toh(obj->mtime) + DAY_NS,
			  (uint64_t)now.tv_sec * 1000000000);
}
END_TEST

/* A truncation removes the pages before the data arrives.  The write takes effect after it. */
START_TEST(truncated_before)
{
	make(LEN, 1);
	atomic_store(&cut_mapped, 5000);
	put(0, LEN, 2);
	ck_assert_int_eq(atomic_load(&cut_mapped), -1);
	ck_assert_uint_eq(size_now(), LEN);
	holds(0, LEN, 2);
}
END_TEST

/* A truncation after the data arrived would lose the end of it. */
START_TEST(truncated_after)
{
	make(299500, 1);
	atomic_store(&cut_landed, 299100); /* in the last page */
	put(0, 299500, 2);
	ck_assert_int_eq(atomic_load(&cut_landed), -1);
	ck_assert_uint_eq(size_now(), 299500);
	holds(0, 299500, 2);
}
END_TEST

static void *write_and_stall(void *arg)
{
	int *rc = arg;

	stalls = true;
	*rc = iodc_pwrite(&client, 1, 0, LEN);
	return NULL;
}

/* Data that would be received directly into the object cannot arrive after its deadline. */
START_TEST(late_data_is_cut_off)
{
	uint64_t size = 0;
	pthread_t thread;
	int rc = 0, asked;

	make(LEN, 1);
	put(0, LEN, 1); /* afterwards the object has mapped windows */
	sem_init(&stalled, 0, 0);
	sem_init(&go_on, 0, 0);
	fill(LEN, 2);
	client.timeout_ms = STALL_MS;
	pthread_create(&thread, NULL, write_and_stall, &rc);
	while (sem_wait(&stalled))
		;
	usleep(STALL_MS * 1000);
	asked = iodc_size(&mgr, 1, &size);
	sem_post(&go_on);
	pthread_join(thread, NULL);
	ck_assert_int_eq(asked, 0);
	ck_assert_uint_eq(size, LEN);
	ck_assert_int_eq(rc, -ETIMEDOUT);
	holds(0, LEN, 1);
}
END_TEST

START_TEST(removed_under_it)
{
	make(LEN, 1);
	put(0, LEN, 2);
	ck_assert_int_eq(iodc_remove(&mgr, 1), 0);
	ck_assert_int_eq(iodc_pwrite(&client, 1, 0, LEN), -ENOENT);
	while (mapped()) /* the iod unmaps them later */
		usleep(10000);
}
END_TEST

static void *truncate_often(void *arg)
{
	atomic_bool *stop = arg;

	while (!atomic_load(stop)) {
		must(!iodc_resize(&mgr, 1, 4096));
		must(!iodc_resize(&mgr, 1, 0));
		usleep(3000);
	}
	return NULL;
}

START_TEST(truncated_often)
{
	atomic_bool stop = false;
	pthread_t thread;
	unsigned int i;
	int rc = 0;

	make(4 << 20, 1);
	pthread_create(&thread, NULL, truncate_often, &stop);
	for (i = 0; i < 300 && !rc; i++) {
		fill(4 << 20, i);
		rc = iodc_pwrite(&client, 1, 0, 4 << 20);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	ck_assert_msg(rc == 0, "write %u: error %d", i, rc);
	put(0, 4 << 20, 1);
	put(0, 4 << 20, 2);
	holds(0, 4 << 20, 2);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("iod_memory");
	TCase *tc = tcase_create("in memory");

	tcase_add_checked_fixture(tc, memory_setup, memory_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, overwritten_in_place);
	tcase_add_test(tc, little_is_copied);
	tcase_add_test(tc, holes_take_units);
	tcase_add_test(tc, time_is_set);
	tcase_add_test(tc, truncated_before);
	tcase_add_test(tc, truncated_after);
	tcase_add_test(tc, late_data_is_cut_off);
	tcase_add_test(tc, removed_under_it);
	tcase_add_test(tc, truncated_often);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return memory_main(suite());
}
