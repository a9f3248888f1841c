/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvlanes.c - several processes write one file concurrently, through one mount or more. Each
 * process has lanes of its own, which are so narrow that processes share blocks, pages and stripes.
 * Each process must always read what it has written to its lanes.
 *
 * 	pvlanes [-r] [-m] [-n LANES] SEED OPERATIONS PROCESSES FILE...
 *
 * Each FILE is the same file at another mount. With -r, every operation opens the file again. -n
 * sets the number of lanes (default 400); with few lanes, all processes always use the same pages.
 * With -m, writers use shared mappings. They never write at the same time as calls, because the
 * kernel does not order mappings and calls (docs/posix.md). At a difference, prints a line and
 * exits with status 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LANE 1013u /* bytes; the processes have lanes in turn */
#define LANES 400u

struct lanes {
	unsigned int seed, state, at, me, processes;
	unsigned int lanes; /* of all processes */
	unsigned int size; /* of the file, bytes */
	bool reopen, map;
	int n; /* number of mounts */
	char *const *path;
	int fd;
	unsigned char *model, *buf; /* only the own lanes are compared */
	unsigned char next;
};

static unsigned int rnd(struct lanes *l, unsigned int below)
{
	l->state = l->state * 1103515245u + 12345u;
	return (l->state >> 8) % below;
}

static void die(const struct lanes *l, const char *what, long have, long want)
{
	fprintf(stderr,
		"pvlanes: seed %u, process %u, operation %u: %s: %ld instead of %ld (%s)\n",
		l->seed, l->me, l->at, what, have, want, strerror(errno));
	exit(1);
}

static bool mine(const struct lanes *l, size_t off)
{
	return off / LANE % l->processes == l->me;
}

/* Chooses a part of an own lane. */
static void part(struct lanes *l, size_t *off, size_t *len)
{
	unsigned int lane = l->me +
			    l->processes * rnd(l, l->lanes / l->processes);
	unsigned int skip = rnd(l, 3) ? 0 : rnd(l, LANE);

	*off = lane * LANE + skip;
	*len = LANE - skip;
}

static void same(const struct lanes *l, const char *how,
		 const unsigned char *have, size_t off, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (mine(l, off + i) && have[i] != l->model[off + i]) {
			errno = 0;
			fprintf(stderr, "pvlanes: at %zu:\n", off + i);
			die(l, how, have[i], l->model[off + i]);
		}
}

static void put(struct lanes *l, size_t off, size_t len)
{
	l->next = (unsigned char)(l->next % 255 + 1);
	memset(l->model + off, l->next, len);
}

static void do_read(struct lanes *l)
{
	size_t off = rnd(l, l->size),
	       len = 1 + rnd(l, rnd(l, 4) ? 9000 : l->size);
	ssize_t n;

	if (len > l->size - off)
		len = l->size - off;
	n = pread(l->fd, l->buf, len, (off_t)off);
	if (n != (ssize_t)len)
		die(l, "pread", n, (long)len);
	same(l, "data read", l->buf, off, len);
}

static void do_write(struct lanes *l)
{
	size_t off, len;
	ssize_t n;

	part(l, &off, &len);
	put(l, off, len);
	n = pwrite(l->fd, l->model + off, len, (off_t)off);
	if (n != (ssize_t)len)
		die(l, "pwrite", n, (long)len);
}

static void do_punch(struct lanes *l)
{
	size_t off, len;

	part(l, &off, &len);
	memset(l->model + off, 0, len);
	if (fallocate(l->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)off, (off_t)len))
		die(l, "fallocate", -1, 0);
}

static void do_copy(struct lanes *l)
{
	size_t from, off, len, more;
	off_t in, out;
	ssize_t n;

	part(l, &from, &len);
	part(l, &off, &more);
	if (len > more)
		len = more;
	if (from < off + len && off < from + len)
		return;
	in = (off_t)from;
	out = (off_t)off;
	n = copy_file_range(l->fd, &in, l->fd, &out, len, 0);
	if (n != (ssize_t)len)
		die(l, "copy_file_range", n, (long)len);
	memcpy(l->model + off, l->model + from, len);
}

