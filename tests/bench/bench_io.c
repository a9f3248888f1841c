/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_io.c - one client's sequential or random reads and writes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/huge.h"
#include <pvfs.h>

/*
 * Calls before the measurement, to adjacent places of each iod.  At the fifth call the client
 * borrows the object.
 */
#define WARM_CALLS 20u
#define TIMES 16384u

/* The state of one client, a process, from the preparation to the measurement. */
struct client {
	char path[4096];
	char *buf;
	int fd;
	uint64_t first; /* offset of its first byte in the file */
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

static uint64_t file_len(const struct bench_io_arg *a)
{
	return a->file ?: a->share;
}

/* Fills the file, so that the measurement overwrites or reads existing data. */
static int fill(const struct bench_io_arg *a, struct client *c)
{
	struct stat st;
	uint64_t step = 4u << 20, len = file_len(a);
	char *big;

	if (a->layout == BENCH_OWN &&
	    (a->pvfs ? pvfs_fstat(c->fd, &st) : fstat(c->fd, &st)) == 0 &&
	    (uint64_t)st.st_size >= len)
		return 0;
	big = malloc(step);
	if (!big)
		return -1;
	memset(big, 2, step);
	for (uint64_t off = 0; off < len; off += step) {
		uint64_t n = len - off < step ? len - off : step;

		if (put(a, c->fd, big, n, (int64_t)(c->first + off)) !=
		    (ssize_t)n)
			return -1;
	}
	free(big);
	return 0;
}

static int open_file(const struct bench_io_arg *a, const char *path)
{
	struct pvfs_filestat meta = { .base = -1 };

	if (!a->pvfs)
		return open(path, O_CREAT | O_RDWR, 0600);
	if (a->pcount) {
		meta.base = (int32_t)a->base;
		meta.pcount = (int32_t)a->pcount;
	}
	return pvfs_open(path, O_CREAT | O_RDWR | O_META, 0600, &meta);
}

/*
 * Before the measurement: connects to all iods, borrows what they lend, and touches the buffer.
 */
static int warm(const struct bench_io_arg *a, struct client *c)
{
	for (uint64_t i = 0; i < WARM_CALLS; i++) {
		uint64_t off = (i << 16) % file_len(a);

		if (a->io == BENCH_WRITE &&
		    put(a, c->fd, c->buf, 1, (int64_t)(c->first + off)) < 0)
			return -1;
		if (get(a, c->fd, c->buf, 1, (int64_t)(c->first + off)) < 0)
			return -1;
	}
	return get(a, c->fd, c->buf, a->call, (int64_t)c->first) < 0 ? -1 : 0;
}

static int prepare(const struct bench *b, const struct bench_io_arg *a,
		   unsigned int rank, struct client *c)
{
	unsigned int whose = a->layout == BENCH_OWN ? rank : 0;

	snprintf(c->path, sizeof(c->path), "%s/bench-io.%u-%u-%u-%u",
		 a->pvfs ? b->dir : b->local, a->layout, a->base, a->pcount,
		 whose);
	c->first = a->layout == BENCH_PARTS ? rank * file_len(a) : 0;
	if (a->io == BENCH_WRITE_NEW) {
		if (a->pvfs)
			pvfs_unlink(c->path);
		else
			unlink(c->path);
	}
	c->fd = open_file(a, c->path);
	c->buf = huge_alloc(a->call);
	if (c->fd < 0 || !c->buf) {
		perror(c->path);
		return -1;
	}
	memset(c->buf, (int)rank + 1, a->call);
	if (a->io != BENCH_WRITE_NEW && fill(a, c)) {
		perror(c->path);
		return -1;
	}
	return a->io == BENCH_WRITE_NEW ? 0 : warm(a, c);
}

static uint64_t place(const struct bench_io_arg *a, uint64_t i, uint64_t n)
{
	return a->random ? (i * 7919 + 13) % n : i;
}

static int one_call(const struct bench_io_arg *a, struct client *c, int64_t off)
{
	ssize_t r = a->io == BENCH_READ ? get(a, c->fd, c->buf, a->call, off)
					: put(a, c->fd, c->buf, a->call, off);

	if (r == (ssize_t)a->call)
		return 0;
	perror(c->path);
	return -1;
}

static void nap(double secs)
{
	if (secs > 0)
		usleep((useconds_t)(secs * 1e6));
}

/* Seconds of the calls, in the memory of one client. */
struct times {
	double v[TIMES];
	uint64_t n;
};

static void timed(struct bench_io_done *done, struct times *t, double secs)
{
	done->secs += secs;
	done->calls++;
	t->v[t->n++ % TIMES] = secs;
}

static void add_ways(const struct bench_io_arg *a, const struct client *c,
		     struct bench_io_done *done, uint64_t sign)
{
	struct pvfs_way_counters w;

	if (!a->pvfs || pvfs_way_counters(c->fd, &w) < 0)
		return;
	done->inlined += sign * w.in_message;
	done->fast += sign * w.fast_rdma;
	done->direct += sign * w.by_server;
}

static int calls(const struct bench_io_arg *a, struct client *c,
		 struct bench_io_done *done)
{
	static struct times times;
	uint64_t n = file_len(a) / a->call, share = a->share / a->call;
	uint64_t most = a->random && share > 20000 ? 20000 : share;
	double begin = bench_now(), start, end;

	for (uint64_t i = 0; a->secs > 0 || i < most; i++) {
		nap(a->pause);
		start = bench_now();
		if (one_call(a, c,
			     (int64_t)(c->first + place(a, i % n, n) * a->call)))
			return -1;
		end = bench_now();
		timed(done, &times, end - start);
		if (a->secs > 0 && end - begin >= a->secs)
			break;
	}
	if (a->done)
		done->median = bench_median(
			times.v,
			(unsigned int)(times.n < TIMES ? times.n : TIMES));
	return 0;
}

static int measure(const struct bench_io_arg *a, struct client *c,
		   struct bench_io_done *done)
{
	int rc;

	add_ways(a, c, done, (uint64_t)-1);
	rc = calls(a, c, done);
	add_ways(a, c, done, 1);
	return rc;
}

int bench_io_client(const struct bench *b, void *arg, unsigned int rank,
		    bool go)
{
	const struct bench_io_arg *a = arg;
	struct bench_io_done unseen = { 0 };
	static struct client c;

	return go ? measure(a, &c, a->done ? &a->done[rank] : &unseen)
		  : prepare(b, a, rank, &c);
}
