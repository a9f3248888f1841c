/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_living.c - a client that lives keeps its locks and its removed open files, even if it makes
 * no call for long. A killed client loses them, even if its children live.
 *
 * 	lib_living hold DIR	takes locks, prints "ready", and checks them after a line on stdin
 * 	lib_living try DIR	prints whether the locks are free, held, or half of them
 * 	lib_living leave DIR fork|_Fork|clone|exec
 * 				takes locks, and makes a child in this way
 */

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/opens.h"
#include "tests/e2e/lib/quiet_fork.h"
#include <pvfs.h>

#define N 200000u

static unsigned char buf[N];

static int set_lock(int fd)
{
	struct flock lk = { .l_type = F_WRLCK, .l_len = 10 };

	return pvfs_fcntl(fd, F_SETLK, &lk);
}

static void wait_for_line(void)
{
	char c;

	EXPECT(read(0, &c, 1) == 1);
}

struct files {
	int whole, bytes, gone;
};

static void take(const char *dir, struct files *f)
{
	char path[256];

	f->whole = open_in(dir, "whole", O_RDWR | O_CREAT);
	f->bytes = open_in(dir, "bytes", O_RDWR | O_CREAT);
	f->gone = open_in(dir, "gone", O_RDWR | O_CREAT);
	EXPECT(pvfs_flock(f->whole, LOCK_EX | LOCK_NB) == 0);
	EXPECT(set_lock(f->bytes) == 0);
	fill(buf, N, 1, 0);
	EXPECT(pvfs_write(f->gone, buf, N) == N);
	snprintf(path, sizeof(path), "%s/gone", dir);
	EXPECT(pvfs_unlink(path) == 0);
}

static void still_there(struct files *f)
{
	struct stat st;

	/* a write to a file whose lock was lost would fail with ESTALE */
	EXPECT(pvfs_write(f->whole, buf, N) == N);
	EXPECT(pvfs_write(f->bytes, buf, N) == N);
	EXPECT(pvfs_fstat(f->gone, &st) == 0 && st.st_size == N);
	memset(buf, 0, N);
	EXPECT(pvfs_pread(f->gone, buf, N, 0) == N && filled(buf, N, 1, 0));
	EXPECT(pvfs_pwrite(f->gone, buf, N, N) == N);
}

/* Prints "ready", and makes no call until a line arrives on stdin. */
static void hold(const char *dir)
{
	struct files f;

	take(dir, &f);
	puts("ready");
	fflush(stdout);
	wait_for_line();
	still_there(&f);
	puts("ok");
}

/* ---- a parent that will be killed ---- */

static void nothing(int sig)
{
}

static pid_t by_clone(void)
{
	struct clone_args args = { .exit_signal = SIGCHLD };

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static pid_t make_child(const char *how)
{
	if (!strcmp(how, "_Fork"))
		return _Fork();
	return !strcmp(how, "clone") ? by_clone() : quiet_fork();
}

/* Prints the pid of the child, which never calls PVFS. */
static void leave(const char *dir, const char *how)
{
	struct files f;
	pid_t pid;

	take(dir, &f);
	pid = make_child(how);
	EXPECT(pid >= 0);
	if (!pid) {
		if (!strcmp(how, "exec"))
			execl("/bin/sleep", "sleep", "300", (char *)NULL);
		signal(SIGALRM, nothing);
		alarm(300);
		pause();
		_exit(0);
	}
	printf("child %d\n", (int)pid);
	fflush(stdout);
	pause();
}

/* ---- a client that wants the same locks ---- */

static void try(const char *dir)
{
	int whole = open_in(dir, "whole", O_RDWR | O_CREAT);
	int bytes = open_in(dir, "bytes", O_RDWR | O_CREAT);
	int got = 0;

	if (pvfs_flock(whole, LOCK_EX | LOCK_NB) == 0)
		got++;
	else
		EXPECT(errno == EWOULDBLOCK);
	if (set_lock(bytes) == 0)
		got++;
	else
		EXPECT(errno == EAGAIN || errno == EACCES);
	puts(got == 2 ? "free" : got ? "half" : "held");
}

int main(int argc, char **argv)
{
	EXPECT(argc > 2);
	if (!strcmp(argv[1], "hold"))
		hold(argv[2]);
	else if (!strcmp(argv[1], "try"))
		try(argv[2]);
	else
		leave(argv[2], argv[3]);
	return 0;
}
