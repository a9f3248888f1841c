/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tool.c - functions that the tools share, while servers are added and removed. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include <pvfs.h>
#include "tests/run_suite.h"
#include "client/tools/common/tool.h"

static int answer[2]; /* results of the two calls; -1: ETIMEDOUT */
static unsigned int calls;

/* Replaces the library's function. */
int pvfs_tool_servers(const char *path, struct pvfs_server *list, int max)
{
	int n = answer[calls++];

	for (int i = 0; i < max && i < n; i++)
		list[i] = (struct pvfs_server){ .index = 1 + i };
	if (n < 0)
		errno = ETIMEDOUT;
	return n;
}

/* The second call finds more servers, fewer, or gets no reply. */
START_TEST(servers)
{
	static const struct {
		int answer[2], n;
	} cases[] = {
		{ { 3, 3 }, 3 },   { { 3, 5 }, 3 },   { { 3, 2 }, 2 },
		{ { 3, -1 }, -1 }, { { -1, 3 }, -1 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pvfs_server *list = NULL;
		int n;

		answer[0] = cases[i].answer[0];
		answer[1] = cases[i].answer[1];
		calls = 0;
		errno = 0;
		n = tool_servers("/pvfs", &list);
		ck_assert_int_eq(n, cases[i].n);
		ck_assert_int_eq(errno, n < 0 ? ETIMEDOUT : 0);
		if (n < 0)
			ck_assert_ptr_null(list);
		else
			ck_assert_int_eq(list[n - 1].index, n);
		free(list);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tool");
	TCase *tc = tcase_create("tool");

	tcase_add_test(tc, servers);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
