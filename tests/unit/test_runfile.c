/* SPDX-License-Identifier: BSD-2-Clause */
/* test_runfile.c - the files of a daemon: locked while it runs, and created only with a lock. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/fuse/daemon/runfile.h"
#include "tests/run_suite.h"

#define SIZE 100u

static int lock_error; /* errno with which flock() fails */
static char name[64];

int flock(int fd, int how)
{
	if (!lock_error)
		return (int)syscall(SYS_flock, fd, how);
	errno = lock_error;
	return -1;
}

static void setup(void)
{
	lock_error = 0;
	snprintf(name, sizeof(name), "pvfs-test-runfile-%d", getpid());
}

/* A running daemon keeps its file; a killed one leaves it, and the next daemon removes it. */
START_TEST(lock_shows_life)
{
	struct runfile r;

	ck_assert_int_eq(runfile_make(&r, name, SIZE, 0600), 0);
	runfile_visit_stale(name, SIZE, NULL, NULL);
	ck_assert_int_eq(access(r.path, F_OK), 0);
	munmap(r.page, SIZE);
	close(r.fd);
	runfile_visit_stale(name, SIZE, NULL, NULL);
	ck_assert_int_eq(access(r.path, F_OK), -1);
}
END_TEST

/* Without a lock the file would look like that of a killed daemon, whose session is ended. */
START_TEST(no_file_without_lock)
{
	struct runfile r;

	lock_error = ENOLCK;
	ck_assert_int_eq(runfile_make(&r, name, SIZE, 0600), -ENOLCK);
	ck_assert_int_eq(access(r.path, F_OK), -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runfile");
	TCase *tc = tcase_create("runfile");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, lock_shows_life);
	tcase_add_test(tc, no_file_without_lock);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
