/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_order.c - the behaviour of an iod while requests wait: fences, full buffers, a slow disk. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"
#include "tests/e2e/iod/stalled.h"

static char dir[64];
static struct iod *iod;
static struct addr addr;
static struct iodc client, mgr;

/* Interposed system calls of the iod. */
static atomic_bool slow_truncate, truncated;
static atomic_bool slow_write;
static atomic_uint flushes;
static sem_t entered, go;

int ftruncate(int fd, off_t len)
{
	int rc;

	if (!atomic_load(&slow_truncate))
		return (int)syscall(SYS_ftruncate, fd, len);
	sem_post(&entered);
	usleep(200000);
	rc = (int)syscall(SYS_ftruncate, fd, len);
	atomic_store(&truncated, true);
	return rc;
}

int fsync(int fd)
{
	atomic_fetch_add(&flushes, 1);
	return (int)syscall(SYS_fsync, fd);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t off)
{
	if (atomic_exchange(&slow_write, false)) {
		sem_post(&entered);
		sem_wait(&go);
	}
	return syscall(SYS_pwrite64, fd, buf, len, off);
}

static void setup(void)
{
	struct iod_conf conf;

	iodc_mkdir(dir);
	sem_init(&entered, 0, 0);
	sem_init(&go, 0, 0);
	iod_here_conf(&conf, dir);
	conf.threads = 1;
	conf.zones.n = 1;
	conf.zones.zone[0].size = 64 << 10;
	conf.zones.zone[0].count = 4;
	iod_here_start(&conf, NULL, &iod, &addr);
	iodc_open(&client, &addr, WIRE_ROLE_CLIENT, 0);
	iodc_open_mgr(&mgr, &addr);
}

static void teardown(void)
{
	iodc_close(&client);
	iodc_close(&mgr);
	iod_stop(iod);
	iodc_rmdir(dir);
	sem_destroy(&entered);
	sem_destroy(&go);
}

static void *resize(void *arg)
{
	iodc_resize(arg, 5, 1000);
	return NULL;
}

/* A manager's order is executed before a claim of a higher term returns. */
START_TEST(claim_waits_for_what_runs)
{
	struct iodc next;
	pthread_t thread;

	iodc_open(&next, &addr, WIRE_ROLE_MGR, 99);
	mgr.timeout_ms = 2000;
	atomic_store(&slow_truncate, true);
	atomic_store(&truncated, false);
	pthread_create(&thread, NULL, resize, &mgr);
	sem_wait(&entered);
	ck_assert_int_eq(iodc_claim(&next, 2), 0);
	ck_assert(atomic_load(&truncated));
	pthread_join(thread, NULL);
	atomic_store(&slow_truncate, false);
	iodc_close(&next);
}
END_TEST

START_TEST(nobody_fences_itself)
{
	ck_assert_int_eq(iodc_fence(&mgr, mgr.session), -EINVAL);
}
END_TEST

static void *write_little(void *arg)
{
	struct iodc *c = arg;

	memset(c->arena, 'a', 100);
	must(!iodc_pwrite(c, 6, 0, 100));
	return NULL;
}

/* The iod has one progress thread, which does not wait for the disk. */
START_TEST(slow_disk_stops_nobody_else)
{
	pthread_t thread;

	atomic_store(&slow_write, true);
	pthread_create(&thread, NULL, write_little, &client);
	sem_wait(&entered);
	ck_assert_int_eq(iodc_call(&mgr, WIRE_PING, NULL, 0, NULL, 0), 0);
	sem_post(&go);
	pthread_join(thread, NULL);
}
END_TEST

/*
 * A request that would wait longer than its client's deadline is never executed. The iod measures
 * from the arrival of the request, which is slightly later.
 */
START_TEST(waits_for_a_buffer_until_the_deadline)
{
	struct stalled *s = calloc(3, sizeof(*s));
	uint64_t size;
	int i;

	for (i = 0; i < 3; i++)
		stall(&s[i], &addr, 10 + (uint64_t)i, 20000);
	client.timeout_ms = 500;
	ck_assert_int_eq(iodc_pwrite(&client, 5, 0, 1 << 20), -ETIMEDOUT);
	client.timeout_ms = 10000;
	catch_up(&client);
	usleep(500 * 1000);
	catch_up(&client);
	for (i = 0; i < 3; i++)
		iodc_close(&s[i].c);
	for (i = 0; i < 20; i++)
		ck_assert_int_eq(iodc_pwrite(&client, 7, 0, 1 << 20), 0);
	ck_assert_int_eq(iodc_size(&client, 5, &size), 0);
	ck_assert_uint_eq(size, 0);
	free(s);
}
END_TEST

/*
 * A removal is flushed also with sync=off, and also if a crashed process had already removed the
 * object.
 */
START_TEST(removed_for_good)
{
	unsigned int before;

	ck_assert_int_eq(iodc_pwrite(&client, 5, 0, 100), 0);
	before = atomic_load(&flushes);
	ck_assert_int_eq(iodc_remove(&mgr, 5), 0);
	ck_assert_uint_eq(atomic_load(&flushes), before + 1);
	ck_assert_int_eq(iodc_remove(&mgr, 5), 0);
	ck_assert_uint_eq(atomic_load(&flushes), before + 2);
}
END_TEST

/* A write that arrives after the removal, although it was sent before, creates no object. */
START_TEST(late_write_makes_nothing)
{
	uint64_t size;

	ck_assert_int_eq(iodc_pwrite(&client, 5, 0, 100), 0);
	ck_assert_int_eq(iodc_remove(&mgr, 5), 0);
	/* this object does not exist here yet */
	ck_assert_int_eq(iodc_remove(&mgr, 6), 0);
	for (uint64_t h = 5; h <= 6; h++) {
		ck_assert_int_eq(iodc_pwrite(&client, h, 0, 100), -ENOENT);
		ck_assert_int_eq(iodc_pwrite(&client, h, 0, 1 << 20), -ENOENT);
		ck_assert_int_eq(iodc_resize(&mgr, h, 100), 0);
		ck_assert_int_eq(iodc_size(&client, h, &size), 0);
		ck_assert_uint_eq(size, 0);
	}
	ck_assert_int_eq(iodc_pwrite(&client, 7, 0, 100), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("iod_order");
	TCase *tc = tcase_create("order");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, claim_waits_for_what_runs);
	tcase_add_test(tc, nobody_fences_itself);
	tcase_add_test(tc, slow_disk_stops_nobody_else);
	tcase_add_test(tc, removed_for_good);
	tcase_add_test(tc, late_write_makes_nothing);
	tcase_add_test(tc, waits_for_a_buffer_until_the_deadline);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
