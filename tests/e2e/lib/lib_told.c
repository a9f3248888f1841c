/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_told.c - reads and writes small pieces, prints "READS WRITES", the numbers of those that
 * needed no request, and continues to run until the end of its input.
 *
 * 	lib_told FILE CALLS [THREADS]	each thread makes CALLS reads and CALLS writes
 */
#include <fcntl.h>
#include <pthread.h>
#include <pvfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"

#define PIECE 4096
#define MOST 16

static int fd, calls;

static uint64_t without(void)
{
	struct pvfs_way_counters w;

	EXPECT(!pvfs_way_counters(fd, &w));
	return w.without;
}

static off_t place(int i)
{
	return (off_t)i % 64 * PIECE;
}

static void *reads(void *arg)
{
	char buf[PIECE];

	for (int i = 0; i < calls; i++)
		EXPECT(pvfs_pread(fd, buf, PIECE, place(i)) == PIECE);
	return NULL;
}

static void *writes(void *arg)
{
	char buf[PIECE] = { 'x' };

	for (int i = 0; i < calls; i++)
		EXPECT(pvfs_pwrite(fd, buf, PIECE, place(i)) == PIECE);
	return NULL;
}

static uint64_t in_threads(void *(*work)(void *arg), int n)
{
	uint64_t before = without();
	pthread_t t[MOST];

	for (int i = 0; i < n; i++)
		EXPECT(!pthread_create(&t[i], NULL, work, NULL));
	for (int i = 0; i < n; i++)
		EXPECT(!pthread_join(t[i], NULL));
	return without() - before;
}

int main(int argc, char **argv)
{
	int threads = argc > 3 ? atoi(argv[3]) : 1;
	char *zeros = calloc(64, PIECE);
	uint64_t r, w;

	EXPECT(argc > 2 && threads <= MOST && zeros);
	calls = atoi(argv[2]);
	fd = pvfs_open(argv[1], O_RDWR | O_CREAT, 0644);
	EXPECT(fd >= 0 && pvfs_pwrite(fd, zeros, 64 * PIECE, 0) == 64 * PIECE);
	free(zeros);
	w = in_threads(writes, threads);
	r = in_threads(reads, threads);
	printf("%llu %llu\n", (unsigned long long)r, (unsigned long long)w);
	fflush(stdout);
	while (getchar() != EOF)
		;
	EXPECT(!pvfs_close(fd));
	return 0;
}
