/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_exec.c - what is open and locked goes over exec().
 *
 *	lib_exec WHAT DIR [ARGUMENT...]
 *
 * Each WHAT does its part and replaces itself by the next one.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "fds.h"
#include "pvfs.h"

#define N 100000u
#define SELF "/proc/self/exe"
#define ARGS_MAX 12

static unsigned char buf[2 * N];
static const char *dir;
static char **arg;
extern char **environ;

static const char *in_dir(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int open_in(const char *name, int flags)
{
	int fd = pvfs_open(in_dir(name), flags, 0644);

	EXPECT(fd >= 0);
	return fd;
}

static int num(int i)
{
	return atoi(arg[i]);
}

/* ---- from one to the next ---- */

struct next {
	char *argv[ARGS_MAX];
	char text[ARGS_MAX][16];
	int n;
};

static struct next next_of(const char *what)
{
	struct next next = { .n = 3 };

	next.argv[0] = (char *)"lib_exec";
	next.argv[1] = (char *)(uintptr_t)what;
	next.argv[2] = (char *)(uintptr_t)dir;
	return next;
}

static void with(struct next *next, int value)
{
	snprintf(next->text[next->n], sizeof(next->text[0]), "%d", value);
	next->n++;
}

static char **argv_of(struct next *next)
{
	int i;

	for (i = 3; i < next->n; i++)
		next->argv[i] = next->text[i];
	return next->argv;
}

/* With another environment than before: nothing is in there. */
static void go_on(struct next *next)
{
	execve(SELF, argv_of(next), environ);
	EXPECT(!"exec");
}

static void reap(pid_t pid)
{
	int status;

	EXPECT(pid > 0 && waitpid(pid, &status, 0) == pid);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void run(struct next *next)
{
	pid_t pid = fork();

	if (!pid)
		go_on(next);
	reap(pid);
}

/* ---- locks ---- */

static int set(int fd, int cmd, short type, off_t start, off_t len)
{
	struct flock lk = { .l_type = type, .l_start = start, .l_len = len };

	return pvfs_fcntl(fd, cmd, &lk);
}

/* try DIR START: another client; exit status 3: somebody has a lock there. */
static int is_locked(void)
{
	int fd = open_in("locks", O_RDWR);

	if (!set(fd, F_SETLK, F_WRLCK, num(0), 10))
		return 0;
	EXPECT(errno == EAGAIN);
	return 3;
}

static bool locked(off_t start)
{
	struct next next = next_of("try");
	pid_t pid;
	int status;

	with(&next, (int)start);
	pid = fork();
	if (!pid)
		go_on(&next);
	EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	EXPECT(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3);
	return WEXITSTATUS(status);
}

static void until_free(off_t start)
{
	int i;

	for (i = 0; i < 600 && locked(start); i++)
		usleep(50000);
	EXPECT(i < 600);
}

/* ---- offsets, flags, close-on-exec ---- */

/* At byte `at` of a pattern. */
static void reads_on(int fd, size_t at, size_t n)
{
	EXPECT(pvfs_lseek(fd, 0, SEEK_CUR) == (int64_t)at);
	EXPECT(pvfs_read(fd, buf, n) == (ssize_t)n && filled(buf, n, 1, at));
}

static int open_dir(void)
{
	char ents[200];
	int i, fd;

	EXPECT(!pvfs_mkdir(in_dir("d"), 0755));
	for (i = 0; i < 10; i++) {
		char name[16];

		snprintf(name, sizeof(name), "d/%d", i);
		pvfs_close(open_in(name, O_CREAT | O_WRONLY));
	}
	fd = open_in("d", O_RDONLY | O_DIRECTORY);
	EXPECT(pvfs_getdents(fd, (struct dirent *)ents, sizeof(ents)) > 0);
	return fd;
}

static int count_rest(int fd)
{
	char ents[4096];
	ssize_t n = pvfs_getdents(fd, (struct dirent *)ents, sizeof(ents)), at;
	int count = 0;

	EXPECT(n >= 0);
	for (at = 0; at < n; count++)
		at += ((struct dirent *)(ents + at))->d_reclen;
	return count;
}

static void chain(void)
{
	struct next next = next_of("chain2");
	struct fpart part = { .offset = 10, .gsize = 5, .stride = 100 };
	int fd = open_in("chain", O_RDWR | O_CREAT), gone, kept, view, d;

	fill(buf, N, 1, 0);
	EXPECT(pvfs_write(fd, buf, N) == N);
	EXPECT(pvfs_lseek(fd, 300, SEEK_SET) == 300);
	gone = open_in("chain", O_RDWR | O_CLOEXEC);
	kept = open_in("chain", O_RDWR | O_CLOEXEC);
	EXPECT(!pvfs_fcntl(kept, F_SETFD, 0));
	view = open_in("chain", O_RDONLY);
	EXPECT(!pvfs_ioctl(view, SETPART, &part));
	EXPECT(pvfs_lseek(view, 7, SEEK_SET) == 7);
	d = open_dir();
	with(&next, fd);
	with(&next, pvfs_dup(fd));
	with(&next, open_in("chain", O_WRONLY | O_APPEND | O_SYNC));
	with(&next, gone);
	with(&next, kept);
	with(&next, view);
	with(&next, d);
	with(&next, 10 + 2 - count_rest(d));
	EXPECT(pvfs_lseek(d, 0, SEEK_SET) == 0);
	EXPECT(pvfs_getdents(d, (struct dirent *)buf, 200) > 0);
	go_on(&next);
}

static void check_flags(int append, int gone, int kept)
{
	EXPECT(pvfs_fcntl(append, F_GETFL) == (O_WRONLY | O_APPEND | O_SYNC));
	EXPECT(pvfs_fcntl(append, F_GETFD) == 0);
	EXPECT_ERRNO(pvfs_lseek(gone, 0, SEEK_CUR), EBADF);
	EXPECT(pvfs_fcntl(kept, F_GETFL) == O_RDWR);
	EXPECT_ERRNO(write(append, "x", 1), EBADF);
}

/* fd, a copy, one that appends, one that went, one that stayed, a view, a directory
 * and how much of it was read. */
static void chain2(void)
{
	struct next next = next_of("chain3");
	struct fpart part;
	struct stat st;

	check_flags(num(2), num(3), num(4));
	reads_on(num(0), 300, 500);
	reads_on(num(1), 800, 100); /* one offset */
	EXPECT(pvfs_write(num(2), "end", 3) == 3);
	EXPECT(pvfs_fstat(num(0), &st) == 0 && st.st_size == N + 3);
	EXPECT(pvfs_lseek(num(4), 0, SEEK_CUR) == 0);
	EXPECT(!pvfs_ioctl(num(5), GETPART, &part));
	EXPECT(part.offset == 10 && part.gsize == 5 && part.stride == 100);
	EXPECT(pvfs_lseek(num(5), 0, SEEK_CUR) == 7);
	EXPECT(pvfs_read(num(5), buf, 3) == 3 && filled(buf, 3, 1, 112));
	EXPECT(count_rest(num(6)) == 12 - num(7));
	EXPECT(pvfs_fcntl(num(2), F_SETFL, 0) == 0);
	with(&next, num(0));
	with(&next, num(1));
	with(&next, num(2));
	with(&next, open_in("chain", O_RDONLY));
	EXPECT(pvfs_close(num(1)) == 0);
	with(&next, count_fds());
	go_on(&next);
}

static void chain3(void)
{
	struct stat st;

	reads_on(num(0), 900, 100);
	EXPECT_ERRNO(pvfs_lseek(num(1), 0, SEEK_CUR), EBADF);
	EXPECT(pvfs_fcntl(num(2), F_GETFL) == (O_WRONLY | O_SYNC));
	reads_on(num(3), 0, 100);
	EXPECT(count_fds() <= num(4));
	EXPECT(pvfs_close(num(2)) == 0 && pvfs_close(num(0)) == 0);
	EXPECT(pvfs_fstat(num(3), &st) == 0 && st.st_size == N + 3);
}

/* ---- locks ---- */

static void take_locks(int fd)
{
	EXPECT(!set(fd, F_SETLK, F_WRLCK, 0, 10));
	EXPECT(!set(fd, F_OFD_SETLK, F_WRLCK, 20, 10));
	EXPECT(!pvfs_flock(fd, LOCK_EX));
}

static void locks(void)
{
	struct next next = next_of("locks2");
	int fd = open_in("locks", O_RDWR | O_CREAT);

	take_locks(fd);
	with(&next, fd);
	with(&next, open_in("locks", O_RDWR));
	go_on(&next);
}

/* Before it has called anybody, and behind that. */
static void locks2(void)
{
	struct next next = next_of("locks3");

	EXPECT(locked(0) && locked(20));
	EXPECT(!set(num(0), F_SETLK, F_WRLCK, 10, 10));
	EXPECT(!set(num(0), F_SETLK, F_UNLCK, 0, 5));
	EXPECT(locked(0) && locked(5) && locked(10) && locked(20));
	EXPECT_ERRNO(pvfs_flock(num(1), LOCK_EX | LOCK_NB), EWOULDBLOCK);
	with(&next, num(0));
	with(&next, num(1));
	go_on(&next);
}

static void locks3(void)
{
	struct next next = next_of("locks4");
	int other;

	EXPECT(locked(5) && locked(10) && locked(20));
	EXPECT(pvfs_close(num(1)) == 0); /* any one of the file's */
	until_free(5);
	EXPECT(!locked(10) && locked(20));
	EXPECT(!set(num(0), F_SETLK, F_WRLCK, 0, 10) && locked(0));
	other = open_in("locks", O_RDWR | O_CLOEXEC);
	EXPECT_ERRNO(pvfs_flock(other, LOCK_EX | LOCK_NB), EWOULDBLOCK);
	with(&next, num(0));
	go_on(&next);
}

/* exec() has closed a descriptor of the file. */
static void locks4(void)
{
	EXPECT(!set(num(0), F_OFD_SETLK, F_WRLCK, 20, 10));
	until_free(0);
	EXPECT(locked(20));
	EXPECT(pvfs_close(num(0)) == 0);
	until_free(20);
}

/* idle, ends: the successor makes no call, for longer than session_timeout; or ends
 * at once. */
static void idle(void)
{
	struct next next = next_of("idle2");

	until_free(0); /* of between2() */
	take_locks(open_in("locks", O_RDWR));
	go_on(&next);
}

static void idle2(void)
{
	sleep(5);
	EXPECT(locked(0) && locked(20));
}

static void ends(void)
{
	struct next next = next_of("nothing");
	pid_t pid = fork();

	if (!pid) {
		take_locks(open_in("locks", O_RDWR | O_CREAT));
		go_on(&next);
	}
	reap(pid);
	EXPECT(!locked(0) && !locked(20));
}

static void nothing(void)
{
}

/* ---- children ---- */

static void child(void)
{
	struct next next = next_of("child2");
	int fd = open_in("locks", O_RDWR | O_CREAT);
	char cmd[600];
	pid_t pid;

	fill(buf, N, 1, 0);
	EXPECT(pvfs_write(fd, buf, N) == N);
	EXPECT(pvfs_lseek(fd, 5000, SEEK_SET) == 5000);
	take_locks(fd);
	with(&next, fd);
	run(&next);
	EXPECT(!posix_spawn(&pid, SELF, NULL, NULL, argv_of(&next), environ));
	reap(pid);
	snprintf(cmd, sizeof(cmd), "lib_exec child2 %s %d", dir, fd);
	EXPECT(system(cmd) == 0);
	pid = fork();
	if (!pid) {
		EXPECT(pvfs_lseek(fd, 0, SEEK_CUR) == 5000);
		go_on(&next);
	}
	reap(pid);
	/* nothing of ours has changed */
	EXPECT(pvfs_lseek(fd, 0, SEEK_CUR) == 5000);
	EXPECT(locked(0) && locked(20));
	reads_on(fd, 5000, 100);
}

static void child2(void)
{
	struct flock lk = { .l_type = F_WRLCK, .l_len = 10 };
	struct next next = next_of("child3");

	reads_on(num(0), 5000, 1000);
	EXPECT(!pvfs_fcntl(num(0), F_GETLK, &lk) && lk.l_type == F_WRLCK);
	EXPECT_ERRNO(set(num(0), F_SETLK, F_WRLCK, 0, 10), EAGAIN);
	EXPECT(pvfs_pwrite(num(0), buf, 10, N) == 10);
	EXPECT(!set(num(0), F_SETLK, F_WRLCK, 50, 10));
	with(&next, num(0));
	go_on(&next);
}

/* What a child has taken since is its own. */
static void child3(void)
{
	EXPECT(locked(50));
	EXPECT(!set(num(0), F_SETLK, F_WRLCK, 60, 10));
	reads_on(num(0), 6000, 1000);
	EXPECT(pvfs_close(num(0)) == 0);
	until_free(50);
}

/* ---- what else there is ---- */

static void fails(void)
{
	int fd = open_in("locks", O_RDWR | O_CREAT | O_TRUNC);
	char *argv[] = { (char *)"x", NULL };

	fill(buf, N, 1, 0);
	EXPECT(pvfs_write(fd, buf, N) == N);
	EXPECT(pvfs_lseek(fd, 70, SEEK_SET) == 70);
	take_locks(fd);
	EXPECT_ERRNO(execv("/nowhere", argv), ENOENT);
	EXPECT_ERRNO(execv("/", argv), EACCES);
	EXPECT(locked(0) && locked(20));
	reads_on(fd, 70, 100);
	EXPECT(pvfs_close(fd) == 0);
	until_free(0);
}

static void orphan(void)
{
	struct next next = next_of("orphan2");
	int fd = open_in("orphan", O_RDWR | O_CREAT | O_EXCL);

	fill(buf, N, 1, 0);
	EXPECT(pvfs_write(fd, buf, N) == N);
	EXPECT(!pvfs_unlink(in_dir("orphan")));
	EXPECT(pvfs_lseek(fd, 0, SEEK_SET) == 0);
	with(&next, fd);
	run(&next); /* a child has it, too */
	EXPECT(pvfs_lseek(fd, 0, SEEK_SET) == 0);
	go_on(&next);
}

static void orphan2(void)
{
	struct stat st;

	reads_on(num(0), 0, N);
	EXPECT(pvfs_write(num(0), buf, 10) == 10);
	EXPECT(pvfs_fstat(num(0), &st) == 0 && st.st_size == N + 10);
	EXPECT(st.st_nlink == 0);
}

/* Another program waits until the file GO is there, and makes READY before. */
static void restart(void)
{
	int fd = open_in("restart", O_RDWR | O_CREAT);
	char cmd[600];

	fill(buf, N, 1, 0);
	EXPECT(pvfs_write(fd, buf, N) == N);
	EXPECT(!pvfs_unlink(in_dir("restart")));
	EXPECT(pvfs_lseek(fd, 123, SEEK_SET) == 123);
	EXPECT(!set(open_in("locks", O_RDWR | O_CREAT), F_SETLK, F_WRLCK, 70,
		    10));
	snprintf(cmd, sizeof(cmd),
		 ">\"$READY\"; until [ -e \"$GO\" ]; do sleep 0.1; done; "
		 "exec lib_exec restart2 %s %d",
		 dir, fd);
	execl("/bin/sh", "sh", "-c", cmd, NULL);
	EXPECT(!"exec");
}

static void restart2(void)
{
	EXPECT(locked(70));
	reads_on(num(0), 123, N - 123);
	EXPECT(pvfs_write(num(0), buf, 10) == 10);
	EXPECT(locked(70));
}

/* A program that knows nothing of us comes in between; and one that closes all. */
static void between(void)
{
	int fd = open_in("locks", O_RDWR | O_CREAT | O_TRUNC);
	char cmd[600];

	fill(buf, N, 1, 0);
	EXPECT(pvfs_write(fd, buf, N) == N);
	EXPECT(pvfs_lseek(fd, 123, SEEK_SET) == 123);
	take_locks(fd);
	snprintf(cmd, sizeof(cmd), "exec env lib_exec between2 %s %d", dir, fd);
	execl("/bin/sh", "sh", "-c", cmd, NULL);
	EXPECT(!"exec");
}

static void between2(void)
{
	struct next next = next_of("closed");
	int i;

	EXPECT(locked(0) && locked(20));
	reads_on(num(0), 123, 100);
	with(&next, num(0));
	with(&next, num(0));
	for (i = 3; i < 1024; i++)
		close(i);
	go_on(&next);
}

static void closed(void)
{
	EXPECT_ERRNO(pvfs_lseek(num(0), 0, SEEK_CUR), EBADF);
}

static void *write_on(void *p)
{
	const int *fd = p;

	while (pvfs_pwrite(*fd, buf, sizeof(buf), 0) == sizeof(buf))
		;
	return NULL;
}

/* What was under way is done before, or never. */
static void threads(void)
{
	struct next next = next_of("threads2");
	static int fd;
	pthread_t thread;
	int i;

	fd = open_in("threads", O_RDWR | O_CREAT);
	fill(buf, sizeof(buf), 1, 0);
	for (i = 0; i < 4; i++)
		EXPECT(!pthread_create(&thread, NULL, write_on, &fd));
	usleep(20000);
	with(&next, fd);
	go_on(&next);
}

static void threads2(void)
{
	static unsigned char have[2 * N];
	int i;

	fill(buf, sizeof(buf), 2, 0);
	EXPECT(pvfs_pwrite(num(0), buf, sizeof(buf), 0) == sizeof(buf));
	for (i = 0; i < 5; i++) {
		usleep(20000);
		EXPECT(pvfs_pread(num(0), have, sizeof(have), 0) ==
		       sizeof(have));
		EXPECT(filled(have, sizeof(have), 2, 0));
	}
}

/* Another process has the lock until the pipe ends. */
static int hold(off_t start)
{
	int ready[2], go[2];
	char byte;

	EXPECT(!pipe(ready) && !pipe(go));
	if (!fork()) {
		close(go[1]);
		EXPECT(!set(open_in("locks", O_RDWR | O_CREAT), F_SETLK,
			    F_WRLCK, start, 10));
		EXPECT(write(ready[1], "x", 1) == 1);
		exit(read(go[0], &byte, 1));
	}
	close(go[0]);
	EXPECT(read(ready[0], &byte, 1) == 1);
	return go[1];
}

static void *wait_for_lock(void *p)
{
	const int *fd = p;

	set(*fd, F_SETLKW, F_WRLCK, 80, 10);
	return NULL;
}

/* A thread waits for a lock; there is no thread any more, and nobody gets it. */
static void waits(void)
{
	struct next next = next_of("waits2");
	static int fd;
	pthread_t thread;

	fd = open_in("locks", O_RDWR | O_CREAT);
	with(&next, fd);
	with(&next, hold(80));
	EXPECT(!pthread_create(&thread, NULL, wait_for_lock, &fd));
	usleep(100000);
	go_on(&next);
}

static void waits2(void)
{
	EXPECT(locked(80));
	EXPECT(!set(num(0), F_SETLK, F_WRLCK, 95, 10));
	EXPECT(locked(80) && locked(95));
	EXPECT(!close(num(1)));
	until_free(80);
	EXPECT(locked(95));
}

/* again COUNT: many times, one behind the other. */
static void again(void)
{
	struct next next = next_of("again");
	int fd = num(1);

	if (fd < 0) {
		fd = open_in("again", O_RDWR | O_CREAT | O_TRUNC);
		EXPECT(!set(fd, F_SETLK, F_WRLCK, 0, 10));
	}
	if (num(0) % 3) { /* in between, some do not look at it */
		EXPECT(pvfs_write(fd, "x", 1) == 1);
		EXPECT(pvfs_lseek(fd, 0, SEEK_CUR) == num(2) + 1);
	}
	if (!num(0))
		return;
	with(&next, num(0) - 1);
	with(&next, fd);
	with(&next, num(2) + !!(num(0) % 3));
	go_on(&next);
}

static int try_lock(void)
{
	return is_locked();
}

/* clang-format off */
#define PART(name) { #name, name }
/* clang-format on */

static const struct {
	const char *name;
	void (*fn)(void);
} parts[] = {
	PART(chain),	PART(chain2),	PART(chain3),  PART(locks),
	PART(locks2),	PART(locks3),	PART(locks4),  PART(idle),
	PART(idle2),	PART(ends),	PART(nothing), PART(child),
	PART(child2),	PART(fails),	PART(orphan),  PART(orphan2),
	PART(between),	PART(between2), PART(closed),  PART(threads),
	PART(threads2), PART(again),	PART(child3),  PART(restart),
	PART(restart2), PART(waits),	PART(waits2),
};

int main(int argc, char **argv)
{
	size_t i;

	EXPECT(argc >= 3);
	dir = argv[2];
	arg = argv + 3;
	if (!strcmp(argv[1], "try"))
		return try_lock();
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(argv[1], parts[i].name))
			continue;
		parts[i].fn();
		return 0;
	}
	fprintf(stderr, "lib_exec: %s?\n", argv[1]);
	return 2;
}
