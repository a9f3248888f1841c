/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_calls.c - results of list calls with unusual lists, on a PVFS file and on an ordinary one; a
 * list with more pieces than a message holds; clients that write neighbouring pieces concurrently.
 *
 * usage: list_calls PVFS-FILE ORDINARY-FILE [sound]
 *
 * With `sound`, no list has unmapped memory, because some transports do not detect that.
 */
#include <pvfs.h>

#include "tests/e2e/lib/expect.h"

#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static char data[4096];

static int one(int fd, int write, int mlen, int64_t off, int32_t len)
{
	char *mem[] = { data };

	return (write ? pvfs_write_list : pvfs_read_list)(fd, 1, mem, &mlen, 1,
							  &off, &len);
}

static void refused(int fd)
{
	char *mem[] = { data, data + 100 }, *parent[] = { data, data };
	int mlen[] = { 100, 100 }, plen[] = { 200, 199 };
	int64_t off[] = { 0, 1000 };
	int32_t len[] = { 100, 100 };
	size_t mlen64 = SSIZE_MAX, plen64[] = { 200, 200 };
	int64_t len64 = INT64_MAX;

	EXPECT_ERRNO(one(fd, 1, 10, 0, 11), EINVAL);
	EXPECT_ERRNO(one(fd, 0, 10, 0, 9), EINVAL);
	EXPECT_ERRNO(one(fd, 1, -1, 0, -1), EINVAL);
	EXPECT_ERRNO(one(fd, 1, 1, -1, 1), EINVAL);
	EXPECT_ERRNO(one(fd, 1, 2, INT64_MAX - 1, 2), EFBIG);
	EXPECT_ERRNO(one(fd, 0, 2, INT64_MAX - 1, 2), EOVERFLOW);
	EXPECT_ERRNO(pvfs_read_list(fd, -1, mem, mlen, 1, off, len), EINVAL);
	EXPECT_ERRNO(pvfs_read_list(fd, 1, mem, mlen, -1, off, len), EINVAL);
	EXPECT_ERRNO(pvfs_read_list_hints(fd, 2, mem, mlen, parent, plen, 2,
					  off, len),
		     EINVAL);
	parent[1] = data + 101;
	plen[1] = 200;
	EXPECT_ERRNO(pvfs_write_list_hints(fd, 2, mem, mlen, parent, plen, 2,
					   off, len),
		     EINVAL);
	EXPECT_ERRNO(pvfs_read_list64(fd, 1, mem, &mlen64, parent, plen64, 1,
				      off, &len64),
		     EINVAL);
	EXPECT(pvfs_lseek(fd, 0, SEEK_END) == 0);
}

static void answered(int fd)
{
	char *mem[] = { data, NULL, data + 10 };
	int mlen[] = { 10, 0, 5 };
	int64_t off[] = { 100, 50, 0 };
	int32_t len[] = { 5, 0, 10 };

	EXPECT(pvfs_write_list(fd, 0, NULL, NULL, 0, NULL, NULL) == 0);
	EXPECT(one(fd, 0, 0, 7, 0) == 0);
	memcpy(data, "abcdefghijklmno", 15);
	EXPECT(pvfs_write_list(fd, 3, mem, mlen, 3, off, len) == 15);
	EXPECT(pvfs_lseek(fd, 0, SEEK_CUR) == 0);
	EXPECT(pvfs_lseek(fd, 0, SEEK_END) == 105);
	memset(data, '-', sizeof(data));
	EXPECT(pvfs_read_list(fd, 3, mem, mlen, 3, off, len) == 15);
	EXPECT(!memcmp(data, "abcdefghijklmno-", 16));
	/* the end of the file in the middle of the list */
	off[0] = 103;
	memset(data, '-', sizeof(data));
	EXPECT(pvfs_read_list(fd, 3, mem, mlen, 3, off, len) == 2);
	EXPECT(!memcmp(data, "de---fghijklmno-", 16));
	EXPECT(one(fd, 0, 10, 105, 10) == 0);
	EXPECT(one(fd, 0, 10, 1ll << 50, 10) == 0);
}

static void not_allowed(const char *path)
{
	int fd = pvfs_open(path, O_RDONLY);

	EXPECT_ERRNO(one(fd, 1, 1, 0, 1), EBADF);
	EXPECT(pvfs_close(fd) == 0);
	fd = pvfs_open(path, O_WRONLY);
	EXPECT_ERRNO(one(fd, 0, 1, 0, 1), EBADF);
	EXPECT(pvfs_close(fd) == 0);
	EXPECT_ERRNO(one(-1, 0, 1, 0, 1), EBADF);
}

