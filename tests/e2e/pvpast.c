/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvpast.c - calls of a program whose reads and writes bypass the mount (client/preload/bypass),
 * which only a C program can make. It makes calls from signal handlers that interrupt other calls,
 * shares its memory with a child, and maps a file directly after a write that bypassed the kernel.
 *
 * usage: pvpast FOLDER-OF-A-MOUNT
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/past/past.h"

#define LEN 5000

static char want[LEN];

static int make(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	must(fd >= 0);
	must(write(fd, want, LEN) == LEN);
	return fd;
}

/* ---- handlers ---- */

static int handled_fd;
static volatile sig_atomic_t handled, wrong;

static void handler(int sig)
{
	char got[100];
	int saved = errno;

	if (pread(handled_fd, got, sizeof(got), 700) != sizeof(got) ||
	    memcmp(got, want + 700, sizeof(got)))
		wrong++;
	handled++;
	errno = saved;
}

static void timer(long us)
{
	const struct itimerval t = { { 0, us }, { 0, us } };

	must(!setitimer(ITIMER_REAL, &t, NULL));
}

static void from_handlers(const char *name)
{
	const struct sigaction sa = { .sa_handler = handler,
				      .sa_flags = SA_RESTART };
	char got[LEN];

	handled_fd = make(name);
	must(!sigaction(SIGALRM, &sa, NULL));
	timer(3000);
	while (handled < 200) {
		must(pread(handled_fd, got, LEN, 0) == LEN);
		must(!memcmp(got, want, LEN));
		must(pwrite(handled_fd, want, LEN, 0) == LEN);
	}
	timer(0);
	must(!wrong);
	must(!close(handled_fd));
}

/* ---- a child that shares the memory of its parent ---- */

/*
 * The first call that could bypass the mount is in a child of vfork(), so it must not set up the
 * bypass.
 */
static void first_from_vfork(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644), status;
	pid_t pid;

	must(fd >= 0);
	pid = vfork();
	if (!pid)
		_exit(pwrite(fd, "first", 5, 0) == 5 ? 0 : 1);
	must(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	must(!close(fd));
}

static void from_vfork(const char *name)
{
	int fd = make(name), status;
	char got[4];
	pid_t pid;

	must(pread(fd, got, 4, 0) == 4);
	pid = vfork();
	if (!pid) {
		char mine[4];

		_exit(pread(fd, mine, 4, 8) == 4 &&
				      !memcmp(mine, want + 8, 4) &&
				      write(fd, "end", 3) == 3 && !close(fd)
			      ? 0
			      : 1);
	}
	must(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	must(pread(fd, got, 4, LEN) == 3 && !memcmp(got, "end", 3));
	must(write(fd, "!", 1) == 1);
	must(pread(fd, got, 4, LEN) == 4 && !memcmp(got, "end!", 4));
	must(!close(fd));
}

/* ---- data that the kernel does not know yet ---- */

static void mapped(const char *name)
{
	int fd = make(name);
	char *m = mmap(NULL, LEN, PROT_READ, MAP_PRIVATE, fd, 0);

	must(m != MAP_FAILED);
	must(!memcmp(m, want, LEN));
	must(!munmap(m, LEN));
	must(!close(fd));
}

static void copied(const char *name, const char *to)
{
	int fd = make(name), out = open(to, O_RDWR | O_CREAT | O_TRUNC, 0644);
	loff_t from = 0;
	char got[LEN];

	must(out >= 0);
	must(copy_file_range(fd, &from, out, NULL, LEN, 0) == LEN);
	must(pread(out, got, LEN, 0) == LEN && !memcmp(got, want, LEN));
	must(!close(out) && !close(fd));
}

/* ---- a program that closes all descriptors ---- */

/* Daemons close all descriptors, and shells put files at numbers of their choice. */
static void closes_all(const char *name)
{
	int fd = make(name), victim;
	char got[LEN];

	must(pread(fd, got, LEN, 0) == LEN);
	for (int n = 3; n < 1024; n++)
		if (n != fd)
			close(n);
	must(!close_range((unsigned int)fd + 1, ~0u, 0));
	must(close_range(5, 3, 0) == -1 && errno == EINVAL);
	for (int n = fd + 1; n < fd + 20; n++) {
		victim = open("/dev/zero", O_RDWR | O_CLOEXEC);
		must(victim >= 0);
		must(victim == n || dup2(victim, n) == n);
	}
	must(pwrite(fd, want, LEN, LEN) == LEN);
	must(pread(fd, got, LEN, LEN) == LEN && !memcmp(got, want, LEN));
	must(!close(fd));
}

int main(int argc, char **argv)
{
	char name[4][200];

	must(argc == 2);
	for (int i = 0; i < 4; i++)
		snprintf(name[i], sizeof(name[i]), "%s/past%d", argv[1], i);
	for (int i = 0; i < LEN; i++)
		want[i] = (char)(i * 7 + i / 256);
	first_from_vfork(name[3]);
	mapped(name[0]);
	copied(name[1], name[2]);
	from_vfork(name[1]);
	from_handlers(name[3]);
	closes_all(name[0]);
	puts("all of it");
	return 0;
}
