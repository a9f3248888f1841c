/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_stale.c - a client that was away for so long that the servers ended
 * its session goes on with its open files, but for those that it had locked.
 */
#include <stdbool.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "pvfs.h"

#define N 200000u

static unsigned char buf[N];

static int open_in(const char *dir, const char *name, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = pvfs_open(path, flags, 0644);
	EXPECT(fd >= 0);
	return fd;
}

static int set_lock(int fd, short type, off_t start, off_t len)
{
	struct flock lk = { .l_type = type, .l_start = start, .l_len = len };

	return pvfs_fcntl(fd, F_SETLK, &lk);
}

static void wait_for_line(void)
{
	char c;

	puts("ready");
	fflush(stdout);
	EXPECT(read(0, &c, 1) == 1);
}

/*
 * The process lost its record locks: no descriptor may go on as if it had them,
 * whichever was opened later included, until a close ends them.
 */
static void process_locks(const char *dir, int *fd)
{
	int later = open_in(dir, "process", O_RDWR), i;
	struct stat st;

	EXPECT_ERRNO(pvfs_write(later, buf, N), ESTALE);
	EXPECT_ERRNO(pvfs_fstat(later, &st), ESTALE);
	for (i = 0; i < 3; i++)
		EXPECT_ERRNO(pvfs_write(fd[i], buf, N), ESTALE);
	EXPECT_ERRNO(set_lock(later, F_WRLCK, 10, 5), ESTALE);
	EXPECT(pvfs_close(fd[0]) == 0);
	/* new ones are good on all descriptors */
	EXPECT(set_lock(later, F_WRLCK, 10, 5) == 0);
	for (i = 1; i < 3; i++) {
		EXPECT(pvfs_write(fd[i], buf, N) == N);
		EXPECT(pvfs_close(fd[i]) == 0);
	}
	EXPECT(pvfs_write(later, buf, N) == N);
	EXPECT(pvfs_close(later) == 0);
}

/* Whether another process may have the lock. */
static bool free_for_others(const char *dir, const char *name)
{
	int status, fd;
	pid_t pid = fork();

	EXPECT(pid >= 0);
	if (!pid) {
		fd = open_in(dir, name, O_RDWR);
		_exit(set_lock(fd, F_WRLCK, 0, 0) != 0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status) == 0;
}

/*
 * fd[0] lost its flock(); the process takes record locks through fd[1], which the
 * close of fd[0] ends as any would.
 */
static void own_locks(const char *dir, const int *fd)
{
	EXPECT(set_lock(fd[1], F_WRLCK, 0, 5) == 0);
	EXPECT(!free_for_others(dir, "other"));
	EXPECT_ERRNO(pvfs_write(fd[0], buf, N), ESTALE);
	EXPECT(pvfs_write(fd[1], buf, N) == N);
	EXPECT(pvfs_close(fd[0]) == 0);
	EXPECT(free_for_others(dir, "other"));
	EXPECT(pvfs_close(fd[1]) == 0);
}

/* lib_stale DIR: says "ready", goes on after a line on stdin */
int main(int argc, char **argv)
{
	int plain, append, reader, gone, locked, process[3], other[2], i;
	struct stat st;
	char path[256];

	EXPECT(argc == 2);
	plain = open_in(argv[1], "plain", O_RDWR | O_CREAT);
	append = open_in(argv[1], "append", O_WRONLY | O_CREAT | O_APPEND);
	gone = open_in(argv[1], "gone", O_RDWR | O_CREAT);
	fill(buf, N, 1, 0);
	EXPECT(pvfs_write(plain, buf, N) == N);
	EXPECT(pvfs_write(append, buf, N) == N);
	snprintf(path, sizeof(path), "%s/gone", argv[1]);
	EXPECT(pvfs_unlink(path) == 0);
	reader = open_in(argv[1], "plain", O_RDONLY);
	locked = open_in(argv[1], "locked", O_RDWR | O_CREAT);
	EXPECT(pvfs_flock(locked, LOCK_EX) == 0);
	/* the process', taken through the first, between two opens */
	for (i = 0; i < 3; i++) {
		process[i] = open_in(argv[1], "process", O_RDWR | O_CREAT);
		if (i == 1)
			EXPECT(set_lock(process[0], F_WRLCK, 10, 5) == 0);
	}
	for (i = 0; i < 2; i++)
		other[i] = open_in(argv[1], "other", O_RDWR | O_CREAT);
	EXPECT(pvfs_flock(other[0], LOCK_EX) == 0);
	/* one that is free again is as good as none */
	EXPECT(set_lock(plain, F_WRLCK, 10, 5) == 0);
	EXPECT(set_lock(plain, F_WRLCK, 12, 8) == 0);
	EXPECT(set_lock(plain, F_UNLCK, 10, 10) == 0);

	wait_for_line();

	EXPECT(pvfs_pwrite(plain, buf + 5, 1000, N) == 1000);
	EXPECT(pvfs_write(append, buf, N) == N);
	/* removed: only the session that ended kept it */
	EXPECT_ERRNO(pvfs_write(gone, buf, N), ESTALE);
	/* others may have had the lock meanwhile */
	EXPECT_ERRNO(pvfs_write(locked, buf, N), ESTALE);
	EXPECT_ERRNO(pvfs_flock(locked, LOCK_EX), ESTALE);
	process_locks(argv[1], process);
	own_locks(argv[1], other);
	EXPECT(pvfs_close(locked) == 0);
	locked = open_in(argv[1], "locked", O_RDWR);
	EXPECT(pvfs_flock(locked, LOCK_EX) == 0);
	EXPECT(pvfs_write(locked, buf, N) == N);
	EXPECT(pvfs_close(locked) == 0);
	EXPECT(pvfs_fstat(plain, &st) == 0 && st.st_size == N + 1000);
	EXPECT(pvfs_fstat(append, &st) == 0 && st.st_size == 2 * N);
	memset(buf, 0, N);
	EXPECT(pvfs_read(reader, buf, N) == N && filled(buf, N, 1, 0));
	EXPECT(pvfs_close(plain) == 0 && pvfs_close(append) == 0);
	EXPECT(pvfs_close(reader) == 0 && pvfs_close(gone) == 0);
	snprintf(path, sizeof(path), "%s/append", argv[1]);
	EXPECT(pvfs_stat(path, &st) == 0 && st.st_size == 2 * N);
	puts("ok");
	return 0;
}
