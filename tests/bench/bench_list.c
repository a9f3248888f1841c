/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_list.c - list I/O against piece by piece and against contiguous
 * transfers, in one run: bench_list [-r ROUNDS] DIR, a directory on PVFS.
 *
 *   small  8,192 pieces of 128 bytes, 1 KiB apart: time a piece
 *   large  64 KiB pieces, 128 KiB apart: rate beside contiguous transfers
 *   tile   mpi-tile-io: 2 x 2 displays of 1024 x 768 elements of 24 bytes, a
 *          process a display (ICPP 2003, figure 13)
 *   regs   the same with 64 bytes and tiles in memory as well: registrations
 *          with and without allocation hints (figure 14)
 *
 * Figures are medians over rounds, ratios are taken within a round.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pvfs.h"

#define ROUNDS_MAX 64
#define PIECES_MAX 8192u
#define TILES 4

static unsigned int rounds = 5;

static void die(const char *what)
{
	fprintf(stderr, "bench_list: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(double *v)
{
	qsort(v, rounds, sizeof(*v), by_value);
	return v[rounds / 2];
}

/* ---- a pattern in the file, and how it is moved ---- */

enum way { LIST, HINTS, SINGLE, WHOLE };

struct pattern {
	int fd;
	unsigned int n;
	int64_t off, stride;
	size_t len;
	char *mem; /* piece i at i * mem_stride */
	size_t mem_stride, mem_len;
};

static void move_list(const struct pattern *p, bool write, bool hints)
{
	static char *mem[PIECES_MAX], *parent[PIECES_MAX];
	static size_t mlen[PIECES_MAX], plen[PIECES_MAX];
	static int64_t off[PIECES_MAX], len[PIECES_MAX];
	ssize_t done;
	unsigned int i;

	for (i = 0; i < p->n; i++) {
		mem[i] = p->mem + i * p->mem_stride;
		mlen[i] = p->len;
		parent[i] = p->mem;
		plen[i] = p->mem_len;
		off[i] = p->off + i * p->stride;
		len[i] = (int64_t)p->len;
	}
	done = (write ? pvfs_write_list64
		      : pvfs_read_list64)(p->fd, p->n, mem, mlen,
					  hints ? parent : NULL,
					  hints ? plen : NULL, p->n, off, len);
	if (done != (ssize_t)(p->n * p->len))
		die("list");
}

static void move_single(const struct pattern *p, bool write)
{
	for (unsigned int i = 0; i < p->n; i++) {
		char *mem = p->mem + i * p->mem_stride;
		int64_t off = p->off + i * p->stride;
		ssize_t done = write ? pvfs_pwrite(p->fd, mem, p->len, off)
				     : pvfs_pread(p->fd, mem, p->len, off);

		if (done != (ssize_t)p->len)
			die("a piece");
	}
}

static void move_whole(const struct pattern *p, bool write)
{
	size_t len = p->n * p->len;
	ssize_t done = write ? pvfs_pwrite(p->fd, p->mem, len, p->off)
			     : pvfs_pread(p->fd, p->mem, len, p->off);

	if (done != (ssize_t)len)
		die("contiguous");
}

static double timed(const struct pattern *p, enum way way, bool write)
{
	double start = now();

	if (way == SINGLE)
		move_single(p, write);
	else if (way == WHOLE)
		move_whole(p, write);
	else
		move_list(p, write, way == HINTS);
	return now() - start;
}

static char *memory(size_t len)
{
	char *mem = mmap(NULL, len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (mem == MAP_FAILED)
		die("memory");
	memset(mem, 'x', len);
	return mem;
}

static int open_file(const char *dir, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = pvfs_open(path, O_RDWR | O_CREAT, 0666);
	if (fd < 0)
		die(path);
	return fd;
}

/* ---- small and large pieces ---- */

static void small(const char *dir)
{
	double list[ROUNDS_MAX], ratio[ROUNDS_MAX];
	struct pattern p = { .fd = open_file(dir, "bench-small"),
			     .n = 8192,
			     .stride = 1024,
			     .len = 128,
			     .mem_stride = 128 };

	p.mem_len = 8192 * 1024;
	p.mem = memory(p.mem_len);
	if (pvfs_pwrite(p.fd, p.mem, p.mem_len, 0) != (ssize_t)p.mem_len)
		die("write");
	for (int write = 0; write < 2; write++) {
		timed(&p, LIST, write);
		for (unsigned int i = 0; i < rounds; i++) {
			struct pattern few = p;

			few.n = 1024;
			list[i] = timed(&p, LIST, write) / p.n;
			ratio[i] = timed(&few, SINGLE, write) / few.n / list[i];
		}
		printf("small %-5s %6.3f us a piece, %5.1f times faster than "
		       "piece by piece\n",
		       write ? "write" : "read", median(list) * 1e6,
		       median(ratio));
	}
	pvfs_close(p.fd);
	munmap(p.mem, p.mem_len);
}

static void large(const char *dir)
{
	double rate[ROUNDS_MAX], ratio[ROUNDS_MAX];
	struct pattern p = { .fd = open_file(dir, "bench-large"),
			     .n = 512,
			     .stride = 131072,
			     .len = 65536,
			     .mem_stride = 65536 };

	p.mem_len = 512 * 65536;
	p.mem = memory(p.mem_len);
	for (int write = 1; write >= 0; write--) {
		timed(&p, LIST, true);
		timed(&p, WHOLE, true);
		for (unsigned int i = 0; i < rounds; i++) {
			double whole = timed(&p, WHOLE, write);
			double list = timed(&p, LIST, write);

			rate[i] = (double)p.mem_len / list / 1e9;
			ratio[i] = whole / list;
		}
		printf("large %-5s %6.2f GB/s, %5.2f of the contiguous rate\n",
		       write ? "write" : "read", median(rate), median(ratio));
	}
	pvfs_close(p.fd);
	munmap(p.mem, p.mem_len);
}

/* ---- tiles ---- */

struct shared {
	double secs[TILES];
	uint64_t registrations[TILES], requests[TILES];
	unsigned int ready; /* atomic */
};

static void wait_all(unsigned int *ready)
{
	__atomic_add_fetch(ready, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(ready, __ATOMIC_ACQUIRE) < TILES)
		usleep(100);
}

static void tile_process(const char *dir, unsigned int rank, size_t elem,
			 bool memory_tiles, enum way way, bool write,
			 struct shared *sh)
{
	struct pvfs_list_counters a, b;
	size_t row = 2048 * elem;
	struct pattern p = { .fd = open_file(dir, "bench-tile"),
			     .n = 768,
			     .stride = (int64_t)row,
			     .len = 1024 * elem };

	p.off = (int64_t)((rank / 2) * 768 * row + (rank % 2) * p.len);
	p.mem_stride = memory_tiles ? row : p.len;
	p.mem_len = 768 * p.mem_stride;
	p.mem = memory(p.mem_len);
	pvfs_list_counters(p.fd, &a);
	/* connects to the servers */
	for (int64_t off = 0; off < 64 * 65536; off += 65536)
		pvfs_pread(p.fd, p.mem, 1, off);
	wait_all(&sh->ready);
	sh->secs[rank] = timed(&p, way, write);
	pvfs_list_counters(p.fd, &b);
	sh->registrations[rank] = b.registrations - a.registrations;
	sh->requests[rank] = b.requests - a.requests;
	pvfs_close(p.fd);
}

/* Seconds of the slowest. */
static double tiles(const char *dir, size_t elem, bool memory_tiles,
		    enum way way, bool write, struct shared *sh)
{
	double secs = 0;
	int status;

	memset(sh, 0, sizeof(*sh));
	for (unsigned int i = 0; i < TILES; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid)
			continue;
		tile_process(dir, i, elem, memory_tiles, way, write, sh);
		exit(0);
	}
	for (unsigned int i = 0; i < TILES; i++) {
		if (wait(&status) < 0 || status)
			die("a process");
	}
	for (unsigned int i = 0; i < TILES; i++)
		secs = sh->secs[i] > secs ? sh->secs[i] : secs;
	return secs;
}

static void tile(const char *dir, struct shared *sh)
{
	double list[ROUNDS_MAX], ratio[ROUNDS_MAX];

	for (int write = 1; write >= 0; write--) {
		tiles(dir, 24, false, LIST, true, sh);
		for (unsigned int i = 0; i < rounds; i++) {
			double one = tiles(dir, 24, false, SINGLE, write, sh);

			list[i] = tiles(dir, 24, false, LIST, write, sh);
			ratio[i] = one / list[i];
		}
		printf("tile  %-5s %6.0f MB/s with lists, %5.2f times without; "
		       "%lu requests a process\n",
		       write ? "write" : "read",
		       1536.0 * 2048 * 24 / median(list) / 1e6, median(ratio),
		       (unsigned long)sh->requests[0]);
	}
}

static void regs(const char *dir, struct shared *sh)
{
	static const char *const name[] = { "hints", "groups", "alone" };
	double t[3][ROUNDS_MAX], ratio[ROUNDS_MAX];
	unsigned long n[3] = { 0 };

	for (int write = 1; write >= 0; write--) {
		for (unsigned int i = 0; i < rounds; i++) {
			for (int k = 0; k < 3; k++) {
				setenv("PVFS_LIST_GROUP", k == 2 ? "off" : "on",
				       1);
				t[k][i] = tiles(dir, 64, true, k ? LIST : HINTS,
						write, sh);
				n[k] = sh->registrations[0];
			}
			ratio[i] = t[2][i] / t[0][i];
		}
		for (int k = 0; k < 3; k++)
			printf("regs  %-5s %-6s %4lu registrations a process, "
			       "%6.0f MB/s\n",
			       write ? "write" : "read", name[k], n[k],
			       1536.0 * 2048 * 64 / median(t[k]) / 1e6);
		printf("regs  %-5s %5.2f times faster with hints\n",
		       write ? "write" : "read", median(ratio));
	}
}

/* In a process of its own: the parent of tiles has no session to inherit. */
static void apart(void (*fn)(const char *dir), const char *dir)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		fn(dir);
		fflush(stdout);
		exit(0);
	}
	if (waitpid(pid, &status, 0) < 0 || status)
		exit(1);
}

int main(int argc, char **argv)
{
	struct shared *sh;
	int c;

	while ((c = getopt(argc, argv, "r:")) == 'r')
		rounds = (unsigned int)atoi(optarg);
	if (c != -1 || argc != optind + 1 || !rounds || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: bench_list [-r ROUNDS] DIR\n");
		return 2;
	}
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sh == MAP_FAILED)
		die("memory");
	apart(small, argv[optind]);
	apart(large, argv[optind]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	tile(argv[optind], sh);
	regs(argv[optind], sh);
	return 0;
}
