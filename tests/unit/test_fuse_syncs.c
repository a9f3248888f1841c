/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fuse_syncs.c - an error that one fsync has met is also reported to other open files. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "client/fuse/fsync_errors.h"
#include "common/util/clock.h"
#include "tests/run_suite.h"

static struct fsync_errors *syncs;
static struct fs fs;
static struct file *a, *b, *other;

static struct file *opened(uint64_t handle)
{
	struct file *f = file_new(&fs, O_RDWR);

	ck_assert_ptr_nonnull(f);
	f->handle = handle;
	LIST_INSERT_HEAD(file_same(&fs, handle), f, same);
	return f;
}

static void closed(struct file *f)
{
	LIST_REMOVE(f, same);
	pthread_mutex_destroy(&f->lock);
	pthread_mutex_destroy(&f->pos_lock);
	pthread_cond_destroy(&f->moved);
	free(f);
}

/*
 * a and b are open files of one object; `other` is in the list, too, but belongs to another object.
 */
static void make(void)
{
	syncs = fsync_errors_new();
	ck_assert_ptr_nonnull(syncs);
	pthread_mutex_init(&fs.files_lock, NULL);
	a = opened(7);
	b = opened(7);
	other = opened(7 + FS_SAME);
}

static void drop(void)
{
	closed(a);
	closed(b);
	closed(other);
	pthread_mutex_destroy(&fs.files_lock);
	fsync_errors_free(syncs);
}

/* Calls fsync on f, whose flush ends with rc.  Returns the result for the program. */
static int sync_it(struct file *f, int rc)
{
	struct fsync x;

	fsync_errors_begin(syncs, &x, f);
	return fsync_errors_end(syncs, &x, rc, clock_after_ms(60000));
}

static const struct {
	int rc;
	bool lost;
} cases[] = {
	{ 0, false },	   { -EIO, true },	  { -ENOSPC, true },
	{ -EDQUOT, true }, { -ETIMEDOUT, false }, { -ESTALE, false },
};

START_TEST(told_once_to_each)
{
	int rc = cases[_i].rc, later = cases[_i].lost ? rc : 0;

	ck_assert_int_eq(sync_it(a, rc), rc);
	ck_assert_int_eq(sync_it(other, 0), 0);
	ck_assert_int_eq(sync_it(a, 0), 0);
	ck_assert_int_eq(sync_it(b, 0), later);
	ck_assert_int_eq(sync_it(b, 0), 0);
}
END_TEST

/* An fsync returns its own error first; the error of another one stays to be reported. */
START_TEST(its_own_comes_first)
{
	sync_it(a, -EIO);
	ck_assert_int_eq(sync_it(b, -ETIMEDOUT), -ETIMEDOUT);
	ck_assert_int_eq(sync_it(b, 0), -EIO);
	sync_it(a, -EIO);
	ck_assert_int_eq(sync_it(b, -ENOSPC), -ENOSPC);
	ck_assert_int_eq(sync_it(b, 0), 0);
	ck_assert_int_eq(sync_it(a, 0), -ENOSPC);
}
END_TEST

/* An fsync that succeeds waits for one in flight, because that one may meet an error. */
START_TEST(others_are_waited_for)
{
	struct fsync x, y, z;

	fsync_errors_begin(syncs, &x, a);
	fsync_errors_begin(syncs, &y, b);
	fsync_errors_begin(syncs, &z, other);
	ck_assert_int_eq(fsync_errors_end(syncs, &z, 0, clock_after_ms(60000)),
			 0);
	ck_assert_int_eq(fsync_errors_end(syncs, &y, 0, clock_after_ms(1)),
			 -ETIMEDOUT);
	ck_assert_int_eq(
		fsync_errors_end(syncs, &x, -EIO, clock_after_ms(60000)), -EIO);
	ck_assert_int_eq(sync_it(b, 0), -EIO);
}
END_TEST

static void *end_well(void *arg)
{
	int rc = fsync_errors_end(syncs, arg, 0, clock_after_ms(60000));

	return (void *)(intptr_t)rc;
}

START_TEST(and_heard_of)
{
	struct fsync x, y;
	pthread_t waiter;
	void *rc;

	fsync_errors_begin(syncs, &x, a);
	fsync_errors_begin(syncs, &y, b);
	ck_assert_int_eq(pthread_create(&waiter, NULL, end_well, &y), 0);
	ck_assert_int_eq(
		fsync_errors_end(syncs, &x, -EIO, clock_after_ms(60000)), -EIO);
	pthread_join(waiter, &rc);
	ck_assert_int_eq((intptr_t)rc, -EIO);
}
END_TEST

/* A program that bypasses the mount reports the error that it got, through a. */
START_TEST(told_by_a_program)
{
	bool lost = cases[_i].lost;

	ck_assert_int_eq(fsync_errors_report(syncs, a, cases[_i].rc), lost);
	ck_assert_int_eq(sync_it(a, 0), 0);
	ck_assert_int_eq(sync_it(other, 0), 0);
	ck_assert_int_eq(sync_it(b, 0), lost ? cases[_i].rc : 0);
	ck_assert_int_eq(sync_it(b, 0), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fuse_syncs");
	TCase *tc = tcase_create("syncs");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_loop_test(tc, told_once_to_each, 0,
			    sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tc, told_by_a_program, 0,
			    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, its_own_comes_first);
	tcase_add_test(tc, others_are_waited_for);
	tcase_add_test(tc, and_heard_of);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
