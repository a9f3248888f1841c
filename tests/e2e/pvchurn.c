/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvchurn.c - creates, moves, links and removes a few names that other processes change, too,
 * without end. Missing and existing names are expected; any other error ends the program.
 *
 * usage: pvchurn DIR SEED
 */
#include <errno.h>
#include <fcntl.h>
#include <pvfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 12

static unsigned int seed;

static unsigned int rnd(unsigned int n)
{
	return (unsigned int)rand_r(&seed) / 7 % n;
}

static const char *some(const char *dir, char path[256])
{
	if (rnd(3))
		snprintf(path, 256, "%s/d%u/n%u", dir, rnd(3), rnd(NAMES));
	else
		snprintf(path, 256, "%s/d%u", dir, rnd(3));
	return path;
}

/*
 * If an iod was killed, it may have executed the change, and other clients may have overwritten it
 * since. Then the call fails with EIO once, and is repeated.
 */
static int open_file(const char *path)
{
	int flags = O_RDWR | O_CREAT | (rnd(2) ? O_TRUNC : 0);
	int fd = pvfs_open(path, flags, 0644);

	return fd < 0 && errno == EIO ? pvfs_open(path, flags, 0644) : fd;
}

static ssize_t write_some(int fd)
{
	static char data[200000];
	size_t len = 1 + rnd(sizeof(data) - 1);
	unsigned int off = rnd(200000);
	ssize_t n = pvfs_pwrite(fd, data, len, off);

	return n < 0 && errno == EIO ? pvfs_pwrite(fd, data, len, off) : n;
}

static int put(const char *path)
{
	int fd = open_file(path);

	if (fd < 0)
		return -1;
	if (write_some(fd) < 0 && errno != ESTALE)
		return -1;
	return pvfs_close(fd);
}

static int step(const char *dir)
{
	char a[256], b[256];

	some(dir, a);
	some(dir, b);
	switch (rnd(8)) {
	case 0:
	case 1:
	case 2:
		return put(a);
	case 3:
	case 4:
		return pvfs_rename(a, b);
	case 5:
		return pvfs_link(a, b);
	case 6:
		return rnd(4) ? pvfs_unlink(a) : pvfs_rmdir(a);
	default:
		return pvfs_mkdir(a, 0755);
	}
}

static int expected(int e)
{
	return e == ENOENT || e == EEXIST || e == ENOTDIR || e == EISDIR ||
	       e == ENOTEMPTY || e == EPERM || e == EINVAL || e == EBUSY;
}

int main(int argc, char **argv)
{
	seed = argc == 3 ? (unsigned int)atoi(argv[2]) : 0;
	while (argc == 3) {
		if (!step(argv[1]) || expected(errno))
			continue;
		fprintf(stderr, "pvchurn: %s\n", strerror(errno));
		return 1;
	}
	return 2;
}
