/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_locks.c - record locks and flock() among processes.
 *
 * 	lib_locks FILE		runs all tests
 * 	lib_locks hold FILE	takes a lock, prints "held", and keeps it until the end of stdin
 * 	lib_locks late FILE	as hold, but writes before; at the end, writes once more and prints
 * 				the result
 * 	lib_locks try FILE	tries to take the lock, and prints the result
 * 	lib_locks wait FILE	waits for the lock, and prints the result
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"
#include <pvfs.h>

#define PROCESSES 4
#define TURNS 25

static int set(int fd, int cmd, short type, off_t start, off_t len)
{
	struct flock lk = { .l_type = type, .l_start = start, .l_len = len };

	return pvfs_fcntl(fd, cmd, &lk);
}

static short found(int fd, int cmd, short type, off_t start, off_t len)
{
	struct flock lk = { .l_type = type, .l_start = start, .l_len = len };

	EXPECT(pvfs_fcntl(fd, cmd, &lk) == 0);
	return lk.l_type;
}

static int open_file(const char *path)
{
	int fd = pvfs_open(path, O_RDWR | O_CREAT, 0644);

	EXPECT(fd >= 0);
	return fd;
}

/* Counts in the file, protected only by the lock. */
static void count(const char *path, int cmd)
{
	int fd = open_file(path), i;
	long n;

	for (i = 0; i < TURNS; i++) {
		EXPECT((cmd ? set(fd, cmd, F_WRLCK, 0, 8)
			    : pvfs_flock(fd, LOCK_EX)) == 0);
		n = 0;
		EXPECT(pvfs_pread(fd, &n, sizeof(n), 0) >= 0);
		n++;
		EXPECT(pvfs_pwrite(fd, &n, sizeof(n), 0) == sizeof(n));
		EXPECT((cmd ? set(fd, F_OFD_SETLK, F_UNLCK, 0, 0)
			    : pvfs_flock(fd, LOCK_UN)) == 0);
	}
	exit(0);
}

