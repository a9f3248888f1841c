/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_close.c - a program closes removed files while servers are unavailable, and makes no further
 * call.
 *
 * usage: lib_close FILE; prints a word at each step, and then waits for a line on stdin
 */
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include <pvfs.h>

#define N 200000u

static unsigned char buf[N];

static void tell(const char *word)
{
	puts(word);
	fflush(stdout);
}

static void wait_for_line(void)
{
	char c;

	EXPECT(read(0, &c, 1) == 1);
}

static int make(const char *path)
{
	int fd = pvfs_open(path, O_RDWR | O_CREAT, 0644);

	EXPECT(fd >= 0);
	EXPECT(pvfs_write(fd, buf, N) == N);
	EXPECT(pvfs_unlink(path) == 0);
	return fd;
}

int main(int argc, char **argv)
{
	int fd, other;

	EXPECT(argc == 2);
	fd = make(argv[1]);
	other = make(argv[1]);
	tell("made");
	wait_for_line();
	EXPECT_ERRNO(pvfs_pwrite(fd, buf, N, 0), ETIMEDOUT);
	EXPECT(pvfs_close(fd) == 0);
	tell("closed one");
	wait_for_line();
	EXPECT(pvfs_close(other) == 0);
	tell("closed both");
	wait_for_line();
	tell("ok");
	return 0;
}
