/* SPDX-License-Identifier: BSD-2-Clause */
/* test_job_memory.c - where a node of a job stores its data if the kernel gives it no memory. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/job/node/node.h"
#include "client/tools/job/parts/memory.h"
#include "tests/run_suite.h"

const struct tool job_tool = { .name = "test" };

static struct node node;
static int made[2]; /* descriptors that memory_make() returned */
static unsigned int calls, allowed;

/* ---- replaces memory.c ---- */

int memory_make(uint64_t size)
{
	int fd;

	(void)size;
	if (calls >= allowed) {
		calls++;
		return -EPERM;
	}
	fd = open("/", O_PATH | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	made[calls++] = fd;
	return fd;
}

uint64_t memory_half(void)
{
	return 1u << 20;
}

int memory_space(void)
{
	return -EPERM;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void make(unsigned int rank, unsigned int n)
{
	node = (struct node){ .rank = rank,
			      .memory = { -1, -1 },
			      .place = { .job = { .id = "j" } } };
	calls = 0;
	allowed = n;
	node_make_memory(&node);
}

START_TEST(all)
{
	make(0, 2);
	ck_assert_uint_eq(calls, 2);
	ck_assert_int_eq(node.memory[NODE_IOD], made[0]);
	ck_assert_int_eq(node.memory[NODE_MGR], made[1]);
	ck_assert_str_eq(node.place.storage, "");
	node_close_memory(&node);
	ck_assert(!is_open(made[0]) && !is_open(made[1]));
	make(1, 1);
	ck_assert_uint_eq(calls, 1);
	ck_assert_str_eq(node.place.storage, "");
	node_close_memory(&node);
}
END_TEST

/* Neither daemon uses memory, so none is left over, and the head gets the right values. */
START_TEST(not_for_the_manager)
{
	make(0, 1);
	ck_assert_uint_eq(calls, 2);
	ck_assert_int_eq(node.memory[NODE_IOD], -1);
	ck_assert_int_eq(node.memory[NODE_MGR], -1);
	ck_assert(!is_open(made[0]));
	ck_assert_ptr_nonnull(strstr(node.place.storage, ".j.node.0"));
}
END_TEST

START_TEST(none)
{
	make(3, 0);
	ck_assert_uint_eq(calls, 1);
	ck_assert_int_eq(node.memory[NODE_IOD], -1);
	ck_assert_ptr_nonnull(strstr(node.place.storage, ".j.node.3"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("job_memory");
	TCase *tc = tcase_create("job_memory");

	tcase_add_test(tc, all);
	tcase_add_test(tc, not_for_the_manager);
	tcase_add_test(tc, none);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
