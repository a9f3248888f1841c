/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_descriptors.c - the limit of open files is raised as far as permitted, and the free
 * descriptors are counted.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/util/process_limits.h"
#include "tests/run_suite.h"

static struct rlimit limit(void)
{
	struct rlimit lim;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &lim), 0);
	return lim;
}

START_TEST(raised)
{
	struct rlimit lim = { .rlim_cur = 64, .rlim_max = 512 };

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &lim), 0);
	ck_assert_uint_eq(descriptors_raise(), 512);
	ck_assert_uint_eq(limit().rlim_cur, 512);
	ck_assert_uint_eq(descriptors_raise(), 512);
	ck_assert_uint_eq(limit().rlim_max, 512);
}
END_TEST

/* Returns the last descriptor for which the kernel's table has room. */
static unsigned int table_size(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned int size = 0;
	char line[256];

	ck_assert_ptr_nonnull(f);
	while (!size && fgets(line, sizeof(line), f))
		sscanf(line, "FDSize: %u", &size);
	fclose(f);
	ck_assert_uint_gt(size, 0);
	return size;
}

/* An eighth of 512 must stay free.  Counting uses no memory. */
START_TEST(counted)
{
	struct rlimit lim = { .rlim_cur = 512, .rlim_max = 512 };
	unsigned int size = table_size(), n;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), last = fd;

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &lim), 0);
	ck_assert(!descriptors_short(fd, 1000, 0));
	ck_assert_uint_eq(table_size(), size);
	for (n = 0; !descriptors_short(fd, 1000, 0); n++) {
		ck_assert_uint_lt(n, 512);
		last = dup(fd);
	}
	ck_assert_int_ge(last, 512 - 512 / 8 - 4);
	ck_assert_int_le(last, 512 - 512 / 8 + 4);
	close(last);
	close(last - 1);
	close(last - 2);
	ck_assert(!descriptors_short(fd, 1000, 0));
	/* 1000 are reserved for others */
	ck_assert(descriptors_short(fd, 1000, 8));
}
END_TEST

/* The reserve is used up when half of these 64 are in use. */
START_TEST(reserved)
{
	struct rlimit lim = { .rlim_cur = 512, .rlim_max = 512 };
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), last = fd;

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &lim), 0);
	ck_assert_uint_eq(descriptors_reserve(1000), 32);
	ck_assert_uint_eq(descriptors_reserve(20), 10);
	while (!descriptors_short(fd, 1000, 0))
		last = dup(fd);
	ck_assert(!descriptors_reserve_gone(fd, 1000));
	while (!descriptors_reserve_gone(fd, 1000))
		ck_assert_int_ge(last = dup(fd), 0);
	ck_assert_int_ge(last, 512 - 32 - 4);
	ck_assert_int_le(last, 512 - 32 + 4);
	ck_assert(!descriptors_reserve_gone(fd, 20)); /* 10 of these are left */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("descriptors");
	TCase *tc = tcase_create("descriptors");

	tcase_add_test(tc, counted);
	tcase_add_test(tc, reserved);
	tcase_add_test(tc, raised);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
