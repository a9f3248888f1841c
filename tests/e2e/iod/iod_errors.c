/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_errors.c - a failing disk. Each session that wrote gets the error once. It does not matter
 * whose flush met it, and whether the file stayed open.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"

#define BAD 0x1005u /* the object whose disk fails */
#define SHARDS 16u /* parts of the cache of open files */
#define MANY 60u /* more files than the cache keeps open in one part */

static char dir[64];
static struct iod *iod;
static struct iodc a, b, other;

/* Interposed system calls of the iod: the next one on the object BAD fails. */
static atomic_int flush_error, write_out_error;
static sem_t written_out;

static bool is_bad(int fd)
{
	char path[64], name[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, name, sizeof(name) - 1);
	if (n < 16)
		return false;
	name[n] = '\0';
	return strtoull(name + n - 16, NULL, 16) == BAD;
}

static int failed(atomic_int *error, int fd)
{
	int status = is_bad(fd) ? atomic_exchange(error, 0) : 0;

	if (status)
		errno = status;
	return status;
}

int fdatasync(int fd)
{
	if (failed(&flush_error, fd))
		return -1;
	return (int)syscall(SYS_fdatasync, fd);
}

int sync_file_range(int fd, off_t off, off_t len, unsigned int flags)
{
	bool bad = is_bad(fd), fails = failed(&write_out_error, fd);

	if (bad)
		sem_post(&written_out);
	if (fails)
		return -1;
	return (int)syscall(SYS_sync_file_range, fd, off, len, flags);
}

static void setup(void)
{
	struct iod_conf conf;
	struct addr addr;

	iodc_mkdir(dir);
	sem_init(&written_out, 0, 0);
	iod_here_conf(&conf, dir);
	conf.new_store = true;
	conf.threads = 2;
	conf.max_open = 16;
	iod_here_start(&conf, NULL, &iod, &addr);
	iodc_serve(&addr);
	iodc_open(&a, &addr, WIRE_ROLE_CLIENT, 0);
	iodc_open(&b, &addr, WIRE_ROLE_CLIENT, 0);
	iodc_open(&other, &addr, WIRE_ROLE_CLIENT, 0);
	ck_assert_int_eq(iodc_pwrite(&a, BAD, 0, 100), 0);
	ck_assert_int_eq(iodc_pwrite(&b, BAD, 200, 100), 0);
}

static void teardown(void)
{
	iodc_close(&a);
	iodc_close(&b);
	iodc_close(&other);
	iod_stop(iod);
	iodc_rmdir(dir);
	sem_destroy(&written_out);
}

static void push_out(void)
{
	for (unsigned int i = 1; i <= MANY; i++)
		ck_assert_int_eq(iodc_pwrite(&other, BAD + i * SHARDS, 0, 10),
				 0);
}

static void nothing_more(void)
{
	ck_assert_int_eq(iodc_sync(&a, BAD), 0);
	ck_assert_int_eq(iodc_sync(&b, BAD), 0);
	ck_assert_int_eq(iodc_sync(&other, BAD), 0);
}

START_TEST(each_writer_hears_once)
{
	atomic_store(&flush_error, EIO);
	ck_assert_int_eq(iodc_sync(&a, BAD), -EIO);
	/* written after the error */
	ck_assert_int_eq(iodc_pwrite(&other, BAD, 0, 100), 0);
	ck_assert_int_eq(iodc_sync(&other, BAD), 0);
	ck_assert_int_eq(iodc_sync(&b, BAD), -EIO);
	nothing_more();
	ck_assert_int_eq(iodc_pwrite(&b, BAD, 0, 100), 0);
	nothing_more();
}
END_TEST

/* A client gets the error that its own flush met, even if it has not written. */
START_TEST(met_by_another)
{
	atomic_store(&flush_error, ENOSPC);
	ck_assert_int_eq(iodc_sync(&other, BAD), -ENOSPC);
	ck_assert_int_eq(iodc_sync(&a, BAD), -ENOSPC);
	ck_assert_int_eq(iodc_sync(&b, BAD), -ENOSPC);
	nothing_more();
}
END_TEST

START_TEST(kept_over_the_cache)
{
	atomic_store(&flush_error, EIO);
	ck_assert_int_eq(iodc_sync(&a, BAD), -EIO);
	push_out();
	ck_assert_int_eq(iodc_sync(&b, BAD), -EIO);
	nothing_more();
}
END_TEST

/*
 * The cache asks the kernel for an error before it closes the file, because the kernel may forget
 * it.
 */
START_TEST(met_by_the_cache)
{
	atomic_store(&write_out_error, EIO);
	push_out();
	while (sem_wait(&written_out))
		;
	ck_assert_int_eq(iodc_sync(&a, BAD), -EIO);
	ck_assert_int_eq(iodc_sync(&b, BAD), -EIO);
	nothing_more();
}
END_TEST

/* A write with WIRE_IO_SYNC gets the error as an fsync does. */
START_TEST(durable_write_hears)
{
	struct wire_region reg = { 0, htole64(100) };
	struct iodc_io io = { .handle = BAD,
			      .reg = &reg,
			      .nreg = 1,
			      .total = 100,
			      .flags = WIRE_IO_SYNC };

	atomic_store(&flush_error, EIO);
	ck_assert_int_eq(iodc_sync(&a, BAD), -EIO);
	ck_assert_int_eq(iodc_write(&b, &io), -EIO);
	ck_assert_int_eq(iodc_write(&b, &io), 0);
	nothing_more();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("iod_errors");
	TCase *tc = tcase_create("errors");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, each_writer_hears_once);
	tcase_add_test(tc, met_by_another);
	tcase_add_test(tc, kept_over_the_cache);
	tcase_add_test(tc, met_by_the_cache);
	tcase_add_test(tc, durable_write_hears);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