static void join(int n)
{
	int status;

	while (n--) {
		EXPECT(wait(&status) > 0);
		EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

static void counting(const char *path, int cmd)
{
	int fd = open_file(path), i;
	long n = 0;

	EXPECT(pvfs_ftruncate(fd, 0) == 0);
	for (i = 0; i < PROCESSES; i++) {
		if (quiet_fork() == 0)
			count(path, cmd);
	}
	join(PROCESSES);
	EXPECT(pvfs_pread(fd, &n, sizeof(n), 0) == sizeof(n));
	EXPECT(n == PROCESSES * TURNS);
	EXPECT(pvfs_close(fd) == 0);
}

/* Locks of two open files of one process conflict. */
static void owners(const char *path)
{
	int a = open_file(path), b = open_file(path), c;

	EXPECT(set(a, F_OFD_SETLK, F_WRLCK, 0, 10) == 0);
	EXPECT_ERRNO(set(b, F_OFD_SETLK, F_RDLCK, 9, 1), EAGAIN);
	EXPECT(found(b, F_OFD_GETLK, F_RDLCK, 0, 0) == F_WRLCK);
	EXPECT(set(b, F_OFD_SETLK, F_RDLCK, 10, 1) == 0);
	EXPECT(pvfs_close(a) == 0);
	EXPECT(set(b, F_OFD_SETLK, F_WRLCK, 0, 0) == 0);
	/* locks of flock() do not conflict with record locks */
	a = open_file(path);
	EXPECT(pvfs_flock(a, LOCK_SH) == 0);
	EXPECT_ERRNO(pvfs_flock(b, LOCK_EX | LOCK_NB), EWOULDBLOCK);
	EXPECT(pvfs_flock(b, LOCK_SH | LOCK_NB) == 0);
	EXPECT_ERRNO(pvfs_flock(a, 0), EINVAL);
	/* a copy of a descriptor has the same owner */
	c = pvfs_dup(b);
	EXPECT(pvfs_close(b) == 0);
	EXPECT_ERRNO(set(a, F_OFD_SETLK, F_RDLCK, 0, 1), EAGAIN);
	EXPECT(pvfs_close(c) == 0);
	EXPECT(set(a, F_OFD_SETLK, F_RDLCK, 0, 1) == 0);
	EXPECT(pvfs_close(a) == 0);
}

/*
 * Record locks of one process do not conflict with each other. The close of any descriptor of the
 * file releases them.
 */
static void process(const char *path)
{
	int a = open_file(path), b = open_file(path);

	EXPECT(set(a, F_SETLK, F_WRLCK, 0, 10) == 0);
	EXPECT(set(b, F_SETLK, F_WRLCK, 5, 10) == 0);
	EXPECT(found(b, F_GETLK, F_WRLCK, 0, 0) == F_UNLCK);
	if (quiet_fork() == 0) {
		EXPECT(found(b, F_GETLK, F_RDLCK, 0, 0) == F_WRLCK);
		EXPECT_ERRNO(set(a, F_SETLK, F_WRLCK, 14, 1), EAGAIN);
		EXPECT(set(a, F_SETLK, F_WRLCK, 15, 1) == 0);
		exit(0);
	}
	join(1);
	EXPECT(pvfs_close(b) == 0);
	if (quiet_fork() == 0) {
		EXPECT(set(a, F_SETLK, F_WRLCK, 0, 0) == 0);
		exit(0);
	}
	join(1);
	/* dup2() onto a descriptor closes it, too */
	b = open_file(path);
	EXPECT(set(a, F_SETLK, F_WRLCK, 0, 10) == 0);
	EXPECT(pvfs_dup2(STDOUT_FILENO, b) == b);
	if (quiet_fork() == 0) {
		EXPECT(set(a, F_SETLK, F_WRLCK, 0, 0) == 0);
		exit(0);
	}
	join(1);
	EXPECT(pvfs_close(b) == 0);
	EXPECT(pvfs_close(a) == 0);
}

static void arguments(const char *path)
{
	int fd = open_file(path), ro = pvfs_open(path, O_RDONLY);
	struct flock lk = { .l_type = F_WRLCK, .l_whence = 7 };

	EXPECT_ERRNO(set(ro, F_SETLK, F_WRLCK, 0, 1), EBADF);
	EXPECT_ERRNO(set(fd, F_SETLK, 77, 0, 1), EINVAL);
	EXPECT_ERRNO(set(fd, F_SETLK, F_WRLCK, -5, 1), EINVAL);
	EXPECT_ERRNO(set(fd, F_SETLK, F_WRLCK, 5, -6), EINVAL);
	EXPECT_ERRNO(set(fd, F_SETLK, F_WRLCK, INT64_MAX, 2), EOVERFLOW);
	EXPECT(!set(fd, F_SETLK, F_WRLCK, INT64_MAX, 1));
	EXPECT(found(fd, F_OFD_GETLK, F_WRLCK, INT64_MAX, 0) == F_WRLCK);
	EXPECT(!set(fd, F_SETLK, F_UNLCK, INT64_MAX - 1, 2));
	EXPECT(found(fd, F_OFD_GETLK, F_WRLCK, 0, 0) == F_UNLCK);
	EXPECT_ERRNO(pvfs_fcntl(fd, F_SETLK, &lk), EINVAL);
	EXPECT(set(fd, F_SETLK, F_WRLCK, 10, -10) == 0);
	EXPECT(pvfs_close(ro) == 0);
	EXPECT(pvfs_close(fd) == 0);
}

/* The locks of a killed process end with its session. */
static void killed(const char *path)
{
	int fd = open_file(path), ready[2];
	char byte;
	pid_t pid;

	EXPECT(pipe(ready) == 0);
	pid = quiet_fork();
	if (pid == 0) {
		EXPECT(set(fd, F_OFD_SETLK, F_WRLCK, 0, 0) == 0);
		EXPECT(write(ready[1], "x", 1) == 1);
		pause();
	}
	EXPECT(read(ready[0], &byte, 1) == 1);
	EXPECT_ERRNO(set(fd, F_OFD_SETLK, F_WRLCK, 0, 0), EAGAIN);
	kill(pid, SIGKILL);
	EXPECT(waitpid(pid, NULL, 0) == pid);
	EXPECT(set(fd, F_OFD_SETLKW, F_WRLCK, 0, 0) == 0);
	EXPECT(pvfs_close(fd) == 0);
}

/* Waits for a lock on the second byte.  Returns true if the call fails because of a deadlock. */
static bool deadlocks(int fd, off_t second)
{
	if (set(fd, F_SETLKW, F_WRLCK, second, 1) == 0)
		return false;
	EXPECT(errno == EDEADLK);
	return true;
}

/* Two processes wait for each other: exactly one call fails. */
static void deadlock(const char *path)
{
	int fd = open_file(path), ready[2], status;
	bool mine;
	char byte;

	EXPECT(pipe(ready) == 0);
	EXPECT(set(fd, F_SETLK, F_WRLCK, 0, 1) == 0);
	if (quiet_fork() == 0) {
		EXPECT(set(fd, F_SETLK, F_WRLCK, 1, 1) == 0);
		EXPECT(write(ready[1], "x", 1) == 1);
		exit(deadlocks(fd, 0));
	}
	EXPECT(read(ready[0], &byte, 1) == 1);
	mine = deadlocks(fd, 1);
	EXPECT(set(fd, F_SETLK, F_UNLCK, 0, 0) == 0);
	EXPECT(wait(&status) > 0 && WIFEXITED(status));
	EXPECT(WEXITSTATUS(status) == !mine);
	EXPECT(pvfs_close(fd) == 0);
}

struct waiter {
	int fd;
	off_t at;
};

static void *wait_for_byte(void *arg)
{
	const struct waiter *w = arg;

	EXPECT(set(w->fd, F_SETLKW, F_WRLCK, w->at, 1) == 0);
	/* the third process waits for this byte */
	EXPECT(w->at != 2 || set(w->fd, F_SETLK, F_UNLCK, 0, 1) == 0);
	return NULL;
}

/*
 * Starts a process that locks the byte `at` and holds the lock until it reads a byte from *end. If
 * then_first is set, the process then waits for a lock on byte 0.
 */
static void holder(int fd, off_t at, bool then_first, int *end)
{
	int ready[2], go[2];
	char byte;
	pid_t pid;

	EXPECT(pipe(ready) == 0 && pipe(go) == 0);
	pid = quiet_fork();
	if (pid == 0) {
		close(go[1]);
		EXPECT(set(fd, F_SETLK, F_WRLCK, at, 1) == 0);
		EXPECT(write(ready[1], "x", 1) == 1);
		EXPECT(read(go[0], &byte, 1) == 1);
		if (then_first)
			EXPECT(set(fd, F_SETLKW, F_WRLCK, 0, 1) == 0);
		exit(0);
	}
	close(go[0]);
	EXPECT(read(ready[0], &byte, 1) == 1);
	*end = go[1];
}

/*
 * One thread of this process waits for a process that waits for byte 0 of this process. This is no
 * deadlock, because another thread gets its lock later and then unlocks byte 0.
 */
static void threads_wait(const char *path)
{
	int fd = open_file(path), end[2], status;
	struct waiter w[2] = { { fd, 1 }, { fd, 2 } };
	pthread_t thread[2];

	EXPECT(set(fd, F_SETLK, F_WRLCK, 0, 1) == 0);
	holder(fd, 1, true, &end[0]);
	holder(fd, 2, false, &end[1]);
	for (int i = 0; i < 2; i++) {
		EXPECT(!pthread_create(&thread[i], NULL, wait_for_byte, &w[i]));
		/* the waits should begin in this order; otherwise the test checks less */
		usleep(200000);
	}
	EXPECT(write(end[0], "x", 1) == 1);
	usleep(200000);
	EXPECT(write(end[1], "x", 1) == 1);
	for (int i = 0; i < 2; i++)
		EXPECT(!pthread_join(thread[i], NULL));
	for (int i = 0; i < 2; i++)
		EXPECT(wait(&status) > 0 && status == 0);
	EXPECT(pvfs_close(fd) == 0);
}

static int hold(const char *path)
{
	int fd = open_file(path);
	char byte;

	EXPECT(set(fd, F_OFD_SETLK, F_WRLCK, 0, 0) == 0);
	puts("held");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	EXPECT(pvfs_close(fd) == 0);
	return 0;
}

/* Exits without closing the file. */
static int late(const char *path)
{
	char data[4096], byte;
	int fd = open_file(path);

	memset(data, 'A', sizeof(data));
	EXPECT(set(fd, F_OFD_SETLK, F_WRLCK, 0, 0) == 0);
	EXPECT(pvfs_pwrite(fd, data, sizeof(data), 0) == sizeof(data));
	puts("held");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	puts(pvfs_pwrite(fd, data, sizeof(data), 0) < 0 ? "refused"
							: "written");
	return 0;
}

static int take(const char *path, int cmd)
{
	int fd = open_file(path);

	puts(set(fd, cmd, F_WRLCK, 0, 0) ? strerrorname_np(errno) : "taken");
	EXPECT(pvfs_close(fd) == 0);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "hold"))
		return hold(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "late"))
		return late(argv[2]);
	if (argc == 3)
		return take(argv[2], strcmp(argv[1], "wait") ? F_OFD_SETLK
							     : F_OFD_SETLKW);
	counting(argv[1], F_OFD_SETLKW);
	counting(argv[1], 0);
	owners(argv[1]);
	process(argv[1]);
	arguments(argv[1]);
	deadlock(argv[1]);
	threads_wait(argv[1]);
	killed(argv[1]);
	puts("ok");
	return 0;
}
