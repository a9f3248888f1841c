/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_surface.c - calls of PVFS 1 that programs still use: opens with striping and partition,
 * functions with 64 in their names, old calls for times, directory positions.
 *
 * usage: lib_surface DIR ORDINARY-DIR
 */
#include <dirent.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "tests/e2e/lib/expect.h"
#include <pvfs.h>

#define N 4096
#define GROUP 100
#define STRIDE 300
#define NAMES 20

static char path[300];

static const char *in(const char *dir, const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/*
 * The partition selects bytes 50 to 149, 350 to 449, and so on. A read of 250 bytes ends in the
 * third group.
 */
static void partition(const char *dir, bool pvfs)
{
	struct pvfs_filestat meta = { .base = 1, .pcount = 2, .ssize = 128 };
	struct fpart part = { .offset = 50, .gsize = GROUP, .stride = STRIDE };
	struct fpart got, none = { .gsize = -1 };
	unsigned char buf[N], all[N];
	int fd = pvfs_open64(in(dir, "part"), O_RDWR | O_CREAT, 0600), k;

	EXPECT(fd >= 0);
	fill(all, N, 1, 0);
	EXPECT(pvfs_write(fd, all, N) == N && pvfs_close(fd) == 0);
	fd = pvfs_open(path, O_RDWR | O_META | O_PART, 0600, &meta, &part);
	EXPECT(fd >= 0);
	EXPECT(pvfs_ioctl(fd, GETPART, &got) == 0);
	EXPECT(!memcmp(&got, &part, sizeof(part)));
	EXPECT(pvfs_read(fd, buf, 250) == 250);
	for (k = 0; k < 250; k++)
		EXPECT(buf[k] == all[50 + k / GROUP * STRIDE + k % GROUP]);
	EXPECT_ERRNO(pvfs_ioctl(fd, SETPART, &none), EINVAL);
	part = (struct fpart){ .offset = 7 };
	EXPECT(pvfs_ioctl(fd, SETPART, &part) == 0);
	EXPECT(pvfs_lseek64(fd, 0, SEEK_CUR) == 0);
	EXPECT(pvfs_read(fd, buf, 10) == 10 && !memcmp(buf, all + 7, 10));
	if (!pvfs)
		EXPECT_ERRNO(pvfs_ioctl(fd, GETMETA, &meta), ENOTTY);
	EXPECT(pvfs_close(fd) == 0 && pvfs_unlink(path) == 0);
	EXPECT_ERRNO(pvfs_open(path, O_RDWR | O_CREAT | O_PART, 0600, &none),
		     EINVAL);
}

static void striping(const char *dir)
{
	struct pvfs_filestat meta = { .base = 1, .pcount = 2, .ssize = 128 };
	struct pvfs_filestat got;
	int fd = pvfs_open(in(dir, "meta"), O_RDWR | O_CREAT | O_META, 0600,
			   &meta);

	EXPECT(fd >= 0 && pvfs_ioctl(fd, GETMETA, &got) == 0);
	EXPECT(got.base == 1 && got.pcount == 2 && got.ssize == 128);
	EXPECT_ERRNO(pvfs_ioctl(fd, 0x5604, &got), ENOTTY);
	EXPECT(pvfs_close(fd) == 0 && pvfs_unlink(path) == 0);
	meta.pcount = 1000;
	EXPECT_ERRNO(pvfs_open(path, O_RDWR | O_CREAT | O_META, 0600, &meta),
		     EINVAL);
}

/* lchown() changes a symlink, and chown() its target. */
static void owners(const char *dir)
{
	const uid_t uid = geteuid() ? geteuid() : 4711;
	const gid_t gid = geteuid() ? getegid() : 4712;
	int fd = pvfs_creat(in(dir, "owned"), 0600);
	struct stat st;

	EXPECT(fd >= 0 && pvfs_fchown(fd, uid, gid) == 0);
	EXPECT(pvfs_fstat(fd, &st) == 0);
	EXPECT(st.st_uid == uid && st.st_gid == gid && pvfs_close(fd) == 0);
	EXPECT_ERRNO(pvfs_fchown(fd, uid, gid), EBADF);
	EXPECT(pvfs_symlink("owned", in(dir, "link")) == 0);
	EXPECT(pvfs_chown(path, geteuid(), getegid()) == 0);
	EXPECT(pvfs_lchown(path, uid, gid) == 0);
	EXPECT(pvfs_lstat(path, &st) == 0);
	EXPECT(st.st_uid == uid && st.st_gid == gid);
	EXPECT(pvfs_stat(path, &st) == 0);
	EXPECT(st.st_uid == geteuid() && st.st_gid == getegid());
	EXPECT(pvfs_unlink(path) == 0);
	EXPECT_ERRNO(pvfs_lchown(path, uid, gid), ENOENT);
	EXPECT(pvfs_unlink(in(dir, "owned")) == 0);
	EXPECT_ERRNO(pvfs_chown(path, uid, gid), ENOENT);
}

/* A mapping is a private copy of the content at this time. */
static void mapping(const char *dir, bool pvfs)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = pvfs_open(in(dir, "mapped"), O_RDWR | O_CREAT, 0600);
	unsigned char all[N], *mem, byte = 0;

	EXPECT(fd >= 0);
	fill(all, N, 3, 0);
	EXPECT(pvfs_write(fd, all, N) == N);
	mem = pvfs_mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	EXPECT(mem != MAP_FAILED && !memcmp(mem, all, N));
	mem[7] = (unsigned char)~all[7];
	EXPECT(pvfs_pread(fd, &byte, 1, 7) == 1 && byte == all[7]);
	EXPECT(pvfs_munmap(mem, page) == 0);
	EXPECT(msync(mem, page, MS_ASYNC) < 0 && errno == ENOMEM);
	EXPECT(pvfs_munmap(mem + 1, page) < 0 && errno == EINVAL);
	EXPECT(pvfs_mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 1) ==
	       MAP_FAILED);
	EXPECT(errno == EINVAL);
	if (pvfs) {
		EXPECT(pvfs_mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0) ==
		       MAP_FAILED);
		EXPECT(errno == ENODEV);
	}
	EXPECT(pvfs_close(fd) == 0 && pvfs_unlink(path) == 0);
	EXPECT(pvfs_mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0) ==
	       MAP_FAILED);
	EXPECT(errno == EBADF);
}

