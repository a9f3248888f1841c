/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_exec.c - open files and locks survive exec().
 *
 * 	lib_exec PART DIR [ARGUMENT...]
 *
 * Each part does its checks, and then executes the next part if it has one.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/lib/exec_rig.h"
#include "tests/e2e/lib/expect.h"
#include <pvfs.h>

static void fails(void)
{
	int fd = open_in("locks", O_RDWR | O_CREAT | O_TRUNC);
	char *argv[] = { (char *)"x", NULL };

	fill(bytes, N, 1, 0);
	EXPECT(pvfs_write(fd, bytes, N) == N);
	EXPECT(pvfs_lseek(fd, 70, SEEK_SET) == 70);
	take_locks(fd);
	EXPECT_ERRNO(execv("/nowhere", argv), ENOENT);
	EXPECT_ERRNO(execv("/", argv), EACCES);
	EXPECT(locked(0) && locked(20));
	reads_on(fd, 70, 100);
	EXPECT(pvfs_close(fd) == 0);
	until_free(0);
}

/* A shell runs between the two parts: it creates READY and waits until the file GO exists. */
static void restart(void)
{
	int fd = open_in("restart", O_RDWR | O_CREAT);
	char cmd[600];

	fill(bytes, N, 1, 0);
	EXPECT(pvfs_write(fd, bytes, N) == N);
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
	EXPECT(pvfs_write(num(0), bytes, 10) == 10);
	EXPECT(locked(70));
}

/* The next program is a shell, which does not use PVFS.  A later part closes all descriptors. */
static void between(void)
{
	int fd = open_in("locks", O_RDWR | O_CREAT | O_TRUNC);
	char cmd[600];

	fill(bytes, N, 1, 0);
	EXPECT(pvfs_write(fd, bytes, N) == N);
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

	while (pvfs_pwrite(*fd, bytes, sizeof(bytes), 0) == sizeof(bytes))
		;
	return NULL;
}

/* Writes in flight complete before the exec, or are never executed. */
static void threads(void)
{
	struct next next = next_of("threads2");
	static int fd;
	pthread_t thread;
	int i;

	fd = open_in("threads", O_RDWR | O_CREAT);
	fill(bytes, sizeof(bytes), 1, 0);
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

	fill(bytes, sizeof(bytes), 2, 0);
	EXPECT(pvfs_pwrite(num(0), bytes, sizeof(bytes), 0) == sizeof(bytes));
	for (i = 0; i < 5; i++) {
		usleep(20000);
		EXPECT(pvfs_pread(num(0), have, sizeof(have), 0) ==
		       sizeof(have));
		EXPECT(filled(have, sizeof(have), 2, 0));
	}
}

/* The arguments are COUNT, a descriptor and an offset: executes itself COUNT times. */
static void again(void)
{
	struct next next = next_of("again");
	int fd = num(1);

	if (fd < 0) {
		fd = open_in("again", O_RDWR | O_CREAT | O_TRUNC);
		EXPECT(!set(fd, F_SETLK, F_WRLCK, 0, 10));
	}
	if (num(0) % 3) { /* every third program makes no call on the file */
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

/*
 * Runs lib_exec try DIR START; see locked(). The exit status is 3 if another process has a lock.
 */
static int try_lock(void)
{
	int fd = open_in("locks", O_RDWR);

	if (!set(fd, F_SETLK, F_WRLCK, num(0), 10))
		return 0;
	EXPECT(errno == EAGAIN);
	return 3;
}

static const struct exec_part other_parts[] = {
	PART(fails),	PART(restart), PART(restart2), PART(between),
	PART(between2), PART(closed),  PART(threads),  PART(threads2),
	PART(again),	{ 0 },
};

static const struct exec_part *find(const struct exec_part *part,
				    const char *name)
{
	while (part->name && strcmp(part->name, name))
		part++;
	return part->name ? part : NULL;
}

int main(int argc, char **argv)
{
	static const struct exec_part *const parts[] = {
		exec_open_parts, exec_lock_parts, exec_child_parts, other_parts
	};
	const struct exec_part *part = NULL;
	size_t i;

	EXPECT(argc >= 3);
	dir = argv[2];
	arg = argv + 3;
	if (!strcmp(argv[1], "try"))
		return try_lock();
	for (i = 0; !part && i < sizeof(parts) / sizeof(parts[0]); i++)
		part = find(parts[i], argv[1]);
	if (!part) {
		fprintf(stderr, "lib_exec: %s?\n", argv[1]);
		return 2;
	}
	part->fn();
	return 0;
}
