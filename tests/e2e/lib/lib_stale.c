/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_stale.c - a client that was away for so long that the servers ended
 * its session goes on with its open files, but for those that it had locked.
 */
#include <sys/file.h>
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

/* lib_stale DIR: says "ready", goes on after a line on stdin */
int main(int argc, char **argv)
{
	int plain, append, reader, gone, locked, process[3], i;
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
	for (i = 0; i < 3; i++)
		EXPECT_ERRNO(pvfs_write(process[i], buf, N), ESTALE);
	/* with it go all the process' locks */
	EXPECT(pvfs_close(process[0]) == 0);
	for (i = 1; i < 3; i++) {
		EXPECT(pvfs_write(process[i], buf, N) == N);
		EXPECT(pvfs_close(process[i]) == 0);
	}
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
