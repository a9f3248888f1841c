/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_copy.c - pvfs_copy_file_range(): rejected arguments, offsets, partitions, and a source that
 * another client has removed.
 *
 * usage: lib_copy DIR ORDINARY (a folder on PVFS and an ordinary one)
 */
#include <fcntl.h>
#include <pvfs.h>
#include <unistd.h>

#include "tests/e2e/lib/opens.h"

#define LEN (1u << 20)

static unsigned char buf[LEN], have[LEN];

static void refused(const char *dir, int a, int b, int ordinary)
{
	int64_t in = 0, out = 10, far = INT64_MAX;
	int folder = open_in(dir, ".", O_RDONLY | O_DIRECTORY);
	int r = open_in(dir, "a", O_RDONLY), w = open_in(dir, "b", O_WRONLY);
	int app = open_in(dir, "b", O_RDWR | O_APPEND);

	EXPECT_ERRNO(pvfs_copy_file_range(a, NULL, b, NULL, 9, 1), EINVAL);
	EXPECT_ERRNO(pvfs_copy_file_range(a, NULL, r, NULL, 9, 0), EBADF);
	EXPECT_ERRNO(pvfs_copy_file_range(w, NULL, b, NULL, 9, 0), EBADF);
	EXPECT_ERRNO(pvfs_copy_file_range(a, NULL, app, NULL, 9, 0), EBADF);
	EXPECT_ERRNO(pvfs_copy_file_range(folder, NULL, b, NULL, 9, 0), EISDIR);
	EXPECT_ERRNO(pvfs_copy_file_range(a, NULL, ordinary, NULL, 9, 0),
		     EXDEV);
	EXPECT_ERRNO(pvfs_copy_file_range(ordinary, NULL, b, NULL, 9, 0),
		     EXDEV);
	EXPECT_ERRNO(pvfs_copy_file_range(a, NULL, 999, NULL, 9, 0), EBADF);
	EXPECT_ERRNO(pvfs_copy_file_range(a, &in, a, &out, 20, 0), EINVAL);
	EXPECT_ERRNO(pvfs_copy_file_range(a, &in, b, &far, 20, 0), EFBIG);
	EXPECT(in == 0 && out == 10 && far == INT64_MAX);
	EXPECT(pvfs_close(folder) == 0 && pvfs_close(r) == 0 &&
	       pvfs_close(w) == 0 && pvfs_close(app) == 0);
}

static void moves_offsets(int a, int b)
{
	int64_t in = LEN - 100;

	EXPECT(pvfs_lseek(b, 50, SEEK_SET) == 50);
	EXPECT(pvfs_copy_file_range(a, &in, b, NULL, 1000, 0) == 100);
	EXPECT(in == LEN && pvfs_lseek(b, 0, SEEK_CUR) == 150);
	EXPECT(pvfs_copy_file_range(a, &in, b, NULL, 1000, 0) == 0);
	EXPECT(pvfs_pread(b, have, 100, 50) == 100);
	EXPECT(filled(have, 100, 1, LEN - 100));
}

/* A partition of the source selects every second 4 KiB; the target gets them contiguously. */
static void sees_parts(int a, int b)
{
	struct fpart part = { .offset = 0, .gsize = 4096, .stride = 8192 };
	int64_t in = 0, out = 0;

	EXPECT(pvfs_ioctl(a, SETPART, &part) == 0);
	EXPECT(pvfs_copy_file_range(a, &in, b, &out, LEN, 0) == LEN / 2);
	EXPECT(pvfs_pread(b, have, LEN / 2, 0) == LEN / 2);
	for (size_t i = 0; i < LEN / 2; i += 4096)
		EXPECT(filled(have + i, 4096, 1, 2 * i));
	part = (struct fpart){ 0 };
	EXPECT(pvfs_ioctl(a, SETPART, &part) == 0);
}

/* A copy from a removed file fails.  It must not copy zeros in place of the data. */
static void misses_the_removed(const char *dir)
{
	int w = open_in(dir, "gone", O_WRONLY | O_CREAT), r;
	int b = open_in(dir, "b", O_RDWR);
	char path[256];

	EXPECT(pvfs_write(w, buf, LEN) == LEN && pvfs_close(w) == 0);
	r = open_in(dir, "gone", O_RDONLY);
	snprintf(path, sizeof(path), "%s/gone", dir);
	EXPECT(pvfs_unlink(path) == 0);
	EXPECT_ERRNO(pvfs_copy_file_range(r, NULL, b, NULL, LEN, 0), ESTALE);
	EXPECT(pvfs_close(r) == 0 && pvfs_close(b) == 0);
}

int main(int argc, char **argv)
{
	int64_t in = 0, out = 0;
	int a, b, ordinary;

	EXPECT(argc == 3);
	a = open_in(argv[1], "a", O_RDWR | O_CREAT);
	b = open_in(argv[1], "b", O_RDWR | O_CREAT);
	ordinary = open_in(argv[2], "o", O_RDWR | O_CREAT);
	fill(buf, LEN, 1, 0);
	EXPECT(pvfs_write(a, buf, LEN) == LEN);
	refused(argv[1], a, b, ordinary);
	EXPECT(pvfs_copy_file_range(a, &in, b, &out, LEN + 1, 0) == LEN);
	EXPECT(in == LEN && out == LEN);
	EXPECT(pvfs_pread(b, have, LEN, 0) == LEN && filled(have, LEN, 1, 0));
	moves_offsets(a, b);
	sees_parts(a, b);
	misses_the_removed(argv[1]);
	EXPECT(pvfs_close(a) == 0 && pvfs_close(b) == 0);
	puts("ok");
	return 0;
}
