/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_stale.c - a client is disconnected for so long that the servers end its session. It continues
 * with its open files, except those that it had locked.
 *
 * usage: lib_stale DIR; prints "ready", and continues after a line on stdin
 */
#include <dirent.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/fds.h"
#include "tests/e2e/lib/quiet_fork.h"
#include <pvfs.h>

#define N 200000u

static unsigned char buf[N];

static const char *in_dir(const char *dir, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int open_in(const char *dir, const char *name, int flags)
{
	int fd = pvfs_open(in_dir(dir, name), flags, 0644);

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

/* Truncates by path the file in which the process had record locks, and other files. */
static void cuts(const char *dir, int code)
{
	int flags = O_RDWR | O_TRUNC, fd;

	if (code) {
		EXPECT_ERRNO(pvfs_truncate(in_dir(dir, "process"), 5), code);
		EXPECT_ERRNO(pvfs_open(in_dir(dir, "process"), flags), code);
		EXPECT_ERRNO(pvfs_open(in_dir(dir, "process"),
				       flags | O_CREAT | O_EXCL, 0644),
			     EEXIST);
	} else {
		EXPECT(pvfs_truncate(in_dir(dir, "process"), 5) == 0);
		EXPECT(pvfs_close(open_in(dir, "process", flags)) == 0);
	}
	EXPECT_ERRNO(pvfs_truncate(in_dir(dir, "no"), 5), ENOENT);
	/* a lost flock() affects only its own descriptor */
	EXPECT(pvfs_truncate(in_dir(dir, "other"), 5) == 0);
	fd = open_in(dir, "new", flags | O_CREAT);
	EXPECT(pvfs_close(fd) == 0 && pvfs_unlink(in_dir(dir, "new")) == 0);
}

/*
 * The process has lost its record locks. So all its descriptors of the file fail, including one
 * that was opened later, until a close of one of them ends the lost locks.
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
	cuts(dir, ESTALE);
	EXPECT(pvfs_close(fd[0]) == 0);
	cuts(dir, 0);
	/* new locks are valid on all descriptors */
	EXPECT(set_lock(later, F_WRLCK, 10, 5) == 0);
	for (i = 1; i < 3; i++) {
		EXPECT(pvfs_write(fd[i], buf, N) == N);
		EXPECT(pvfs_close(fd[i]) == 0);
	}
	EXPECT(pvfs_write(later, buf, N) == N);
	EXPECT(pvfs_close(later) == 0);
}

/* Returns whether another process can get the lock. */
static bool free_for_others(const char *dir, const char *name)
{
	int status, fd;
	pid_t pid = quiet_fork();

	EXPECT(pid >= 0);
	if (!pid) {
		fd = open_in(dir, name, O_RDWR);
		_exit(set_lock(fd, F_WRLCK, 0, 0) != 0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status) == 0;
}

/*
 * fd[0] has lost its flock(). The process takes a record lock through fd[1]. The close of fd[0]
 * releases it, as a close of any descriptor does.
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

/*
 * Some files are still open in the session that ended, and one in the new session. A child has the
 * descriptors of neither session.
 */
static void child_leaves_both(int fd)
{
	int status, have;
	pid_t pid;

	EXPECT(pvfs_pread(fd, buf, N, 0) == N);
	have = count_fds();
	pid = quiet_fork();
	EXPECT(pid >= 0);
	if (!pid) {
		EXPECT(pvfs_pread(fd, buf, N, 0) == N);
		EXPECT(count_fds() < have);
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
}

struct files {
	int plain, append, reader, gone, locked, process[3], other[2];
};

static void before(const char *dir, struct files *f)
{
	int i;

	f->plain = open_in(dir, "plain", O_RDWR | O_CREAT);
	f->append = open_in(dir, "append", O_WRONLY | O_CREAT | O_APPEND);
	f->gone = open_in(dir, "gone", O_RDWR | O_CREAT);
	fill(buf, N, 1, 0);
	EXPECT(pvfs_write(f->plain, buf, N) == N);
	EXPECT(pvfs_write(f->append, buf, N) == N);
	EXPECT(pvfs_unlink(in_dir(dir, "gone")) == 0);
	f->reader = open_in(dir, "plain", O_RDONLY);
	f->locked = open_in(dir, "locked", O_RDWR | O_CREAT);
	EXPECT(pvfs_flock(f->locked, LOCK_EX) == 0);
	/* record locks of the process, taken through the first descriptor between two opens */
	for (i = 0; i < 3; i++) {
		f->process[i] = open_in(dir, "process", O_RDWR | O_CREAT);
		if (i == 1)
			EXPECT(set_lock(f->process[0], F_WRLCK, 10, 5) == 0);
	}
	for (i = 0; i < 2; i++)
		f->other[i] = open_in(dir, "other", O_RDWR | O_CREAT);
	EXPECT(pvfs_flock(f->other[0], LOCK_EX) == 0);
	/* a lock that was released before does not count as lost */
	EXPECT(set_lock(f->plain, F_WRLCK, 10, 5) == 0);
	EXPECT(set_lock(f->plain, F_WRLCK, 12, 8) == 0);
	EXPECT(set_lock(f->plain, F_UNLCK, 10, 10) == 0);
}

/* Another client may have had the lock meanwhile. */
static void flocked(const char *dir, int fd)
{
	EXPECT_ERRNO(pvfs_write(fd, buf, N), ESTALE);
	EXPECT_ERRNO(pvfs_flock(fd, LOCK_EX), ESTALE);
	EXPECT(pvfs_close(fd) == 0);
	fd = open_in(dir, "locked", O_RDWR);
	EXPECT(pvfs_flock(fd, LOCK_EX) == 0);
	EXPECT(pvfs_write(fd, buf, N) == N);
	EXPECT(pvfs_close(fd) == 0);
}

static void after(const char *dir, struct files *f)
{
	struct stat st;

	EXPECT(pvfs_pwrite(f->plain, buf + 5, 1000, N) == 1000);
	child_leaves_both(f->plain);
	EXPECT(pvfs_write(f->append, buf, N) == N);
	/* the file was removed, and only the session that ended kept it */
	EXPECT_ERRNO(pvfs_write(f->gone, buf, N), ESTALE);
	flocked(dir, f->locked);
	process_locks(dir, f->process);
	own_locks(dir, f->other);
	EXPECT(pvfs_fstat(f->plain, &st) == 0 && st.st_size == N + 1000);
	EXPECT(pvfs_fstat(f->append, &st) == 0 && st.st_size == 2 * N);
	memset(buf, 0, N);
	EXPECT(pvfs_read(f->reader, buf, N) == N && filled(buf, N, 1, 0));
	EXPECT(pvfs_close(f->plain) == 0 && pvfs_close(f->append) == 0);
	EXPECT(pvfs_close(f->reader) == 0 && pvfs_close(f->gone) == 0);
	EXPECT(pvfs_stat(in_dir(dir, "append"), &st) == 0);
	EXPECT(st.st_size == 2 * N);
}

int main(int argc, char **argv)
{
	struct files files;

	EXPECT(argc == 2);
	before(argv[1], &files);
	wait_for_line();
	after(argv[1], &files);
	puts("ok");
	return 0;
}
