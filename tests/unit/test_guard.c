/* SPDX-License-Identifier: BSD-2-Clause */
/* test_guard.c - a server that stays stopped is killed, whatever its threads wait for. */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/fuse/daemon/guard.h"
#include "tests/run_suite.h"

#define PATIENCE_MS 200u
#define LIMIT_S 20u /* time limit of a guard that fails to notice */

static int releases;

/* The thread waits in the kernel, where no stop takes effect, until its child ends. */
static void *wait_in_kernel(void *arg)
{
	if (!vfork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return arg;
}

/* Returns true if a thread of this process is in an uninterruptible wait. */
static bool has_waiting_thread(void)
{
	return !system(
		"grep -q '^State:.*D (disk sleep)' /proc/$PPID/task/*/status");
}

static int stop_with_a_waiting_thread(void *arg, int ready)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_in_kernel, NULL))
		return EXIT_FAILURE;
	while (!has_waiting_thread())
		usleep(1000);
	kill(getpid(), SIGSTOP);
	return EXIT_FAILURE;
}

static int stop(void *arg, int ready)
{
	kill(getpid(), SIGSTOP);
	return EXIT_FAILURE;
}

static int stop_for_a_moment(void *arg, int ready)
{
	pid_t server = getpid();

	if (!fork()) {
		usleep(PATIENCE_MS / 2 * 1000);
		kill(server, SIGCONT);
		_exit(EXIT_SUCCESS);
	}
	kill(server, SIGSTOP);
	usleep(4 * PATIENCE_MS * 1000);
	return EXIT_SUCCESS;
}

static void release(void *arg)
{
	releases++;
}

static const struct {
	int (*serve)(void *arg, int ready);
	int status;
} cases[] = {
	{ stop, 128 + SIGKILL },
	{ stop_with_a_waiting_thread, 128 + SIGKILL },
	{ stop_for_a_moment, EXIT_SUCCESS },
};

START_TEST(stopped)
{
	const struct guard guard = { .foreground = true,
				     .patience_ms = PATIENCE_MS,
				     .serve = cases[_i].serve,
				     .release = release };
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		alarm(LIMIT_S);
		_exit(guard_run(&guard));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), cases[_i].status);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard");
	TCase *tc = tcase_create("stopped");

	tcase_set_timeout(tc, 2 * LIMIT_S);
	tcase_add_loop_test(tc, stopped, 0, sizeof(cases) / sizeof(cases[0]));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
