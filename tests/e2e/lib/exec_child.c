/* SPDX-License-Identifier: BSD-2-Clause */
/* exec_child.c - children that execute another program. */
#include "tests/e2e/lib/exec_rig.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"
#include <pvfs.h>

static void child(void)
{
	struct next next = next_of("child2");
	int fd = open_in("locks", O_RDWR | O_CREAT);
	char cmd[600];
	pid_t pid;

	fill(bytes, N, 1, 0);
	EXPECT(pvfs_write(fd, bytes, N) == N);
	EXPECT(pvfs_lseek(fd, 5000, SEEK_SET) == 5000);
	take_locks(fd);
	with(&next, fd);
	run(&next);
	EXPECT(!posix_spawn(&pid, SELF, NULL, NULL, argv_of(&next), environ));
	reap(pid);
	snprintf(cmd, sizeof(cmd), "lib_exec child2 %s %d", dir, fd);
	EXPECT(system(cmd) == 0);
	pid = quiet_fork();
	if (!pid) {
		EXPECT(pvfs_lseek(fd, 0, SEEK_CUR) == 5000);
		go_on(&next);
	}
	reap(pid);
	/* the children have changed nothing of the parent */
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
	EXPECT(pvfs_pwrite(num(0), bytes, 10, N) == 10);
	EXPECT(!set(num(0), F_SETLK, F_WRLCK, 50, 10));
	with(&next, num(0));
	go_on(&next);
}

/* Locks that a child has taken after the fork are its own. */
static void child3(void)
{
	EXPECT(locked(50));
	EXPECT(!set(num(0), F_SETLK, F_WRLCK, 60, 10));
	reads_on(num(0), 6000, 1000);
	EXPECT(pvfs_close(num(0)) == 0);
	until_free(50);
}

const struct exec_part exec_child_parts[] = {
	PART(child),
	PART(child2),
	PART(child3),
	{ 0 },
};
