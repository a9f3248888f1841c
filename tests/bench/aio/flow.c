/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flow.c - bytes per second of processes with blocking calls, and of one thread with requests in
 * flight.
 *
 *	flow FILE SIZE blocking PROCESSES	each makes one call of SIZE bytes after the other
 *	flow FILE SIZE queue DEPTH		so many in flight
 *
 * Prints, for writes and reads, MB/s and the clients' CPU seconds per GB.
 */
#include <pvfs_aio.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_LEN (64u << 20)
#define SECONDS 1.5

static size_t size;
static int fd;

struct sums {
	double bytes, cpu;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double cpu(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static int64_t place(size_t i)
{
	return (int64_t)(i * size % (FILE_LEN - FILE_LEN % size));
}

/* ---- blocking ---- */

static double block(bool write, size_t at, size_t step)
{
	double end = now() + SECONDS, bytes = 0;
	char *buf = malloc(size);
	ssize_t n;

	memset(buf, 1, size);
	for (; now() < end; at += step, bytes += (double)size) {
		n = write ? pvfs_pwrite(fd, buf, size, place(at))
			  : pvfs_pread(fd, buf, size, place(at));
		if (n != (ssize_t)size)
			die("transfer");
	}
	return bytes;
}

static struct sums processes(bool write, unsigned int n)
{
	double *bytes = mmap(NULL, n * sizeof(*bytes), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double before = cpu(RUSAGE_CHILDREN);
	struct sums sums = { 0 };
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (!fork()) {
			bytes[i] = block(write, i, n);
			exit(0);
		}
	}
	for (i = 0; i < n; i++)
		wait(NULL);
	for (i = 0; i < n; i++)
		sums.bytes += bytes[i];
	sums.cpu = cpu(RUSAGE_CHILDREN) - before;
	munmap(bytes, n * sizeof(*bytes));
	return sums;
}

/* ---- a queue ---- */

struct flow {
	struct pvfs_aio_queue *q;
	struct pvfs_aio *aio, **list;
	char *buf;
	size_t at;
	bool write;
};

static void prepare(struct flow *f, struct pvfs_aio *aio)
{
	char *buf = f->buf + (size_t)(aio - f->aio) * size;

	if (f->write)
		pvfs_aio_prep_write(aio, fd, buf, size, place(f->at++));
	else
		pvfs_aio_prep_read(aio, fd, buf, size, place(f->at++));
}

static double drive(struct flow *f, unsigned int depth)
{
	double end = now() + SECONDS, bytes = 0;
	int i, n = (int)depth;

	for (i = 0; i < n; i++)
		f->list[i] = &f->aio[i];
	while (now() < end) {
		for (i = 0; i < n; i++)
			prepare(f, f->list[i]);
		if (pvfs_aio_submit(f->q, f->list, (unsigned int)n))
			die("submit");
		n = pvfs_aio_wait(f->q, f->list, depth, 1, -1);
		for (i = 0; i < n; i++, bytes += (double)size)
			if (f->list[i]->result != (int64_t)size)
				die("transfer");
	}
	return bytes;
}

static struct sums queue(bool write, unsigned int depth)
{
	struct flow f = { .write = write };
	double before = cpu(RUSAGE_SELF);
	struct sums sums = { 0 };

	f.aio = calloc(depth, sizeof(*f.aio));
	f.list = calloc(depth, sizeof(struct pvfs_aio *));
	f.buf = malloc(depth * size);
	memset(f.buf, 1, depth * size);
	if (pvfs_aio_queue_new(0, &f.q))
		die("queue");
	sums.bytes = drive(&f, depth);
	pvfs_aio_queue_free(f.q);
	sums.cpu = cpu(RUSAGE_SELF) - before;
	free(f.buf);
	free(f.list);
	free(f.aio);
	return sums;
}

int main(int argc, char **argv)
{
	bool write = true;
	int i;

	if (argc != 5)
		return 2;
	size = strtoul(argv[2], NULL, 0);
	fd = pvfs_open(argv[1], O_RDWR | O_CREAT, 0644);
	if (fd < 0 || pvfs_ftruncate(fd, FILE_LEN))
		die(argv[1]);
	for (i = 0; i < 2; i++, write = !write) {
		unsigned int n = (unsigned int)atoi(argv[4]);
		struct sums s = strcmp(argv[3], "queue") ? processes(write, n)
							 : queue(write, n);

		printf("%s %.0f %.2f\n", write ? "write" : "read",
		       s.bytes / SECONDS / 1e6, s.cpu / s.bytes * 1e9);
	}
	return pvfs_close(fd) ? 1 : 0;
}
