/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mdbi.c - random reads and writes of blocks of a three-dimensional array, through two descriptors
 * of one file, compared with an array in memory.
 *
 * usage: mdbi SEED FILE
 */
#include <pvfs.h>
#include <pvfs_mdbi.h>

#include "tests/e2e/lib/expect.h"

#define REC 5
static const int ne[3] = { 7, 2, 3 }, nb[3] = { 5, 4, 6 };
#define BLOCK (REC * 7 * 2 * 3)
#define ALL (BLOCK * 5 * 4 * 6)

static unsigned char model[ALL];
static unsigned int seed;

static int roll(int below)
{
	return rand_r(&seed) % below;
}

/* Copies a block between the model and memory. */
static void copy(int to_model, unsigned char *buf, const int *at)
{
	size_t w1 = (size_t)ne[0] * nb[0], w2 = (size_t)ne[1] * nb[1];

	for (int z = 0; z < ne[2]; z++)
		for (int y = 0; y < ne[1]; y++)
			for (int x = 0; x < ne[0]; x++) {
				size_t rec = (size_t)(at[2] * ne[2] + z) * w2;
				unsigned char *m;

				rec = (rec + at[1] * ne[1] + y) * w1;
				m = model + (rec + at[0] * ne[0] + x) * REC;
				if (to_model)
					memcpy(m, buf, REC);
				else
					memcpy(buf, m, REC);
				buf += REC;
			}
}

static void one_block(int fd)
{
	unsigned char buf[BLOCK], want[BLOCK];
	int at[3] = { roll(nb[0]), roll(nb[1]), roll(nb[2]) };

	if (roll(2)) {
		fill(buf, BLOCK, seed, 0);
		copy(1, buf, at);
		EXPECT(write_blk(fd, (char *)buf, at[0], at[1], at[2]) ==
		       BLOCK);
		return;
	}
	memset(buf, 0x5a, BLOCK);
	EXPECT(read_blk(fd, (char *)buf, at[0], at[1], at[2]) == BLOCK);
	copy(0, want, at);
	EXPECT(!memcmp(buf, want, BLOCK));
}

static void whole_file(const char *path)
{
	static unsigned char whole[ALL + 1];
	int fd = pvfs_open(path, O_RDONLY);
	int64_t n = pvfs_pread(fd, whole, sizeof(whole), 0);

	EXPECT(n > 0 && n <= ALL);
	EXPECT(!memcmp(whole, model, ALL));
	EXPECT(pvfs_close(fd) == 0);
}

static void shape(int fd)
{
	EXPECT(set_blk(fd, 3, REC, ne[0], nb[0], ne[1], nb[1], ne[2], nb[2]) ==
	       0);
}

static void refused(const char *path)
{
	int fd = open_blk(path, O_RDWR | O_CREAT, 0644);
	char c;

	EXPECT(fd >= 0);
	EXPECT_ERRNO(read_blk(fd, &c, 0), EINVAL);
	EXPECT_ERRNO(buf_blk(fd, 2), EINVAL);
	EXPECT_ERRNO(set_blk(fd, 0, 1, 1, 1), EINVAL);
	EXPECT_ERRNO(set_blk(fd, 17, 1, 1, 1), EINVAL);
	EXPECT_ERRNO(set_blk(fd, 1, 0, 1, 1), EINVAL);
	EXPECT_ERRNO(set_blk(fd, 2, 1, 65536, 1, 65536, 1), EINVAL);
	EXPECT(set_blk(fd, 1, 1, 1, 10) == 0);
	EXPECT_ERRNO(read_blk(fd, &c, 10), EINVAL);
	EXPECT_ERRNO(write_blk(fd, &c, -1), EINVAL);
	EXPECT_ERRNO(buf_blk(fd, 0), EINVAL);
	EXPECT(read_blk(fd, &c, 9) == 1 && c == 0);
	EXPECT(close_blk(fd) == 0);
	EXPECT_ERRNO(close_blk(fd), EBADF);
	EXPECT_ERRNO(set_blk(fd, 1, 1, 1, 10), EBADF);
	EXPECT_ERRNO(buf_blk(fd, 1), EBADF);
	EXPECT_ERRNO(read_blk(fd, &c, 0), EBADF);
	EXPECT_ERRNO(write_blk(fd, &c, 0), EBADF);
	EXPECT_ERRNO(fsync_blk(fd), EBADF);
	EXPECT_ERRNO(open_blk("/nothing/here", O_RDONLY, 0), ENOENT);
	EXPECT_ERRNO(open_blk(path, O_RDWR | O_APPEND, 0), EINVAL);
	/* a block that can never be written is rejected immediately */
	fd = open_blk(path, O_RDONLY, 0);
	EXPECT(set_blk(fd, 1, 1, 1, 10) == 0 && buf_blk(fd, 2) == 0);
	EXPECT_ERRNO(write_blk(fd, &c, 0), EBADF);
	EXPECT(read_blk(fd, &c, 0) == 1);
	EXPECT(close_blk(fd) == 0);
	EXPECT_ERRNO(pvfs_fcntl(fd, F_GETFD), EBADF);
}

int main(int argc, char **argv)
{
	int fd[2], step;

	EXPECT(argc == 3);
	seed = (unsigned int)atoi(argv[1]);
	refused(argv[2]);
	for (int i = 0; i < 2; i++) {
		fd[i] = open_blk(argv[2], O_RDWR, 0);
		EXPECT(fd[i] >= 0);
		shape(fd[i]);
	}
	for (step = 0; step < 40; step++) {
		int to = roll(2);

		/* one descriptor at a time: its buffer is private until the flush */
		if (roll(2))
			shape(fd[to]);
		EXPECT(buf_blk(fd[to], 1 + roll(3), 1 + roll(3), 1 + roll(3)) ==
		       0);
		for (int i = roll(60); i > 0; i--)
			one_block(fd[to]);
		EXPECT(fsync_blk(fd[to]) == 0);
	}
	one_block(fd[0]);
	EXPECT(close_blk(fd[0]) == 0);
	EXPECT(close_blk(fd[1]) == 0);
	whole_file(argv[2]);
	return 0;
}
