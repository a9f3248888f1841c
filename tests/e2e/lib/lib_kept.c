/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_kept.c - closes while the manager is stopped take effect when it continues, without a further
 * call of the client: other clients then get the locks.
 *
 * usage: lib_kept DIR FILES PID (PID is the manager's)
 */
#include <fcntl.h>
#include <pvfs.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/quiet_fork.h"
#include "tests/e2e/lib/stand.h"

#define MOST 200

static const char *dir;
static int n;

static const char *path_of(int i)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/kept.%d", dir, i);
	return path;
}

static int open_one(int i)
{
	int fd = pvfs_open(path_of(i), O_RDWR | O_CREAT, 0644);

	EXPECT(fd >= 0);
	return fd;
}

static int lock_one(int fd, int cmd)
{
	struct flock lk = { .l_type = F_WRLCK, .l_len = 10 };

	return pvfs_fcntl(fd, cmd, &lk);
}

/*
 * Runs in a child with its own session, while the first session lives. Starts when the pipe is
 * closed.
 */
static void others(int wait)
{
	int i, fd;
	char c;

	EXPECT(setenv("PVFS_TIMEOUT", "30", 1) == 0);
	EXPECT(read(wait, &c, 1) == 0);
	for (i = 0; i < n; i++) {
		fd = open_one(i);
		EXPECT(lock_one(fd, F_OFD_SETLKW) == 0);
		EXPECT(pvfs_close(fd) == 0);
	}
	exit(0);
}

/* Called before this process has threads. */
static pid_t fork_others(int *go)
{
	int ends[2];
	pid_t pid;

	EXPECT(pipe(ends) == 0);
	pid = quiet_fork();
	EXPECT(pid >= 0);
	if (!pid) {
		close(ends[1]);
		others(ends[0]);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

int main(int argc, char **argv)
{
	int fd[MOST], i, status, go;
	pid_t mgr, pid;

	EXPECT(argc == 4);
	dir = argv[1];
	n = atoi(argv[2]);
	mgr = atoi(argv[3]);
	EXPECT(n <= MOST);
	pid = fork_others(&go);
	for (i = 0; i < n; i++) {
		fd[i] = open_one(i);
		EXPECT(lock_one(fd[i], F_OFD_SETLK) == 0);
	}
	stand_still(mgr);
	for (i = 0; i < n; i++)
		EXPECT(pvfs_close(fd[i]) == 0);
	sleep(5); /* longer than the deadline of the first tries */
	EXPECT(kill(mgr, SIGCONT) == 0);
	close(go);
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	puts("ok");
	return 0;
}
