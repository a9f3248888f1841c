/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_threads.c - threads of one process use one mount: each its own file, all one descriptor, all
 * append to one file, all change one directory.
 *
 * usage: lib_threads DIR
 */
#include <pthread.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include <pvfs.h>

#define THREADS 6
#define ROUNDS 25
#define BLOCK 50000u
#define RECORD 700u

static const char *dir;
static int shared, appended;

static void path_of(char *path, const char *name, int thread, int round)
{
	snprintf(path, 256, "%s/%s.%d.%d", dir, name, thread, round);
}

static void own_file(int thread, int round, unsigned char *buf)
{
	size_t n = BLOCK * (size_t)(1 + round % 7);
	unsigned int seed = (unsigned int)(thread * 1000 + round);
	char path[256];
	struct stat st;
	int fd;

	path_of(path, "own", thread, round);
	fd = pvfs_open(path, O_RDWR | O_CREAT | O_EXCL, 0644);
	EXPECT(fd >= 0);
	fill(buf, n, seed, 0);
	EXPECT(pvfs_write(fd, buf, n) == (ssize_t)n);
	memset(buf, 0, n);
	EXPECT(pvfs_pread(fd, buf, n + 1, 0) == (ssize_t)n);
	EXPECT(filled(buf, n, seed, 0));
	EXPECT(pvfs_close(fd) == 0);
	EXPECT(pvfs_stat(path, &st) == 0 && st.st_size == (off_t)n);
	if (round % 2)
		EXPECT(pvfs_unlink(path) == 0);
}

static void shared_block(int thread, int round, unsigned char *buf)
{
	size_t at = (size_t)(round * THREADS + thread) * BLOCK;

	fill(buf, BLOCK, 7, at);
	EXPECT(pvfs_pwrite(shared, buf, BLOCK, (int64_t)at) == BLOCK);
	memset(buf, 0, BLOCK);
	EXPECT(pvfs_pread(shared, buf, BLOCK, (int64_t)at) == BLOCK);
	EXPECT(filled(buf, BLOCK, 7, at));
}

static void record(int thread, int round, unsigned char *buf)
{
	buf[0] = (unsigned char)thread;
	buf[1] = (unsigned char)round;
	fill(buf + 2, RECORD - 2, (unsigned int)(thread * 256 + round), 0);
	EXPECT(pvfs_write(appended, buf, RECORD) == RECORD);
}

static void names(int thread, int round)
{
	char a[256], b[256];
	PVFS_DIR *list;

	path_of(a, "name", thread, round);
	path_of(b, "renamed", thread, round);
	EXPECT(pvfs_mkdir(a, 0755) == 0);
	EXPECT(pvfs_rename(a, b) == 0);
	EXPECT_ERRNO(pvfs_rmdir(a), ENOENT);
	list = pvfs_opendir(dir);
	EXPECT(list);
	while (pvfs_readdir(list))
		;
	EXPECT(pvfs_closedir(list) == 0);
	EXPECT(pvfs_rmdir(b) == 0);
}

static void *work(void *arg)
{
	int thread = (int)(intptr_t)arg, round;
	unsigned char *buf = malloc(BLOCK * 8);

	EXPECT(buf);
	for (round = 0; round < ROUNDS; round++) {
		own_file(thread, round, buf);
		shared_block(thread, round, buf);
		record(thread, round, buf);
		names(thread, round);
	}
	free(buf);
	return NULL;
}

static void check_records(void)
{
	static char seen[THREADS][ROUNDS];
	unsigned char buf[RECORD];
	int i, last[THREADS] = { 0 };

	for (i = 0; i < THREADS * ROUNDS; i++) {
		EXPECT(pvfs_pread(appended, buf, RECORD, i * (int64_t)RECORD) ==
		       RECORD);
		EXPECT(buf[0] < THREADS && buf[1] < ROUNDS);
		EXPECT(!seen[buf[0]][buf[1]]++);
		EXPECT(filled(buf + 2, RECORD - 2, buf[0] * 256u + buf[1], 0));
		/* the records of one thread are in the order of its writes */
		EXPECT(buf[1] >= last[buf[0]]);
		last[buf[0]] = buf[1];
	}
	EXPECT(pvfs_pread(appended, buf, 1, i * (int64_t)RECORD) == 0);
}

static int open_in(const char *name, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = pvfs_open(path, flags | O_CREAT, 0644);
	EXPECT(fd >= 0);
	return fd;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	struct stat st;
	int i;

	EXPECT(argc == 2);
	dir = argv[1];
	shared = open_in("shared", O_RDWR);
	appended = open_in("appended", O_RDWR | O_APPEND);
	for (i = 0; i < THREADS; i++)
		EXPECT(!pthread_create(&thread[i], NULL, work,
				       (void *)(intptr_t)i));
	for (i = 0; i < THREADS; i++)
		EXPECT(!pthread_join(thread[i], NULL));
	EXPECT(pvfs_fstat(shared, &st) == 0);
	EXPECT(st.st_size == (off_t)THREADS * ROUNDS * BLOCK);
	check_records();
	EXPECT(pvfs_close(shared) == 0 && pvfs_close(appended) == 0);
	puts("ok");
	return 0;
}
