/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_fault.c - calls with unmapped buffers soon fail with EFAULT, and concurrent calls of other
 * threads succeed.
 *
 * usage: lib_fault DIR
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "tests/e2e/lib/expect.h"
#include <pvfs.h>

#define LEN (3u << 20)

static unsigned char good[LEN];
static atomic_bool over;

/*
 * Returns the middle of a region whose second half is inaccessible. That half stays reserved:
 * otherwise a later mapping of the library could get its addresses.
 */
static char *half_mapped(void)
{
	char *mem = mmap(NULL, 2 * LEN, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(mem != MAP_FAILED);
	memset(mem, 1, 2 * LEN);
	EXPECT(mprotect(mem + LEN, LEN, PROT_NONE) == 0);
	return mem + LEN;
}

static void *neighbour(void *arg)
{
	unsigned char buf[5000], seen[5000];
	int fd = *(const int *)arg;
	unsigned int round;

	for (round = 0; !atomic_load(&over) || round < 3; round++) {
		fill(buf, sizeof(buf), round, 0);
		EXPECT(pvfs_pwrite(fd, buf, sizeof(buf), 0) == sizeof(buf));
		EXPECT(pvfs_pread(fd, seen, sizeof(seen), 0) == sizeof(seen));
		EXPECT(!memcmp(buf, seen, sizeof(buf)));
	}
	return NULL;
}

static void one_size(int fd, char *gone, size_t n)
{
	struct iovec iov[2] = { { good, 100 }, { gone, n } };
	char *cut = gone - n / 2;

	EXPECT_ERRNO(pvfs_pwrite(fd, gone, n, 0), EFAULT);
	EXPECT_ERRNO(pvfs_pwrite(fd, cut, n, 0), EFAULT);
	EXPECT_ERRNO(pvfs_pwrite(fd, NULL, n, 0), EFAULT);
	EXPECT_ERRNO(pvfs_pwritev(fd, iov, 2, 0), EFAULT);
	EXPECT_ERRNO(pvfs_pread(fd, gone, n, 0), EFAULT);
	EXPECT_ERRNO(pvfs_pread(fd, cut, n, 0), EFAULT);
	EXPECT_ERRNO(pvfs_pread(fd, NULL, n, 0), EFAULT);
	EXPECT_ERRNO(pvfs_preadv(fd, iov, 2, 0), EFAULT);
	/* a range of the file without data */
	EXPECT_ERRNO(pvfs_pread(fd, gone, n, LEN), EFAULT);
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 1, 100, 4096, 5000, 65536, 300000, LEN };
	char *gone = half_mapped(), path[256];
	pthread_t other;
	int fd, his;
	size_t i;

	EXPECT(argc == 2);
	snprintf(path, sizeof(path), "%s/his", argv[1]);
	his = pvfs_open(path, O_RDWR | O_CREAT, 0644);
	snprintf(path, sizeof(path), "%s/fault", argv[1]);
	fd = pvfs_open(path, O_RDWR | O_CREAT, 0644);
	EXPECT(fd >= 0 && his >= 0);
	fill(good, LEN, 1, 0);
	EXPECT(pvfs_pwrite(fd, good, LEN, 0) == LEN);
	EXPECT(pvfs_ftruncate(fd, 2 * (int64_t)LEN) == 0);
	EXPECT(pthread_create(&other, NULL, neighbour, &his) == 0);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		one_size(fd, gone, sizes[i]);
	atomic_store(&over, true);
	EXPECT(pthread_join(other, NULL) == 0);
	fill(good, LEN, 1, 0);
	EXPECT(pvfs_pwrite(fd, good, LEN, 0) == LEN);
	memset(good, 0, LEN);
	EXPECT(pvfs_pread(fd, good, LEN, 0) == LEN && filled(good, LEN, 1, 0));
	EXPECT(pvfs_close(fd) == 0 && pvfs_close(his) == 0);
	puts("ok");
	return 0;
}
