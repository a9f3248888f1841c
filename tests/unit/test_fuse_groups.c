/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fuse_groups.c - the groups of a requester are those that it has, however many. */
#include <check.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/fuse/requester_groups.h"
#include "tests/run_suite.h"

#define GROUPS_MOST 65536u

/* In a child with the groups; returns its exit status. */
static int compare(const gid_t *gid, size_t n)
{
	struct requester_groups groups;
	int rc = setgroups(n, gid) ? 2 : 0;

	if (!rc)
		rc = requester_groups_read(getpid(), &groups) ? 3 : 0;
	if (!rc && (groups.n != n || memcmp(groups.gid, gid, n * sizeof(*gid))))
		rc = 4;
	if (!rc)
		requester_groups_free(&groups);
	return rc;
}

/* Groups of step, 2 step, ...: the length of a group in the text differs. */
static void check_groups(size_t n, gid_t step)
{
	gid_t *gid = calloc(n + 1, sizeof(*gid));
	int status = -1;
	pid_t pid;

	ck_assert_ptr_nonnull(gid);
	for (size_t i = 0; i < n; i++)
		gid[i] = (gid_t)(i + 1) * step;
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		_exit(compare(gid, n));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(!status, "%zu groups, step %u: %d", n, step,
		      WEXITSTATUS(status));
	free(gid);
}

START_TEST(any_number)
{
	static const gid_t steps[] = { 1, 7, 65001 };
	static const size_t numbers[] = { 0,
					  1,
					  2,
					  63,
					  64,
					  65,
					  66,
					  128,
					  129,
					  500,
					  1000,
					  5000,
					  GROUPS_MOST - 1,
					  GROUPS_MOST };

	if (geteuid()) {
		fprintf(stderr, "any_number: skipped: needs root\n");
		return;
	}
	for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++)
		for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]);
		     n++)
			check_groups(numbers[n], steps[s]);
}
END_TEST

START_TEST(own_groups)
{
	struct requester_groups groups;
	gid_t *gid;
	int n = getgroups(0, NULL);

	gid = calloc((size_t)n + 1, sizeof(*gid));
	ck_assert_ptr_nonnull(gid);
	ck_assert_int_eq(getgroups(n, gid), n);
	ck_assert_int_eq(requester_groups_read(getpid(), &groups), 0);
	ck_assert_uint_eq(groups.n, (uint32_t)n);
	ck_assert_int_eq(memcmp(groups.gid, gid, (size_t)n * sizeof(*gid)), 0);
	requester_groups_free(&groups);
	free(gid);
}
END_TEST

START_TEST(nobody)
{
	struct requester_groups groups;
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(requester_groups_read(0, &groups), -ENOENT);
	ck_assert_int_eq(requester_groups_read(pid, &groups), -ENOENT);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fuse_groups");
	TCase *tc = tcase_create("groups");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, any_number);
	tcase_add_test(tc, own_groups);
	tcase_add_test(tc, nobody);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
