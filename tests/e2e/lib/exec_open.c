/* SPDX-License-Identifier: BSD-2-Clause */
/* exec_open.c - offsets, flags, close-on-exec and removed files over exec(). */
#include "tests/e2e/lib/exec_rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/fds.h"
#include <pvfs.h>

static int open_dir(void)
{
	char ents[200];
	int i, fd;

	EXPECT(!pvfs_mkdir(in_dir("d"), 0755));
	for (i = 0; i < 10; i++) {
		char name[16];

		snprintf(name, sizeof(name), "d/%d", i);
		pvfs_close(open_in(name, O_CREAT | O_WRONLY));
	}
	fd = open_in("d", O_RDONLY | O_DIRECTORY);
	EXPECT(pvfs_getdents(fd, (struct dirent *)ents, sizeof(ents)) > 0);
	return fd;
}

static int count_rest(int fd)
{
	char ents[4096];
	ssize_t n = pvfs_getdents(fd, (struct dirent *)ents, sizeof(ents)), at;
	int count = 0;

	EXPECT(n >= 0);
	for (at = 0; at < n; count++)
		at += ((struct dirent *)(ents + at))->d_reclen;
	return count;
}

static void chain(void)
{
	struct next next = next_of("chain2");
	struct fpart part = { .offset = 10, .gsize = 5, .stride = 100 };
	int fd = open_in("chain", O_RDWR | O_CREAT), gone, kept, view, d;

	fill(bytes, N, 1, 0);
	EXPECT(pvfs_write(fd, bytes, N) == N);
	EXPECT(pvfs_lseek(fd, 300, SEEK_SET) == 300);
	gone = open_in("chain", O_RDWR | O_CLOEXEC);
	kept = open_in("chain", O_RDWR | O_CLOEXEC);
	EXPECT(!pvfs_fcntl(kept, F_SETFD, 0));
	view = open_in("chain", O_RDONLY);
	EXPECT(!pvfs_ioctl(view, SETPART, &part));
	EXPECT(pvfs_lseek(view, 7, SEEK_SET) == 7);
	d = open_dir();
	with(&next, fd);
	with(&next, pvfs_dup(fd));
	with(&next, open_in("chain", O_WRONLY | O_APPEND | O_SYNC));
	with(&next, gone);
	with(&next, kept);
	with(&next, view);
	with(&next, d);
	with(&next, 10 + 2 - count_rest(d));
	EXPECT(pvfs_lseek(d, 0, SEEK_SET) == 0);
	EXPECT(pvfs_getdents(d, (struct dirent *)bytes, 200) > 0);
	go_on(&next);
}

static void check_flags(int append, int gone, int kept)
{
	EXPECT(pvfs_fcntl(append, F_GETFL) == (O_WRONLY | O_APPEND | O_SYNC));
	EXPECT(pvfs_fcntl(append, F_GETFD) == 0);
	EXPECT_ERRNO(pvfs_lseek(gone, 0, SEEK_CUR), EBADF);
	EXPECT(pvfs_fcntl(kept, F_GETFL) == O_RDWR);
	EXPECT_ERRNO(write(append, "x", 1), EBADF);
}

/*
 * The arguments are descriptors: fd, a copy of it, one with O_APPEND, one that exec() closed, one
 * that it kept, one with a partition, and a directory. The last argument is the number of entries
 * that were read from the directory.
 */
static void chain2(void)
{
	struct next next = next_of("chain3");
	struct fpart part;
	struct stat st;

	check_flags(num(2), num(3), num(4));
	reads_on(num(0), 300, 500);
	reads_on(num(1), 800, 100); /* a copy has the same offset */
	EXPECT(pvfs_write(num(2), "end", 3) == 3);
	EXPECT(pvfs_fstat(num(0), &st) == 0 && st.st_size == N + 3);
	EXPECT(pvfs_lseek(num(4), 0, SEEK_CUR) == 0);
	EXPECT(!pvfs_ioctl(num(5), GETPART, &part));
	EXPECT(part.offset == 10 && part.gsize == 5 && part.stride == 100);
	EXPECT(pvfs_lseek(num(5), 0, SEEK_CUR) == 7);
	EXPECT(pvfs_read(num(5), bytes, 3) == 3 && filled(bytes, 3, 1, 112));
	EXPECT(count_rest(num(6)) == 12 - num(7));
	EXPECT(pvfs_fcntl(num(2), F_SETFL, 0) == 0);
	with(&next, num(0));
	with(&next, num(1));
	with(&next, num(2));
	with(&next, open_in("chain", O_RDONLY));
	EXPECT(pvfs_close(num(1)) == 0);
	with(&next, count_fds());
	go_on(&next);
}

static void chain3(void)
{
	struct stat st;

	reads_on(num(0), 900, 100);
	EXPECT_ERRNO(pvfs_lseek(num(1), 0, SEEK_CUR), EBADF);
	EXPECT(pvfs_fcntl(num(2), F_GETFL) == (O_WRONLY | O_SYNC));
	reads_on(num(3), 0, 100);
	EXPECT(count_fds() <= num(4));
	EXPECT(pvfs_close(num(2)) == 0 && pvfs_close(num(0)) == 0);
	EXPECT(pvfs_fstat(num(3), &st) == 0 && st.st_size == N + 3);
}

static void orphan(void)
{
	struct next next = next_of("orphan2");
	int fd = open_in("orphan", O_RDWR | O_CREAT | O_EXCL);

	fill(bytes, N, 1, 0);
	EXPECT(pvfs_write(fd, bytes, N) == N);
	EXPECT(!pvfs_unlink(in_dir("orphan")));
	EXPECT(pvfs_lseek(fd, 0, SEEK_SET) == 0);
	with(&next, fd);
	run(&next); /* a child can use the file, too */
	EXPECT(pvfs_lseek(fd, 0, SEEK_SET) == 0);
	go_on(&next);
}

static void orphan2(void)
{
	struct stat st;

	reads_on(num(0), 0, N);
	EXPECT(pvfs_write(num(0), bytes, 10) == 10);
	EXPECT(pvfs_fstat(num(0), &st) == 0 && st.st_size == N + 10);
	EXPECT(st.st_nlink == 0);
}

const struct exec_part exec_open_parts[] = {
	PART(chain),  PART(chain2),  PART(chain3),
	PART(orphan), PART(orphan2), { 0 },
};