static void sizes_and_times(const char *dir)
{
	const struct timeval tv[2] = { { 1000, 5 }, { 2000, 7 } };
	const struct utimbuf old = { .actime = 3000, .modtime = 4000 };
	int fd = pvfs_creat(in(dir, "file"), 0600);
	struct stat st;

	EXPECT(fd >= 0 && pvfs_ftruncate64(fd, 3LL << 32) == 0);
	EXPECT(pvfs_fdatasync(fd) == 0 && pvfs_fsync(fd) == 0);
	EXPECT(pvfs_fstat(fd, &st) == 0 && st.st_size == 3LL << 32);
	EXPECT(pvfs_close(fd) == 0);
	EXPECT_ERRNO(pvfs_fdatasync(fd), EBADF);
	EXPECT_ERRNO(pvfs_fsync(fd), EBADF);
	EXPECT(pvfs_truncate64(path, 5) == 0);
	EXPECT(pvfs_utimes(path, tv) == 0);
	EXPECT(pvfs_stat(path, &st) == 0 && st.st_size == 5);
	EXPECT(st.st_atime == 1000 && st.st_mtime == 2000);
	EXPECT(st.st_mtim.tv_nsec == 7000);
	EXPECT(pvfs_utime(path, &old) == 0 && pvfs_lstat(path, &st) == 0);
	EXPECT(st.st_atime == 3000 && st.st_mtime == 4000);
	EXPECT(pvfs_unlink(path) == 0);
	EXPECT_ERRNO(pvfs_utime(path, NULL), ENOENT);
}