static void do_map(struct lanes *l)
{
	size_t off, len;
	unsigned char *mem = mmap(NULL, l->size, PROT_READ | PROT_WRITE,
				  MAP_SHARED, l->fd, 0);

	if (mem == MAP_FAILED)
		die(l, "mmap", -1, 0);
	same(l, "data mapped", mem, 0, l->size);
	for (unsigned int i = rnd(l, 10); i; i--) {
		part(l, &off, &len);
		put(l, off, len);
		memcpy(mem + off, l->model + off, len);
	}
	if (msync(mem, l->size, MS_SYNC) || munmap(mem, l->size))
		die(l, "msync", -1, 0);
}

static void open_one(struct lanes *l)
{
	l->fd = open(l->path[rnd(l, (unsigned int)l->n)], O_RDWR | O_CLOEXEC);
	if (l->fd < 0)
		die(l, "open", l->fd, 0);
}

static void close_one(struct lanes *l)
{
	if (close(l->fd))
		die(l, "close", -1, 0);
}

static void do_one(struct lanes *l)
{
	static void (*const calls[])(struct lanes *
				     l) = { do_read,  do_read,	do_read,
					    do_write, do_write, do_write,
					    do_write, do_punch, do_copy };
	unsigned int which = rnd(l, sizeof(calls) / sizeof(calls[0]));

	if (l->reopen)
		open_one(l);
	if (l->map && calls[which] != do_read)
		do_map(l);
	else
		calls[which](l);
	if (l->reopen) {
		close_one(l);
	} else if (!rnd(l, 20)) {
		close_one(l);
		open_one(l);
	}
}

static int one_process(struct lanes *l, unsigned int ops)
{
	l->state += l->me * 7919;
	l->model = calloc(2, l->size);
	if (!l->model)
		return 1;
	l->buf = l->model + l->size;
	if (!l->reopen)
		open_one(l);
	for (l->at = 0; l->at < ops; l->at++)
		do_one(l);
	free(l->model);
	return 0;
}

static int wait_all(unsigned int n)
{
	int status, failed = 0;

	while (n--)
		if (wait(&status) < 0 || status)
			failed = 1;
	return failed;
}

/* Creates the file in its full size before the processes start. */
static bool make(const struct lanes *l)
{
	int fd = open(l->path[0], O_RDWR | O_CREAT | O_TRUNC, 0644);

	return fd >= 0 && !ftruncate(fd, l->size) && !close(fd);
}

static bool options(struct lanes *l, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "rmn:")) != -1) {
		if (c == 'r')
			l->reopen = true;
		else if (c == 'm')
			l->map = true;
		else if (c == 'n')
			l->lanes = (unsigned int)atoi(optarg);
		else
			return false;
	}
	l->n = argc - optind - 3;
	l->path = argv + optind + 3;
	l->size = l->lanes * LANE;
	return l->n > 0;
}

int main(int argc, char **argv)
{
	struct lanes l = { .lanes = LANES };

	if (!options(&l, argc, argv)) {
		fputs("usage: pvlanes [-r] [-m] [-n LANES] SEED OPERATIONS PROCESSES FILE...\n",
		      stderr);
		return 2;
	}
	l.seed = l.state = (unsigned int)atoi(argv[optind]);
	l.processes = (unsigned int)atoi(argv[optind + 2]);
	if (!l.processes || l.lanes < l.processes || !make(&l)) {
		perror(l.path[0]);
		return 1;
	}
	for (l.me = 0; l.me < l.processes; l.me++)
		if (!fork())
			_exit(one_process(&l, (unsigned int)atoi(
						      argv[optind + 1])));
	return wait_all(l.processes);
}
