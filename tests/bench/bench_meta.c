/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_meta.c - the creates, stats, unlinks and readdirs of one client. */
#include <errno.h>
#include <stdio.h>

#include "tests/bench/bench.h"
#include <pvfs.h>

#define STAT_BYTES 100000 /* bytes of a file, which are on two stripes */

static void name_of(const struct bench *b, unsigned int rank, unsigned int i,
		    char *path)
{
	snprintf(path, 4096, "%s/meta.%u/file.%u", b->dir, rank, i);
}

static int create(const char *path)
{
	int fd = pvfs_creat(path, 0644);

	return fd < 0 ? -1 : pvfs_close(fd);
}

static int check_size(const char *path)
{
	struct stat st;

	if (pvfs_stat(path, &st))
		return -1;
	if (st.st_size == STAT_BYTES)
		return 0;
	fprintf(stderr, "%s: size %lld is wrong\n", path,
		(long long)st.st_size);
	errno = EIO;
	return -1;
}

static int each(const struct bench *b, const struct bench_meta_arg *a,
		unsigned int rank, int (*fn)(const char *path))
{
	char path[4096];

	for (unsigned int i = 0; i < a->files; i++) {
		name_of(b, rank, i, path);
		if (fn(path)) {
			perror(path);
			return -1;
		}
	}
	return 0;
}

static int list(const struct bench *b, const struct bench_meta_arg *a,
		unsigned int rank)
{
	char path[4096];
	unsigned int n = 0;
	PVFS_DIR *d;

	snprintf(path, sizeof(path), "%s/meta.%u", b->dir, rank);
	d = pvfs_opendir(path);
	if (!d)
		return -1;
	while (pvfs_readdir(d))
		n++;
	pvfs_closedir(d);
	return n == a->files + 2 || n == a->files ? 0 : -1;
}

static int write_some(const char *path)
{
	static char data[STAT_BYTES];
	int fd = pvfs_open(path, O_WRONLY, 0);

	if (fd < 0 || pvfs_write(fd, data, sizeof(data)) != sizeof(data))
		return -1;
	return pvfs_close(fd);
}

static int prepare(const struct bench *b, const struct bench_meta_arg *a,
		   unsigned int rank)
{
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s/meta.%u", b->dir, rank);
	if (pvfs_mkdir(dir, 0755) && errno != EEXIST) {
		perror(dir);
		return -1;
	}
	return a->op == BENCH_STAT ? each(b, a, rank, write_some) : 0;
}

int bench_meta_client(const struct bench *b, void *arg, unsigned int rank,
		      bool go)
{
	const struct bench_meta_arg *a = arg;

	if (!go)
		return prepare(b, a, rank);
	switch (a->op) {
	case BENCH_CREATE:
		return each(b, a, rank, create);
	case BENCH_STAT:
		return each(b, a, rank, check_size);
	case BENCH_UNLINK:
		return each(b, a, rank, pvfs_unlink);
	default:
		return list(b, a, rank);
	}
}
