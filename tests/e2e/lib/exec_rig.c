/* SPDX-License-Identifier: BSD-2-Clause */
/* exec_rig.c - see exec_rig.h. */
#include "tests/e2e/lib/exec_rig.h"

#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"
#include <pvfs.h>

unsigned char bytes[2 * N];
const char *dir;
char **arg;

const char *in_dir(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

int open_in(const char *name, int flags)
{
	int fd = pvfs_open(in_dir(name), flags, 0644);

	EXPECT(fd >= 0);
	return fd;
}

int num(int i)
{
	return atoi(arg[i]);
}

/* ---- from one to the next ---- */

struct next next_of(const char *what)
{
	struct next next = { .n = 3 };

	next.argv[0] = (char *)"lib_exec";
	next.argv[1] = (char *)(uintptr_t)what;
	next.argv[2] = (char *)(uintptr_t)dir;
	return next;
}

void with(struct next *next, int value)
{
	snprintf(next->text[next->n], sizeof(next->text[0]), "%d", value);
	next->n++;
}

char **argv_of(struct next *next)
{
	int i;

	for (i = 3; i < next->n; i++)
		next->argv[i] = next->text[i];
	return next->argv;
}

/* The environment is not the one of the start, so it cannot carry the state. */
void go_on(struct next *next)
{
	execve(SELF, argv_of(next), environ);
	EXPECT(!"exec");
}

void reap(pid_t pid)
{
	int status;

	EXPECT(pid > 0 && waitpid(pid, &status, 0) == pid);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void run(struct next *next)
{
	pid_t pid = quiet_fork();

	if (!pid)
		go_on(next);
	reap(pid);
}

/* ---- locks ---- */

int set(int fd, int cmd, short type, off_t start, off_t len)
{
	struct flock lk = { .l_type = type, .l_start = start, .l_len = len };

	return pvfs_fcntl(fd, cmd, &lk);
}

void take_locks(int fd)
{
	EXPECT(!set(fd, F_SETLK, F_WRLCK, 0, 10));
	EXPECT(!set(fd, F_OFD_SETLK, F_WRLCK, 20, 10));
	EXPECT(!pvfs_flock(fd, LOCK_EX));
}

bool locked(off_t start)
{
	struct next next = next_of("try");
	pid_t pid;
	int status;

	with(&next, (int)start);
	pid = quiet_fork();
	if (!pid)
		go_on(&next);
	EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	EXPECT(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3);
	return WEXITSTATUS(status);
}

void until_free(off_t start)
{
	int i;

	for (i = 0; i < 600 && locked(start); i++)
		usleep(50000);
	EXPECT(i < 600);
}

/* ---- offsets ---- */

void reads_on(int fd, size_t at, size_t n)
{
	EXPECT(pvfs_lseek(fd, 0, SEEK_CUR) == (int64_t)at);
	EXPECT(pvfs_read(fd, bytes, n) == (ssize_t)n &&
	       filled(bytes, n, 1, at));
}
