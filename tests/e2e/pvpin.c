/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvpin.c - threads transfer data from and to their memory. Between the transfers they map, unmap,
 * move, discard, allocate and free it, and fork. They compare every byte. Prints "ok".
 *
 * usage: pvpin DIRECTORY THREADS STEPS
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pvfs.h>

#define PAGE 4096u
#define MOST (512u << 10)
#define BUFS 3

extern char **environ;

struct player {
	pthread_t thread;
	const char *dir;
	unsigned int n, steps;
	uint64_t seed;
	int fd;
	uint8_t *model; /* the expected content of the file, MOST bytes */
	struct buf {
		uint8_t *p;
		size_t len;
		bool heap, split;
	} buf[BUFS];
};

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *fmt,
								...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, ": %s\n", strerror(err));
	exit(1);
}

static uint64_t rnd(struct player *w, uint64_t below)
{
	uint64_t z = (w->seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % below;
}

static size_t some_size(struct player *w)
{
	return (size_t)(rnd(w, MOST / PAGE) + 1) * PAGE;
}

/* ---- memory ---- */

static void get_memory(struct player *w, struct buf *b)
{
	b->len = some_size(w);
	b->split = false;
	b->heap = rnd(w, 2);
	if (b->heap)
		b->p = malloc(b->len);
	else
		b->p = mmap(NULL, b->len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!b->p || b->p == MAP_FAILED)
		die("no memory");
}

static void give_back(struct buf *b)
{
	if (b->heap)
		free(b->p);
	else
		munmap(b->p, b->len);
	b->p = NULL;
}

static void move(struct player *w, struct buf *b)
{
	size_t len = some_size(w);

	if (b->split)
		return;
	if (b->heap)
		b->p = realloc(b->p, len);
	else
		b->p = mremap(b->p, b->len, len, MREMAP_MAYMOVE);
	if (!b->p || b->p == MAP_FAILED)
		die("mremap");
	b->len = len;
}

static void discard(struct player *w, struct buf *b)
{
	size_t at = (size_t)rnd(w, b->len / PAGE) * PAGE;

	if (b->heap)
		return;
	if (rnd(w, 2)) {
		madvise(b->p + at, b->len - at, MADV_DONTNEED);
		return;
	}
	b->split = true;
	if (mmap(b->p + at, PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		die("mmap over");
}

/* The child writes to its copy of the memory and exits, or executes another program. */
static void spawn(struct player *w, struct buf *b)
{
	char *args[] = { "true", NULL };
	int status;
	pid_t pid;

	if (rnd(w, 2)) {
		if (posix_spawnp(&pid, args[0], NULL, NULL, args, environ))
			die("spawn");
	} else {
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid) {
			for (size_t i = 0; i < b->len; i += 64)
				b->p[i] = 0xee;
			_exit(0);
		}
		memset(b->p, 0xdd, b->len / 2);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("child: status %x", status);
}

/* ---- transfers ---- */

static void differ(struct player *w, const char *what, const uint8_t *got,
		   size_t off, size_t len)
{
	size_t i;

	for (i = 0; i < len && got[i] == w->model[off + i]; i++)
		;
	if (i < len)
		die("%s: thread %u, byte %zu of %zu at %zu is %02x, not %02x",
		    what, w->n, i, len, off, got[i], w->model[off + i]);
}

static void check_write(struct player *w, struct buf *b)
{
	size_t skip = (size_t)rnd(w, b->len), off, len = b->len - skip;

	off = (size_t)rnd(w, MOST - len + 1);
	for (size_t i = 0; i < len; i++)
		b->p[skip + i] = (uint8_t)(i * 7 + w->seed + i / 251);
	memcpy(w->model + off, b->p + skip, len);
	if (pvfs_pwrite(w->fd, b->p + skip, len, (off_t)off) != (ssize_t)len)
		die("write");
	differ(w, "written", b->p + skip, off, len);
}

static void check_read(struct player *w, struct buf *b)
{
	size_t skip = (size_t)rnd(w, b->len), off, len = b->len - skip;

	off = (size_t)rnd(w, MOST - len + 1);
	memset(b->p + skip, 0x55, len);
	if (pvfs_pread(w->fd, b->p + skip, len, (off_t)off) != (ssize_t)len)
		die("read");
	differ(w, "read", b->p + skip, off, len);
}

static void step(struct player *w)
{
	struct buf *b = &w->buf[rnd(w, BUFS)];
	uint64_t what = rnd(w, 40);

	if (!b->p)
		get_memory(w, b);
	if (what < 5)
		give_back(b);
	else if (what < 8)
		move(w, b);
	else if (what < 12)
		discard(w, b);
	else if (what < 13)
		spawn(w, b);
	else if (what < 26)
		check_write(w, b);
	else
		check_read(w, b);
}

static void *play(void *arg)
{
	struct player *w = arg;
	char path[256];
	unsigned int i;

	snprintf(path, sizeof(path), "%s/pin%u", w->dir, w->n);
	w->seed = w->n + 1;
	w->model = calloc(1, MOST);
	w->fd = pvfs_open(path, O_RDWR | O_CREAT | O_TRUNC, 0644, NULL, NULL);
	if (w->fd < 0 || !w->model)
		die("%s", path);
	if (pvfs_pwrite(w->fd, w->model, MOST, 0) != MOST)
		die("%s", path);
	for (i = 0; i < w->steps; i++)
		step(w);
	for (i = 0; i < BUFS; i++)
		if (w->buf[i].p)
			give_back(&w->buf[i]);
	if (pvfs_close(w->fd))
		die("close");
	free(w->model);
	return NULL;
}

/* A child opens files of its own and continues, in the memory that it inherited. */
static void play_in_child(struct player *w, struct buf *b)
{
	int status = 0;
	pid_t pid;

	get_memory(w, b);
	pid = fork();
	if (!pid) {
		play(w);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("child with files: status %x", status);
	give_back(b);
}

int main(int argc, char **argv)
{
	unsigned int n, i;
	struct player *w;

	if (argc != 4)
		return 2;
	n = (unsigned int)atoi(argv[2]);
	w = calloc(n + 1, sizeof(*w));
	for (i = 0; i <= n; i++) {
		w[i].dir = argv[1];
		w[i].n = i;
		w[i].steps = (unsigned int)atoi(argv[3]);
	}
	for (i = 0; i < n; i++)
		if (pthread_create(&w[i].thread, NULL, play, &w[i]))
			die("thread");
	for (i = 0; i < n; i++)
		pthread_join(w[i].thread, NULL);
	play_in_child(&w[n], &w[n].buf[0]);
	free(w);
	puts("ok");
	return 0;
}
