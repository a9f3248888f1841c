/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_io.c - one client's sequential or random reads and writes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "pvfs.h"

/* Kept between preparation and the measured part: one client, one process. */
struct client {
	char path[4096];
	char *buf;
	int fd;
};

static ssize_t put(const struct bench_io_arg *a, int fd, const char *buf,
		   size_t len, int64_t off)
{
	return a->pvfs ? pvfs_pwrite(fd, buf, len, off)
		       : pwrite(fd, buf, len, off);
}

static ssize_t get(const struct bench_io_arg *a, int fd, char *buf, size_t len,
		   int64_t off)
{
	return a->pvfs ? pvfs_pread(fd, buf, len, off)
		       : pread(fd, buf, len, off);
}

/* File contents exist before an overwrite or a read is measured. */
static int fill(const struct bench_io_arg *a, struct client *c)
{
	struct stat st;
	uint64_t step = 4u << 20;
	char *big;

	if ((a->pvfs ? pvfs_fstat(c->fd, &st) : fstat(c->fd, &st)) == 0 &&
	    (uint64_t)st.st_size == a->share)
		return 0;
	big = malloc(step);
	if (!big)
		return -1;
	memset(big, 2, step);
	for (uint64_t off = 0; off < a->share; off += step) {
		uint64_t n = a->share - off < step ? a->share - off : step;

		if (put(a, c->fd, big, n, (int64_t)off) != (ssize_t)n)
			return -1;
	}
	free(big);
	return 0;
}

static int prepare(const struct bench *b, const struct bench_io_arg *a,
		   unsigned int rank, struct client *c)
{
	snprintf(c->path, sizeof(c->path), "%s/bench-io.%u",
		 a->pvfs ? b->dir : b->local, rank);
	if (a->io == BENCH_WRITE_NEW) {
		if (a->pvfs)
			pvfs_unlink(c->path);
		else
			unlink(c->path);
	}
	c->fd = a->pvfs ? pvfs_open(c->path, O_CREAT | O_RDWR, 0600)
			: open(c->path, O_CREAT | O_RDWR, 0600);
	c->buf = malloc(a->call);
	if (c->fd < 0 || !c->buf) {
		perror(c->path);
		return -1;
	}
	memset(c->buf, (int)rank + 1, a->call);
	if (a->io != BENCH_WRITE_NEW && fill(a, c)) {
		perror(c->path);
		return -1;
	}
	/* connections are made and buffers warm: one call is not measured */
	if (a->io != BENCH_WRITE_NEW)
		return get(a, c->fd, c->buf, a->call, 0) < 0;
	return 0;
}

static uint64_t place(const struct bench_io_arg *a, uint64_t i, uint64_t n)
{
	return a->random ? (i * 7919 + 13) % n : i;
}

static int measure(const struct bench_io_arg *a, struct client *c)
{
	uint64_t n = a->share / a->call;
	uint64_t calls = a->random && n > 20000 ? 20000 : n;

	for (uint64_t i = 0; i < calls; i++) {
		int64_t off = (int64_t)(place(a, i, n) * a->call);
		ssize_t r = a->io == BENCH_READ
				    ? get(a, c->fd, c->buf, a->call, off)
				    : put(a, c->fd, c->buf, a->call, off);

		if (r != (ssize_t)a->call) {
			perror(c->path);
			return -1;
		}
	}
	return 0;
}

int bench_io_client(const struct bench *b, void *arg, unsigned int rank,
		    bool go)
{
	static struct client c;

	return go ? measure(arg, &c) : prepare(b, arg, rank, &c);
}