/* Returns to the position after half of the names.  The rest of the names is the same again. */
static void positions(const char *dir)
{
	char first[NAMES + 2][64];
	int fd, i, n, half = NAMES / 2;
	struct dirent *e;
	PVFS_DIR *d;
	long pos = 0;

	EXPECT(pvfs_mkdir(in(dir, "dir"), 0700) == 0);
	for (i = 0; i < NAMES; i++) {
		snprintf(path, sizeof(path), "%s/dir/%d", dir, i);
		EXPECT(pvfs_close(pvfs_creat(path, 0600)) == 0);
	}
	fd = pvfs_open(in(dir, "dir"), O_RDONLY | O_DIRECTORY);
	EXPECT(fd >= 0 && (d = pvfs_fdopendir(fd)) && pvfs_dirfd(d) == fd);
	for (n = 0; (e = pvfs_readdir(d)) != NULL; n++) {
		EXPECT(n < NAMES + 2);
		snprintf(first[n], sizeof(first[n]), "%.63s", e->d_name);
		if (n == half)
			pos = pvfs_telldir(d);
	}
	EXPECT(n == NAMES + 2);
	pvfs_seekdir(d, pos);
	for (n = half + 1; (e = pvfs_readdir(d)) != NULL; n++)
		EXPECT(n < NAMES + 2 && !strcmp(e->d_name, first[n]));
	EXPECT(n == NAMES + 2);
	pvfs_rewinddir(d);
	EXPECT((e = pvfs_readdir(d)) && !strcmp(e->d_name, first[0]));
	EXPECT(pvfs_closedir(d) == 0);
}

static void entries(const char *dir)
{
	int fd = pvfs_open(in(dir, "dir"), O_RDONLY), names = 0;
	_Alignas(8) char buf[512];
	ssize_t n, at;

	EXPECT_ERRNO(pvfs_getdents(fd, buf, 1), EINVAL);
	while ((n = pvfs_getdents(fd, buf, sizeof(buf))) > 0) {
		for (at = 0; at < n; names++)
			at += ((struct dirent *)(buf + at))->d_reclen;
		EXPECT(at == n);
	}
	EXPECT(n == 0 && names == NAMES + 2 && pvfs_close(fd) == 0);
}

/* Calls on files of the wrong type, or with the wrong open mode, fail. */
static void wrong_kinds(const char *dir, bool pvfs)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = pvfs_open(in(dir, "written"), O_WRONLY | O_CREAT, 0600);
	int top = pvfs_open(dir, O_RDONLY);
	struct fpart part = { .offset = 1 };
	struct pvfs_filestat meta;
	char buf[512];

	EXPECT(fd >= 0 && top >= 0);
	EXPECT_ERRNO(pvfs_getdents(fd, buf, sizeof(buf)), ENOTDIR);
	EXPECT(pvfs_mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0) ==
	       MAP_FAILED);
	EXPECT(errno == EACCES);
	EXPECT(pvfs_mmap(NULL, page, PROT_READ, MAP_PRIVATE, top, 0) ==
	       MAP_FAILED);
	EXPECT(errno == ENODEV);
	EXPECT_ERRNO(pvfs_ioctl(top, SETPART, &part), EINVAL);
	if (pvfs)
		EXPECT_ERRNO(pvfs_ioctl(top, GETMETA, &meta), EINVAL);
	EXPECT(pvfs_close(top) == 0 && pvfs_close(fd) == 0);
	EXPECT_ERRNO(pvfs_ioctl(fd, SETPART, &part), EBADF);
	EXPECT_ERRNO(pvfs_ioctl(fd, GETPART, &part), EBADF);
	EXPECT(pvfs_unlink(path) == 0);
}

int main(int argc, char **argv)
{
	EXPECT(argc == 3 && *pvfs_version());
	for (int i = 1; i < 3; i++) {
		partition(argv[i], i == 1);
		owners(argv[i]);
		mapping(argv[i], i == 1);
		sizes_and_times(argv[i]);
		positions(argv[i]);
		entries(argv[i]);
		wrong_kinds(argv[i], i == 1);
	}
	striping(argv[1]);
	return 0;
}
