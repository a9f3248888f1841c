/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_times.c - another process reads the mtime of a file while it is written. Neither chmod() nor
 * an open hides a write, and an explicit time holds until the next write.
 *
 * usage: lib_times DIR
 */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"
#include <pvfs.h>

static char path[256];

/* Reads the mtime in another process, so in another session. */
static time_t seen(void)
{
	struct stat st;
	time_t t = 0;
	int fds[2], status;
	pid_t pid;

	EXPECT(pipe(fds) == 0);
	pid = quiet_fork();
	EXPECT(pid >= 0);
	if (pid == 0) {
		EXPECT(pvfs_stat(path, &st) == 0);
		EXPECT(write(fds[1], &st.st_mtime, sizeof(t)) == sizeof(t));
		_exit(0);
	}
	EXPECT(read(fds[0], &t, sizeof(t)) == sizeof(t));
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	close(fds[0]);
	close(fds[1]);
	return t;
}

int main(int argc, char **argv)
{
	const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
	time_t before;
	int fd;

	EXPECT(argc == 2);
	snprintf(path, sizeof(path), "%s/times", argv[1]);
	fd = pvfs_open(path, O_RDWR | O_CREAT, 0644);
	EXPECT(fd >= 0);
	sleep(2); /* file times have a coarse resolution */
	before = time(NULL) - 1;
	EXPECT(pvfs_write(fd, "abc", 3) == 3);
	EXPECT(pvfs_chmod(path, 0600) == 0);
	EXPECT(seen() >= before);

	sleep(1);
	EXPECT(pvfs_futimens(fd, old) == 0);
	EXPECT(seen() == 1000);
	EXPECT(pvfs_chmod(path, 0644) == 0);
	EXPECT(seen() == 1000);
	sleep(1);
	EXPECT(pvfs_write(fd, "def", 3) == 3);
	EXPECT(seen() >= before);
	EXPECT(pvfs_close(fd) == 0);
	EXPECT(seen() >= before);
	puts("ok");
	return 0;
}
