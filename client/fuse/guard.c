/* SPDX-License-Identifier: BSD-2-Clause */
/* guard.c - see guard.h. */
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the guard waits for; signals to end it are for the server. */
static void guard_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
}

static int exit_status(const siginfo_t *info)
{
	return info->si_code == CLD_EXITED ? info->si_status
					   : 128 + info->si_status;
}

/* True: it has ended, *status is how.  *stopped: it stands still. */
static bool ended(pid_t server, bool *stopped, int *status)
{
	siginfo_t info = { 0 };

	while (!waitid(P_PID, (id_t)server, &info,
		       WEXITED | WSTOPPED | WCONTINUED | WNOHANG) &&
	       info.si_pid) {
		if (info.si_code != CLD_STOPPED &&
		    info.si_code != CLD_CONTINUED) {
			*status = exit_status(&info);
			return true;
		}
		*stopped = info.si_code == CLD_STOPPED;
		info.si_pid = 0;
	}
	return false;
}

/* The next signal: 0: none came while a stopped server was waited for. */
static int next_signal(const sigset_t *set, bool stopped, unsigned int ms)
{
	const struct timespec most = { .tv_sec = ms / 1000,
				       .tv_nsec = ms % 1000 * 1000000l };
	int sig;

	do
		sig = sigtimedwait(set, NULL, stopped ? &most : NULL);
	while (sig < 0 && errno == EINTR);
	return sig < 0 ? 0 : sig;
}

static int guard_it(const struct guard *g, pid_t server, const sigset_t *set)
{
	bool stopped = false;
	int sig, status;

	while (!ended(server, &stopped, &status)) {
		sig = next_signal(set, stopped, g->patience_ms);
		if (!sig)
			kill(server, SIGKILL);
		else if (sig != SIGCHLD)
			kill(server, sig);
	}
	return status;
}

/* Whoever reads from it is not to wait for us. */
static void leave_terminal(void)
{
	int fd = open("/dev/null", O_RDWR);

	if (fd < 0)
		return;
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

/* The server, and its guard.  Returns in the guard. */
static int fork_server(const struct guard *g, int ready)
{
	sigset_t set, before;
	pid_t server;

	guard_signals(&set);
	sigprocmask(SIG_BLOCK, &set, &before);
	server = fork();
	if (server < 0)
		return -errno;
	if (!server) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		exit(g->serve(g->arg, ready));
	}
	if (ready >= 0) {
		close(ready);
		leave_terminal();
	}
	return guard_it(g, server, &set);
}

void guard_ready(int ready)
{
	char one = 1;

	if (ready < 0)
		return;
	if (write(ready, &one, 1) < 0) { /* who waited is gone */
	}
	close(ready);
	leave_terminal();
}

/* Until the server is ready: 0, or has ended without: 1. */
static int wait_ready(int fd)
{
	char one;
	ssize_t n;

	do
		n = read(fd, &one, 1);
	while (n < 0 && errno == EINTR);
	close(fd);
	return n == 1 ? 0 : 1;
}

static int in_background(const struct guard *g)
{
	int ready[2];
	pid_t guard;

	if (pipe2(ready, O_CLOEXEC))
		return -errno;
	guard = fork();
	if (!guard) {
		close(ready[0]);
		setsid();
		_exit(fork_server(g, ready[1]) ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	close(ready[1]);
	if (guard < 0) {
		int rc = -errno;

		close(ready[0]);
		return rc;
	}
	return wait_ready(ready[0]);
}

int guard_run(const struct guard *g)
{
	return g->foreground ? fork_server(g, -1) : in_background(g);
}