/* Half of the memory is unmapped, with small pieces and with large ones. */
static void no_memory(int fd, size_t len)
{
	enum { N = 100 };
	char *gone = mmap(NULL, N * len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	char *good = malloc(N * len), *mem[2] = { good, gone };
	size_t mlen[2] = { N / 2 * len, N / 2 * len };
	int64_t off[N], n[N];

	EXPECT(gone != MAP_FAILED && good);
	fill((unsigned char *)good, N * len, 1, 0);
	for (int i = 0; i < N; i++) {
		off[i] = i * (int64_t)len * 2;
		n[i] = (int64_t)len;
	}
	EXPECT_ERRNO(pvfs_write_list64(fd, 2, mem, mlen, NULL, NULL, N, off, n),
		     EFAULT);
	EXPECT(pvfs_ftruncate(fd, N * (int64_t)len * 2) == 0);
	EXPECT_ERRNO(pvfs_read_list64(fd, 2, mem, mlen, NULL, NULL, N, off, n),
		     EFAULT);
	mlen[0] = N * len;
	fill((unsigned char *)good, N * len, 1, 0);
	EXPECT(pvfs_write_list64(fd, 1, mem, mlen, NULL, NULL, N, off, n) ==
	       (ssize_t)(N * len));
	memset(good, 0, N * len);
	EXPECT(pvfs_read_list64(fd, 1, mem, mlen, NULL, NULL, N, off, n) ==
	       (ssize_t)(N * len));
	EXPECT(filled((unsigned char *)good, N * len, 1, 0));
	EXPECT(pvfs_ftruncate(fd, 0) == 0);
	munmap(gone, N * len);
	free(good);
}

/* A hint with a memory range that is partly unmapped is harmless. */
static void wrong_hint(int fd)
{
	enum { LEN = 1 << 20 };
	char *map = mmap(NULL, 2 * LEN, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *mem[] = { map }, *parent[] = { map };
	size_t mlen = LEN, plen = 2 * LEN;
	int64_t off = 0, len = LEN;

	EXPECT(map != MAP_FAILED);
	EXPECT(munmap(map + LEN, LEN) == 0);
	memset(map, 'x', LEN);
	EXPECT(pvfs_write_list64(fd, 1, mem, &mlen, parent, &plen, 1, &off,
				 &len) == LEN);
	EXPECT(pvfs_read_list64(fd, 1, mem, &mlen, parent, &plen, 1, &off,
				&len) == LEN);
	EXPECT(pvfs_ftruncate(fd, 0) == 0);
	munmap(map, LEN);
}

static void no_append(const char *path)
{
	int fd = pvfs_open(path, O_WRONLY | O_APPEND);

	EXPECT_ERRNO(one(fd, 1, 1, 0, 1), EINVAL);
	EXPECT(pvfs_close(fd) == 0);
}

/* A list has more pieces than a message holds: with equal distances, and with random ones. */
static void long_list(int fd, unsigned int jitter)
{
	enum { N = 150000 };
	static int64_t off[N], len[N];
	static unsigned char out[3 * N], in[3 * N];
	char *mem[] = { (char *)out };
	size_t mlen = 0;
	unsigned int i, seed = 1;

	for (i = 0; i < N; i++) {
		off[i] = (int64_t)i * 8 + (jitter ? rand_r(&seed) % 5 : 0);
		len[i] = 3;
		mlen += 3;
	}
	fill(out, sizeof(out), jitter, 0);
	EXPECT(pvfs_write_list64(fd, 1, mem, &mlen, NULL, NULL, N, off, len) ==
	       (ssize_t)mlen);
	mem[0] = (char *)in;
	EXPECT(pvfs_read_list64(fd, 1, mem, &mlen, NULL, NULL, N, off, len) ==
	       (ssize_t)mlen);
	EXPECT(!memcmp(in, out, sizeof(in)));
}

/* ---- neighbours ---- */

#define WRITERS 4
#define ROWS 2000
#define CELL 40

struct writer {
	pthread_t thread;
	const char *path;
	unsigned int id;
};

/* Writes and reads cell id of every row repeatedly, each time with other bytes. */
static void *write_cells(void *arg)
{
	struct writer *w = arg;
	int fd = pvfs_open(w->path, O_RDWR);
	int64_t off[ROWS], len[ROWS];
	size_t mlen = (size_t)ROWS * CELL;
	unsigned char *buf = malloc(mlen);
	char *mem[] = { (char *)buf };
	unsigned int i, round;

	EXPECT(fd >= 0 && buf);
	for (i = 0; i < ROWS; i++) {
		off[i] = ((int64_t)i * WRITERS + w->id) * CELL;
		len[i] = CELL;
	}
	for (round = 0; round < 20; round++) {
		fill(buf, mlen, w->id + round * WRITERS, 0);
		EXPECT(pvfs_write_list64(fd, 1, mem, &mlen, NULL, NULL, ROWS,
					 off, len) == (ssize_t)mlen);
		memset(buf, 0, mlen);
		EXPECT(pvfs_read_list64(fd, 1, mem, &mlen, NULL, NULL, ROWS,
					off, len) == (ssize_t)mlen);
		EXPECT(filled(buf, mlen, w->id + round * WRITERS, 0));
	}
	EXPECT(pvfs_close(fd) == 0);
	free(buf);
	return NULL;
}

static void neighbours(const char *path)
{
	struct writer w[WRITERS];
	unsigned int i;

	for (i = 0; i < WRITERS; i++) {
		w[i].path = path;
		w[i].id = i;
		pthread_create(&w[i].thread, NULL, write_cells, &w[i]);
	}
	for (i = 0; i < WRITERS; i++)
		pthread_join(w[i].thread, NULL);
}

int main(int argc, char **argv)
{
	int i, fd;

	EXPECT(argc == 3 || argc == 4);
	for (i = 1; i < 3; i++) {
		fd = pvfs_open(argv[i], O_CREAT | O_RDWR, 0644);
		EXPECT(fd >= 0);
		refused(fd);
		if (argc == 3) {
			no_memory(fd, 200);
			no_memory(fd, 50000);
		}
		wrong_hint(fd);
		answered(fd);
		not_allowed(argv[i]);
	}
	no_append(argv[1]);
	fd = pvfs_open(argv[1], O_RDWR);
	long_list(fd, 0);
	long_list(fd, 1);
	EXPECT(pvfs_close(fd) == 0);
	neighbours(argv[1]);
	return 0;
}
