/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_fuse_groups.c - the groups of a requesting process are read completely, however many it has.
 */
#include <check.h>
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/fuse/requester_groups.h"
#include "client/lib/session/coroutine.h"
#include "common/util/container.h"
#include "common/util/watched_descriptor.h"
#include "tests/run_suite.h"

#define GROUPS_MOST 65536u

/* Compares in a child with these groups.  Returns its exit status. */
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

/* Checks the groups step, 2 step, ...: their text has different lengths. */
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

/* ---- a long list is read by another thread than the serving one ---- */

#define USER 1234u

struct get {
	struct coroutine coroutine;
	struct requester_users users;
	pid_t thread;
	int rc;
	uint32_t n;
	pthread_t ended_in;
	sem_t over;
};

static void get_groups(void *arg)
{
	struct requester_groups groups;
	struct get *get = arg;

	get->rc = requester_groups_get(&get->users, USER, get->thread, &groups);
	if (get->rc)
		return;
	get->n = groups.n;
	requester_groups_free(&groups);
}

static bool get_ended(struct coroutine *coroutine)
{
	struct get *get = container_of(coroutine, struct get, coroutine);

	get->ended_in = pthread_self();
	sem_post(&get->over);
	return false;
}

/* Returns true if the coroutine ended in this thread. */
static bool get_here(struct get *get, pid_t thread, uint32_t n)
{
	get->thread = thread;
	coroutine_begin(&get->coroutine, get_groups, get, 0);
	coroutine_resume(&get->coroutine, NULL, NULL);
	while (sem_wait(&get->over))
		;
	ck_assert_int_eq(get->rc, 0);
	ck_assert_uint_eq(get->n, n);
	return pthread_equal(get->ended_in, pthread_self());
}

/* Starts a process with these groups, which waits for the end of this one. */
static pid_t process_in_groups(size_t n)
{
	gid_t *gid = calloc(n + 1, sizeof(*gid));
	int ready[2];
	char byte = 0;
	pid_t pid;

	ck_assert_ptr_nonnull(gid);
	for (size_t i = 0; i < n; i++)
		gid[i] = (gid_t)i + 1;
	ck_assert(!pipe(ready));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!setgroups(n, gid) && write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	free(gid);
	return pid;
}

static void process_end(pid_t pid)
{
	ck_assert(!kill(pid, SIGKILL));
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(long_list)
{
	struct get get = { 0 };
	pid_t many, few;

	if (geteuid()) {
		fprintf(stderr, "long_list: skipped: needs root\n");
		return;
	}
	many = process_in_groups(GROUPS_MOST);
	few = process_in_groups(10);
	sem_init(&get.over, 0, 0);
	ck_assert_int_eq(coroutine_init(&get.coroutine), 0);
	get.coroutine.ended = get_ended;
	ck_assert(get_here(&get, few, 10));
	ck_assert(get_here(&get, few, 10));
	/* the groups are not known yet */
	ck_assert(get_here(&get, many, GROUPS_MOST));
	ck_assert(!get_here(&get, many, GROUPS_MOST));
	ck_assert(!get_here(&get, many, GROUPS_MOST));
	ck_assert(!get_here(&get, few, 10));
	ck_assert(get_here(&get, few, 10));
	coroutine_fini(&get.coroutine);
	sem_destroy(&get.over);
	process_end(many);
	process_end(few);
}
END_TEST

/* Without a coroutine, another thread serves the descriptor meanwhile. */
static unsigned int handed_over;

static void hand_over(struct watched_descriptor *watched)
{
	handed_over++;
}

START_TEST(long_list_in_thread)
{
	struct watched_descriptor watched = { .fd = -1,
					      .hand_over = hand_over };
	struct get get = { 0 };

	if (geteuid()) {
		fprintf(stderr, "long_list_in_thread: skipped: needs root\n");
		return;
	}
	get.thread = process_in_groups(GROUPS_MOST);
	for (unsigned int i = 0; i < 2; i++) {
		watched_descriptor_set(&watched);
		get_groups(&get);
		watched_descriptor_set(NULL);
		ck_assert_int_eq(get.rc, 0);
		ck_assert_uint_eq(handed_over, i);
	}
	process_end(get.thread);
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
	tcase_add_test(tc, long_list);
	tcase_add_test(tc, long_list_in_thread);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
