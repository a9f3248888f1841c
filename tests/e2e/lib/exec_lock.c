/* SPDX-License-Identifier: BSD-2-Clause */
/* exec_lock.c - locks that a process holds survive its exec(), and end as without one. */
#include "tests/e2e/lib/exec_rig.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"
#include <pvfs.h>

static void locks(void)
{
	struct next next = next_of("locks2");
	int fd = open_in("locks", O_RDWR | O_CREAT);

	take_locks(fd);
	with(&next, fd);
	with(&next, open_in("locks", O_RDWR));
	go_on(&next);
}

/* Checks the locks before and after the first request of the new program to a server. */
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
	/* the close of any descriptor of the file releases the record locks of the process */
	EXPECT(pvfs_close(num(1)) == 0);
	until_free(5);
	EXPECT(!locked(10) && locked(20));
	EXPECT(!set(num(0), F_SETLK, F_WRLCK, 0, 10) && locked(0));
	other = open_in("locks", O_RDWR | O_CLOEXEC);
	EXPECT_ERRNO(pvfs_flock(other, LOCK_EX | LOCK_NB), EWOULDBLOCK);
	with(&next, num(0));
	go_on(&next);
}

/* The descriptor that exec() has closed was one of this file: its close ended the record locks. */
static void locks4(void)
{
	EXPECT(!set(num(0), F_OFD_SETLK, F_WRLCK, 20, 10));
	until_free(0);
	EXPECT(locked(20));
	EXPECT(pvfs_close(num(0)) == 0);
	until_free(20);
}

/*
 * The new program of idle() makes no call for longer than session_timeout. That of ends() exits at
 * once.
 */
static void idle(void)
{
	struct next next = next_of("idle2");

	until_free(0); /* waits until the locks of between2() are free */
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
	pid_t pid = quiet_fork();

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

/* Starts a program that holds ten bytes from start until the returned pipe is closed. */
static int hold(off_t start)
{
	struct next next = next_of("holder");
	int ready[2], go[2];
	char byte;

	EXPECT(!pipe(ready) && !pipe(go));
	with(&next, (int)start);
	with(&next, ready[1]);
	with(&next, go[0]);
	if (!quiet_fork()) {
		close(go[1]);
		go_on(&next);
	}
	close(go[0]);
	EXPECT(read(ready[0], &byte, 1) == 1);
	return go[1];
}

static void holder(void)
{
	char byte;

	EXPECT(!set(open_in("locks", O_RDWR | O_CREAT), F_SETLK, F_WRLCK,
		    num(0), 10));
	EXPECT(write(num(1), "x", 1) == 1);
	exit(read(num(2), &byte, 1));
}

static void *wait_for_lock(void *p)
{
	const int *fd = p;

	set(*fd, F_SETLKW, F_WRLCK, 80, 10);
	return NULL;
}

/*
 * One thread waits for a lock when another one calls exec(). The waiting thread ends, and the
 * process does not get the lock.
 */
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

const struct exec_part exec_lock_parts[] = {
	PART(locks), PART(locks2), PART(locks3), PART(locks4),
	PART(idle),  PART(idle2),  PART(ends),	 PART(nothing),
	PART(waits), PART(waits2), PART(holder), { 0 },
};
