/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_once.c - no change is executed twice when a session ends, and a call fails only with an error
 * of its own.
 *
 * usage: lib_once DIR
 */
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include <pvfs.h>

/* After "step", the test script breaks the connection in a defined way, and then sends a line. */
static void step(void)
{
	char c;

	puts("step");
	fflush(stdout);
	EXPECT(read(0, &c, 1) == 1);
}

static char *in(const char *dir, const char *name)
{
	static char path[8][256];
	static unsigned int n;

	snprintf(path[n % 8], sizeof(path[0]), "%s/%s", dir, name);
	return path[n++ % 8];
}

int main(int argc, char **argv)
{
	const char *dir = argv[1];
	struct stat st;
	int fd;

	EXPECT(argc == 2);
	fd = pvfs_open(in(dir, "file"), O_RDWR | O_CREAT, 0644);
	EXPECT(fd >= 0 && pvfs_write(fd, "abc", 3) == 3);

	step(); /* the request arrives; its reply is lost, and the session ends */
	EXPECT_ERRNO(pvfs_mkdir(in(dir, "made"), 0755), ECONNABORTED);
	EXPECT(pvfs_stat(in(dir, "made"), &st) == 0 && S_ISDIR(st.st_mode));
	EXPECT_ERRNO(pvfs_mkdir(in(dir, "made"), 0755), EEXIST);
	EXPECT(pvfs_write(fd, "def", 3) == 3);

	step(); /* the same for a call on an open file */
	EXPECT_ERRNO(pvfs_ftruncate(fd, 1), ECONNABORTED);
	EXPECT(pvfs_fstat(fd, &st) == 0 && st.st_size == 1);

	step(); /* a lookup is repeated */
	EXPECT(pvfs_stat(in(dir, "made"), &st) == 0 && S_ISDIR(st.st_mode));

	step(); /* the session has expired: the calls succeed in a new session */
	EXPECT(pvfs_rename(in(dir, "made"), in(dir, "moved")) == 0);
	EXPECT(pvfs_fchmod(fd, 0600) == 0);
	EXPECT(pvfs_close(fd) == 0);
	EXPECT(pvfs_rmdir(in(dir, "moved")) == 0);
	puts("ok");
	return 0;
}
