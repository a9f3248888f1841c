/* SPDX-License-Identifier: BSD-2-Clause */
/* proc.c - see proc.h. */
#include "client/tools/job/parts/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/number.h"

static void redirect_output(const struct spawn *s)
{
	int in = open("/dev/null", O_RDONLY),
	    out = s->log ? open(s->log, O_CREAT | O_WRONLY | O_APPEND, 0600)
			 : -1;

	if (out < 0)
		out = open("/dev/null", O_WRONLY);
	dup2(in, 0);
	dup2(out, 2);
	dup2(s->out ? s->out : out, 1);
	close_range(3, s->keep ? (unsigned int)s->keep - 1 : ~0u, 0);
	if (s->keep) {
		close_range((unsigned int)s->keep + 1, ~0u, 0);
		fcntl(s->keep, F_SETFD, 0);
	}
}

static void exec_child(const struct spawn *s, pid_t parent)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, s->death);
	if (getppid() != parent)
		_exit(1); /* the parent died before prctl() */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (unsigned int i = 0; i < SPAWN_ENV && s->env[i][0]; i++)
		setenv(s->env[i][0], s->env[i][1], 1);
	redirect_output(s);
	execv(s->argv[0], s->argv);
	_exit(127);
}

pid_t proc_spawn(const struct spawn *s)
{
	pid_t parent = getpid(), pid = fork();

	if (!pid)
		exec_child(s, parent);
	return pid < 0 ? -errno : pid;
}

/* Returns the parent of a process; 0: the process is gone. */
static pid_t parent_of(const char *pid)
{
	char path[64], text[512], *end;
	int fd, parent = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* A child that was not waited for keeps its pid, so the right process is killed. */
static unsigned int kill_children(pid_t but)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	unsigned int n = 0;

	while (d && (e = readdir(d))) {
		uint64_t pid;

		if (number_parse(e->d_name, INT_MAX, &pid) ||
		    (pid_t)pid == but || parent_of(e->d_name) != getpid())
			continue;
		kill((pid_t)pid, SIGKILL);
		n++;
	}
	if (d)
		closedir(d);
	return n;
}

static void reap_children(pid_t but)
{
	siginfo_t info = { 0 };

	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid && info.si_pid != but) {
		waitpid(info.si_pid, NULL, WNOHANG);
		info.si_pid = 0;
	}
}

unsigned int proc_end_all(pid_t but, uint64_t deadline)
{
	unsigned int n;

	while ((n = kill_children(but)) && clock_now() < deadline) {
		usleep(3000);
		reap_children(but);
	}
	return n;
}

int proc_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int proc_wait(pid_t pid, uint64_t deadline)
{
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (clock_now() >= deadline)
			return -ETIMEDOUT;
		usleep(3000);
	}
	return 0;
}
