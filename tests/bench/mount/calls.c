/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.c - what single calls take, below a folder: calls [-p] DIR.  -p: by libpvfs
 * instead of the system.  A line a call: its name and microseconds, the mean.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pvfs.h"

#define SPAN (64u << 20) /* bytes of the file */
#define MAX (4u << 20)

static const char *dir;
static bool own; /* by libpvfs */
static char *buf;
static int fd;
static char path[4096];

static void must(const char *what, bool ok)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static const char *name(unsigned int i)
{
	snprintf(path, sizeof(path), "%s/calls.%u", dir, i);
	return path;
}

static int do_open(const char *p, int flags)
{
	int f = own ? pvfs_open(p, flags, 0644) : open(p, flags, 0644);

	must("open", f >= 0);
	return f;
}

static void do_close(int f)
{
	must("close", !(own ? pvfs_close(f) : close(f)));
}

static off_t place(size_t len)
{
	return (off_t)((size_t)rand() % (SPAN / len) * len);
}

static void c_write(size_t len, unsigned int i)
{
	off_t off = place(len);

	must("write", (own ? pvfs_pwrite(fd, buf, len, off)
			   : pwrite(fd, buf, len, off)) == (ssize_t)len);
}

static void c_read(size_t len, unsigned int i)
{
	off_t off = place(len);

	must("read", (own ? pvfs_pread(fd, buf, len, off)
			  : pread(fd, buf, len, off)) == (ssize_t)len);
}

static void c_stat(size_t len, unsigned int i)
{
	struct stat st;

	name(0);
	must("stat", !(own ? pvfs_stat(path, &st) : stat(path, &st)));
}

static void c_open(size_t len, unsigned int i)
{
	do_close(do_open(name(0), O_RDONLY));
}

static void c_create(size_t len, unsigned int i)
{
	do_close(do_open(name(i + 1), O_RDWR | O_CREAT | O_EXCL));
}

static void c_unlink(size_t len, unsigned int i)
{
	name(i + 1);
	must("unlink", !(own ? pvfs_unlink(path) : unlink(path)));
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const struct measured {
	const char *what;
	void (*call)(size_t len, unsigned int i);
	size_t len;
	unsigned int n;
} open_file[] = {
	{ "write-4K", c_write, 4096, 3000 },
	{ "read-4K", c_read, 4096, 3000 },
	{ "write-64K", c_write, 65536, 1500 },
	{ "read-64K", c_read, 65536, 1500 },
	{ "write-1M", c_write, 1u << 20, 300 },
	{ "read-1M", c_read, 1u << 20, 300 },
	{ "write-4M", c_write, MAX, 80 },
	{ "read-4M", c_read, MAX, 80 },
}, names[] = {
	{ "stat", c_stat, 0, 2000 },
	{ "open+close", c_open, 0, 1500 },
	{ "create", c_create, 0, 1000 },
	{ "unlink", c_unlink, 0, 1000 },
};

static void measure(const struct measured *m, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		double t = now();

		for (unsigned int i = 0; i < m[k].n; i++)
			m[k].call(m[k].len, i);
		printf("%s %.2f\n", m[k].what, (now() - t) / m[k].n * 1e6);
	}
}

int main(int argc, char **argv)
{
	own = argc == 3 && !strcmp(argv[1], "-p");
	if (argc != 2 + own) {
		fputs("usage: calls [-p] DIR\n", stderr);
		return 2;
	}
	dir = argv[1 + own];
	buf = aligned_alloc(4096, MAX);
	must("memory", buf);
	memset(buf, 1, MAX);
	fd = do_open(name(0), O_RDWR | O_CREAT);
	for (unsigned int at = 0; at < SPAN; at += MAX)
		must("write", (own ? pvfs_pwrite(fd, buf, MAX, at)
				   : pwrite(fd, buf, MAX, at)) == MAX);
	measure(open_file, sizeof(open_file) / sizeof(open_file[0]));
	do_close(fd);
	measure(names, sizeof(names) / sizeof(names[0]));
	c_unlink(0, (unsigned int)-1);
	free(buf);
	return 0;
}
