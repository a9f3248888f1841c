/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvexer.c - random operations on one file that is visible through several mounts, each checked
 * against a model in memory.
 *
 * 	pvexer [-r] [-m] SEED OPERATIONS FILE...
 *
 * Each FILE is the same file at another mount. With -r, every operation opens the file again, as
 * close-to-open caching requires. With -m, some operations use shared mappings. At the first
 * difference, prints a line with the seed and exits with status 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE_MAX_ (1u << 20)
#define MOUNTS_MAX 8

struct exer {
	unsigned int seed, state, at;
	bool reopen, map;
	int n;
	char *const *path;
	int fd[MOUNTS_MAX];
	unsigned char *model, *buf;
	size_t size;
	unsigned char next; /* the value of the next byte to write */
};

static unsigned int rnd(struct exer *e, unsigned int below)
{
	e->state = e->state * 1103515245u + 12345u;
	return (e->state >> 8) % below;
}

static void die(const struct exer *e, const char *what, long have, long want)
{
	fprintf(stderr,
		"pvexer: seed %u, operation %u: %s: %ld instead of %ld (%s)\n",
		e->seed, e->at, what, have, want, strerror(errno));
	exit(1);
}

static void open_one(struct exer *e, int k)
{
	e->fd[k] = open(e->path[k], O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (e->fd[k] < 0)
		die(e, "open", e->fd[k], 0);
}

static void close_one(struct exer *e, int k)
{
	int rc = close(e->fd[k]);

	if (rc)
		die(e, "close", rc, 0);
}

/* Chooses a range, which is sometimes large or beyond the end. */
static void range(struct exer *e, size_t *off, size_t *len)
{
	*off = rnd(e, rnd(e, 4) ? (unsigned int)e->size + 1 : SIZE_MAX_);
	*len = 1 + rnd(e, rnd(e, 4) ? 5000 : 300000);
	if (*off + *len > SIZE_MAX_)
		*len = SIZE_MAX_ - *off;
}

static void same(const struct exer *e, const char *how, size_t off, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (e->buf[i] != e->model[off + i]) {
			errno = 0;
			fprintf(stderr, "pvexer: at %zu of %zu:\n", off + i,
				e->size);
			die(e, how, e->buf[i], e->model[off + i]);
		}
}

static void do_read(struct exer *e, int k)
{
	size_t off, len, want;
	ssize_t n;

	range(e, &off, &len);
	want = off >= e->size ? 0 : e->size - off < len ? e->size - off : len;
	n = pread(e->fd[k], e->buf, len, (off_t)off);
	if (n != (ssize_t)want)
		die(e, "pread", n, (long)want);
	same(e, "data read", off, want);
}

/* Writes bytes to the file and to the model, and extends the file if necessary. */
static void put(struct exer *e, size_t off, size_t len)
{
	e->next = (unsigned char)(e->next % 255 + 1);
	memset(e->buf, e->next, len);
	memset(e->model + off, e->next, len);
	if (off + len > e->size)
		e->size = off + len;
}

static void do_write(struct exer *e, int k)
{
	size_t off, len;
	ssize_t n;

	range(e, &off, &len);
	if (!len)
		return;
	put(e, off, len);
	n = pwrite(e->fd[k], e->buf, len, (off_t)off);
	if (n != (ssize_t)len)
		die(e, "pwrite", n, (long)len);
}

static void do_append(struct exer *e, int k)
{
	size_t len = 1 + rnd(e, 20000);
	int fd;
	ssize_t n;

	if (e->size + len > SIZE_MAX_)
		return;
	fd = open(e->path[k], O_WRONLY | O_APPEND | O_CLOEXEC);
	put(e, e->size, len);
	n = write(fd, e->buf, len);
	if (n != (ssize_t)len)
		die(e, "append", n, (long)len);
	if (close(fd))
		die(e, "close after append", -1, 0);
}

static void do_truncate(struct exer *e, int k)
{
	size_t size = rnd(e, SIZE_MAX_);
	int rc = ftruncate(e->fd[k], (off_t)size);

	if (rc)
		die(e, "ftruncate", rc, 0);
	if (size > e->size)
		memset(e->model + e->size, 0, size - e->size);
	else
		memset(e->model + size, 0, e->size - size);
	e->size = size;
}

static void do_stat(struct exer *e, int k)
{
	struct stat st;

	if (fstat(e->fd[k], &st))
		die(e, "fstat", -1, 0);
	if (st.st_size != (off_t)e->size)
		die(e, "size", st.st_size, (long)e->size);
}

static void do_sync(struct exer *e, int k)
{
	int rc = fsync(e->fd[k]);

	if (rc)
		die(e, "fsync", rc, 0);
}

/* Punches holes, zeroes ranges or allocates space. */
static void do_space(struct exer *e, int k)
{
	static const int modes[] = {
		FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_ZERO_RANGE,
		FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
		0,
		FALLOC_FL_KEEP_SIZE,
	};
	int mode = modes[rnd(e, sizeof(modes) / sizeof(modes[0]))], rc;
	size_t off, len;

	range(e, &off, &len);
	if (!len)
		return;
	rc = fallocate(e->fd[k], mode, (off_t)off, (off_t)len);
	if (rc)
		die(e, "fallocate", rc, 0);
	if (mode & ~FALLOC_FL_KEEP_SIZE)
		memset(e->model + off, 0, len);
	if (!(mode & FALLOC_FL_KEEP_SIZE) && off + len > e->size)
		e->size = off + len;
}

/*
 * Copies a range within one mount. Between two mounts the kernel would use splice(2), which reads
 * cached pages and misses writes by others (docs/posix.md).
 */
static void do_copy(struct exer *e, int k)
{
	size_t from, off, len, done;
	off_t in, out;
	ssize_t n = 0;

	range(e, &from, &len);
	off = rnd(e, SIZE_MAX_ - (unsigned int)len);
	in = (off_t)from;
	out = (off_t)off;
	if (!len || (from < off + len && off < from + len))
		return;
	if (from >= e->size)
		len = 0;
	else if (len > e->size - from)
		len = e->size - from;
	do_stat(e,
		k); /* updates the size in the kernel, which limits the copy */
	for (done = 0; done < len; done += (size_t)n) {
		n = copy_file_range(e->fd[k], &in, e->fd[k], &out, len - done,
				    0);
		if (n <= 0 || (size_t)n > len - done)
			die(e, "copy_file_range", n, (long)(len - done));
	}
	memcpy(e->model + off, e->model + from, len);
	if (len && off + len > e->size)
		e->size = off + len;
}

/* Returns the number of zeros from off on. */
static size_t zeros(const struct exer *e, size_t off)
{
	size_t n = 0;

	while (off + n < e->size && !e->model[off + n])
		n++;
	return n;
}

/* SEEK_DATA must not skip data, and SEEK_HOLE must not find data. */
static void do_seek(struct exer *e, int k)
{
	size_t off = rnd(e, (unsigned int)e->size + 10);
	off_t data = lseek(e->fd[k], (off_t)off, SEEK_DATA);
	off_t hole = lseek(e->fd[k], (off_t)off, SEEK_HOLE);

	if (off >= e->size) {
		if (data >= 0 || hole >= 0)
			die(e, "seek after the end", data, hole);
		return;
	}
	if (data < 0)
		data = (off_t)e->size;
	if (data < (off_t)off || (size_t)data - off > zeros(e, off))
		die(e, "SEEK_DATA", data, (off_t)(off + zeros(e, off)));
	if (hole < (off_t)off || (size_t)hole > e->size ||
	    ((size_t)hole < e->size && e->model[hole]))
		die(e, "SEEK_HOLE", hole, (off_t)off);
}

static void do_map(struct exer *e, int k)
{
	size_t off, len, first;
	unsigned char *mem;

	if (!e->size)
		return;
	mem = mmap(NULL, e->size, PROT_READ | PROT_WRITE, MAP_SHARED, e->fd[k],
		   0);
	if (mem == MAP_FAILED)
		die(e, "mmap", -1, 0);
	memcpy(e->buf, mem, e->size);
	same(e, "data mapped", 0, e->size);
	range(e, &off, &len);
	if (off < e->size) {
		first = e->size - off < len ? e->size - off : len;
		put(e, off, first);
		memcpy(mem + off, e->buf, first);
	}
	if (msync(mem, e->size, MS_SYNC) || munmap(mem, e->size))
		die(e, "msync", -1, 0);
}

static void do_one(struct exer *e)
{
	static void (*const all[])(struct exer * e, int k) = {
		do_read,  do_read,   do_read, do_write,	   do_write,
		do_stat,  do_append, do_sync, do_truncate, do_space,
		do_space, do_seek,   do_copy
	};
	int k = (int)rnd(e, (unsigned int)e->n);
	unsigned int which = rnd(e, sizeof(all) / sizeof(all[0]) + e->map);

	if (e->reopen)
		open_one(e, k);
	if (which == sizeof(all) / sizeof(all[0]))
		do_map(e, k);
	else
		all[which](e, k);
	if (e->reopen) {
		close_one(e, k);
	} else if (!rnd(e, 50)) {
		close_one(e, k);
		open_one(e, k);
	}
}

static int usage(void)
{
	fputs("usage: pvexer [-r] [-m] SEED OPERATIONS FILE...\n", stderr);
	return 2;
}

static bool options(struct exer *e, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "rm")) != -1) {
		if (c == 'r')
			e->reopen = true;
		else if (c == 'm')
			e->map = true;
		else
			return false;
	}
	e->n = argc - optind - 2;
	e->path = argv + optind + 2;
	return e->n > 0 && e->n <= MOUNTS_MAX;
}

int main(int argc, char **argv)
{
	struct exer e = { 0 };
	unsigned int ops;

	if (!options(&e, argc, argv))
		return usage();
	e.seed = e.state = (unsigned int)atoi(argv[optind]);
	ops = (unsigned int)atoi(argv[optind + 1]);
	e.model = calloc(2, SIZE_MAX_);
	if (!e.model)
		return 1;
	e.buf = e.model + SIZE_MAX_;
	for (int k = 0; k < e.n; k++) {
		open_one(&e, k);
		if (e.reopen)
			close_one(&e, k);
	}
	for (e.at = 0; e.at < ops; e.at++)
		do_one(&e);
	free(e.model);
	return 0;
}
