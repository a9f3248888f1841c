/* SPDX-License-Identifier: BSD-2-Clause */
/* guard.c - see guard.h. */
#include "client/fuse/daemon/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/util/clock.h"

#define TURN_MS 500u
/*
 * The timer kills a guard that makes no turn for this much longer than the patience, and at
 * least for the minimum.  The margin is for other processes that use the processor.
 */
#define DEADMAN_MS 1000u
#define DEADMAN_MIN_MS 3500u

/*
 * The signals that the guard waits for.  It forwards the terminating ones to the server.
 */
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

/*
 * Returns true if the server has ended, and sets *status to its exit status.  Sets *stopped while a
 * signal has stopped the server.
 */
static bool server_has_ended(pid_t server, bool *stopped, int *status)
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

/*
 * Returns the state of the server's first thread: 'T': stopped; '\0': unknown; 'Z': ended.
 * At the end of a process all threads end, but those that wait in the kernel may remain.
 * In the line, the state follows the program's name, which may contain any character.
 */
static char server_state(pid_t server)
{
	char path[64], line[128];
	const char *name_end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)server);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '\0';
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	name_end = strrchr(line, ')');
	return name_end && name_end[1] ? name_end[2] : '\0';
}

/* Returns the next signal; 0: none came within ms. */
static int next_signal(const sigset_t *set, unsigned int ms)
{
	const struct timespec most = clock_timespec(ms * CLOCK_NS_PER_MS);
	int sig;

	do
		sig = sigtimedwait(set, NULL, &most);
	while (sig < 0 && errno == EINTR);
	return sig < 0 ? 0 : sig;
}

/*
 * Makes the timer that kills the guard, even a stopped one, and with it the server.
 * The guard also works without it.
 */
static bool deadman_make(timer_t *deadman)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGKILL };

	return !timer_create(CLOCK_MONOTONIC, &event, deadman);
}

static void deadman_put_off(timer_t deadman, unsigned int patience_ms)
{
	unsigned int ms = patience_ms + DEADMAN_MS;
	struct itimerspec at = { 0 };

	if (ms < DEADMAN_MIN_MS)
		ms = DEADMAN_MIN_MS;
	at.it_value = clock_timespec(ms * CLOCK_NS_PER_MS);
	timer_settime(deadman, 0, &at, NULL);
}

/* Returns the ms until the server has been stopped for too long, at most a turn. */
static unsigned int turn_ms(uint64_t stopped, unsigned int patience_ms)
{
	uint64_t end = stopped + patience_ms * CLOCK_NS_PER_MS;
	unsigned int ms = stopped ? (unsigned int)clock_left_ms(end) : TURN_MS;

	return ms < TURN_MS ? ms : TURN_MS;
}

/*
 * Returns true if the server is stopped, by the state of its first thread.  waitid() does not
 * suffice: it reports a stop only once all threads have stopped, and a thread that waits in the
 * kernel stops only after its wait.  If it waits for a program that waits for the server, it
 * never stops.  stopped: the result if the state is unknown.
 */
static bool look_at_server(const struct guard *g, pid_t server, bool stopped)
{
	char state = server_state(server);

	if (state == 'Z')
		g->release(g->arg);
	return state ? state == 'T' : stopped;
}

static int guard_server(const struct guard *g, pid_t server,
			const sigset_t *set)
{
	uint64_t since = 0; /* when the server stopped; 0: it runs */
	bool stopped = false, deadly;
	timer_t deadman;
	int sig, status;

	deadly = deadman_make(&deadman);
	while (!server_has_ended(server, &stopped, &status)) {
		if (deadly)
			deadman_put_off(deadman, g->patience_ms);
		if (!stopped)
			since = 0;
		else if (!since)
			since = clock_now();
		sig = next_signal(set, turn_ms(since, g->patience_ms));
		if (sig && sig != SIGCHLD)
			kill(server, sig);
		if (sig)
			continue; /* it may say that the server runs again */
		stopped = look_at_server(g, server, stopped);
		if (stopped && !turn_ms(since, g->patience_ms))
			stopped = kill(server, SIGKILL);
	}
	return status;
}

/*
 * Closes standard input and output: a program that reads from them must not wait for
 * us.
 */
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

/*
 * Makes the kernel kill the server when the guard ends.  Otherwise nobody would kill a server that
 * is stopped.
 */
static void die_with_guard(pid_t guard)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != guard)
		_exit(EXIT_FAILURE);
}

/* The file size limit of the user who mounts must not limit the writes of others. */
static void lift_file_limit(void)
{
	struct rlimit most = { RLIM_INFINITY, RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	if (!setrlimit(RLIMIT_FSIZE, &most) || getrlimit(RLIMIT_FSIZE, &most))
		return;
	most.rlim_cur = most.rlim_max;
	setrlimit(RLIMIT_FSIZE, &most);
}

/* Starts the server and guards it.  Returns the exit status in the guard. */
static int fork_server(const struct guard *g, int ready)
{
	pid_t server, guard = getpid();
	sigset_t set, before;

	/* ^Z would stop the server of other programs */
	signal(SIGTSTP, SIG_IGN);
	guard_signals(&set);
	sigprocmask(SIG_BLOCK, &set, &before);
	server = fork();
	if (server < 0)
		return -errno;
	if (!server) {
		die_with_guard(guard);
		lift_file_limit();
		sigprocmask(SIG_SETMASK, &before, NULL);
		exit(g->serve(g->arg, ready));
	}
	if (ready >= 0) {
		close(ready);
		leave_terminal();
	}
	return guard_server(g, server, &set);
}

void guard_ready(int ready)
{
	char one = 1;

	if (ready < 0)
		return;
	if (write(ready, &one, 1) < 0) { /* the waiting process is gone */
	}
	close(ready);
	leave_terminal();
}

/* Waits for the server.  0: it is ready; 1: it ended before. */
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

static int run_in_background(const struct guard *g)
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
	return g->foreground ? fork_server(g, -1) : run_in_background(g);
}
