/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_append.c - an append goes to the end of the file. This also holds if the same descriptor, or
 * another appending one, extended the file by fallocate() or pwrite().
 *
 * usage: lib_append DIR (also run as a plain user)
 */
#include <fcntl.h>
#include <pvfs.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"

static char path[256];

static int open_it(void)
{
	int fd = pvfs_open(path, O_RDWR | O_CREAT | O_APPEND, 0644);

	EXPECT(fd >= 0);
	return fd;
}

static void add(int fd, const char *text, int64_t at)
{
	size_t len = strlen(text);
	char have[16] = "";

	EXPECT(pvfs_write(fd, text, len) == (ssize_t)len);
	EXPECT(pvfs_pread(fd, have, len, at) == (ssize_t)len);
	EXPECT(!memcmp(have, text, len));
	EXPECT(pvfs_lseek(fd, 0, SEEK_END) == at + (int64_t)len);
}

/* One of two appending descriptors extends the file by fallocate(). */
static void behind_space(int a, int b)
{
	add(a, "one", 0);
	add(b, "two", 3);
	EXPECT(pvfs_fallocate(a, 0, 0, 200000) == 0);
	add(b, "three", 200000);
	add(a, "four", 200005);
	EXPECT(pvfs_fallocate(b, FALLOC_FL_KEEP_SIZE, 0, 400000) == 0);
	add(a, "five", 200009);
}

/* One of the two descriptors stops appending and writes at an offset. */
static void behind_writes(int a, int b)
{
	EXPECT(pvfs_fcntl(a, F_SETFL, 0) == 0);
	EXPECT(pvfs_pwrite(a, "far", 3, 300000) == 3);
	add(b, "six", 300003);
	EXPECT(pvfs_fcntl(a, F_SETFL, O_APPEND) == 0);
	add(a, "seven", 300006);
}

int main(int argc, char **argv)
{
	int a, b;

	EXPECT(argc == 2);
	snprintf(path, sizeof(path), "%s/append.%d", argv[1], (int)getuid());
	a = open_it();
	b = open_it();
	/* an open descriptor stays usable after a change of the mode */
	EXPECT(pvfs_fchmod(a, 0) == 0);
	behind_space(a, b);
	behind_writes(a, b);
	EXPECT(pvfs_close(a) == 0 && pvfs_close(b) == 0);
	EXPECT(pvfs_chmod(path, 0600) == 0);
	b = open_it();
	add(b, "eight", 300011);
	EXPECT(pvfs_close(b) == 0 && pvfs_unlink(path) == 0);
	puts("ok");
	return 0;
}
