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
#include "common/util/clock.h"
#include "tests/run_suite.h"

#define PATIENCE_MS 200u
#define LIMIT_S 20u /* time limit of a guard that fails to notice */

#define TRIES 100

static int releases;
static int
	late; /* end of a pipe: a byte says that the moment was not shorter than PATIENCE_MS */

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

/* stops_guard: the guard learns late that the server runs again. */
static int be_stopped(bool stops_guard)
{
	uint64_t limit = clock_after_ms(PATIENCE_MS);
	pid_t server = getpid(), guard = getppid();

	if (!fork()) {
		usleep(PATIENCE_MS / 2 * 1000);
		if (stops_guard)
			kill(guard, SIGSTOP);
		kill(server, SIGCONT);
		if (clock_now() >= limit && write(late, "", 1) != 1)
			_exit(EXIT_FAILURE);
		usleep(PATIENCE_MS * 1000);
		kill(guard, SIGCONT);
		_exit(EXIT_SUCCESS);
	}
	kill(server, SIGSTOP);
	usleep(4 * PATIENCE_MS * 1000);
	return EXIT_SUCCESS;
}

static int stop_for_a_moment(void *arg, int ready)
{
	return be_stopped(false);
}

static int stop_for_a_moment_and_the_guard(void *arg, int ready)
{
	return be_stopped(true);
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
	{ stop_for_a_moment_and_the_guard, EXIT_SUCCESS },
};

/* Returns the exit status of the guard. *undecided: a busy host stretched the moment. */
static int run_guard(int (*serve)(void *arg, int ready), bool *undecided)
{
	const struct guard guard = { .foreground = true,
				     .patience_ms = PATIENCE_MS,
				     .serve = serve,
				     .release = release };
	int status, said[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe(said), 0);
	late = said[1];
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		alarm(LIMIT_S);
		_exit(guard_run(&guard));
	}
	close(said[1]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	*undecided = read(said[0], &c, 1) == 1;
	close(said[0]);
	return WEXITSTATUS(status);
}

START_TEST(stopped)
{
	bool undecided = true;
	int i, status = -1;

	for (i = 0; undecided && i < TRIES; i++)
		status = run_guard(cases[_i].serve, &undecided);
	ck_assert(!undecided);
	ck_assert_int_eq(status, cases[_i].status);
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
