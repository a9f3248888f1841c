/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_at.c - calls relative to the descriptor of a directory. On PVFS they must have the same
 * results as on ordinary files. Some of the paths leave PVFS.
 */
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include <pvfs.h>

static void put(int dir, const char *name, const char *text)
{
	int fd = pvfs_openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0640);

	EXPECT(fd >= 0);
	EXPECT(pvfs_write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	EXPECT(pvfs_close(fd) == 0);
}

static int holds(int dir, const char *name, const char *text)
{
	int fd = pvfs_openat(dir, name, O_RDONLY);
	char buf[64] = "";

	EXPECT(fd >= 0);
	EXPECT(pvfs_read(fd, buf, sizeof(buf) - 1) >= 0);
	EXPECT(pvfs_close(fd) == 0);
	return !strcmp(buf, text);
}

static void names(int dir)
{
	struct stat st;
	char buf[64] = "";

	EXPECT(pvfs_mkdirat(dir, "sub", 0755) == 0);
	EXPECT_ERRNO(pvfs_mkdirat(dir, "sub", 0755), EEXIST);
	put(dir, "sub/f", "text");
	EXPECT(pvfs_linkat(dir, "sub/f", dir, "hard", 0) == 0);
	EXPECT(pvfs_linkat(dir, "sub/f", dir, "h2", AT_SYMLINK_FOLLOW) == 0);
	EXPECT(pvfs_linkat(dir, "sub/f", dir, "h3", AT_EMPTY_PATH) == 0);
	if (pvfs_is_pvfs_fd(dir))
		EXPECT_ERRNO(pvfs_linkat(dir, "", dir, "h4", AT_EMPTY_PATH),
			     EINVAL);
	EXPECT_ERRNO(pvfs_linkat(dir, "", dir, "h4", 0), ENOENT);
	EXPECT_ERRNO(pvfs_renameat2(dir, "", dir, "h4", 0), ENOENT);
	EXPECT(pvfs_unlinkat(dir, "h3", 0) == 0);
	EXPECT(pvfs_symlinkat("sub/f", dir, "soft") == 0);
	EXPECT(pvfs_readlinkat(dir, "soft", buf, sizeof(buf)) == 5);
	EXPECT(!strcmp(buf, "sub/f") && holds(dir, "soft", "text"));
	EXPECT(pvfs_mknodat(dir, "fifo", S_IFIFO | 0600, 0) == 0);
	EXPECT(pvfs_fstatat(dir, "fifo", &st, 0) == 0 && S_ISFIFO(st.st_mode));
	EXPECT(pvfs_renameat2(dir, "hard", dir, "sub/moved", 0) == 0);
	EXPECT_ERRNO(pvfs_renameat2(dir, "h2", dir, "sub/f", RENAME_NOREPLACE),
		     EEXIST);
	EXPECT_ERRNO(pvfs_unlinkat(dir, "sub", AT_REMOVEDIR), ENOTEMPTY);
	EXPECT_ERRNO(pvfs_unlinkat(dir, "sub", 0), EISDIR);
	EXPECT_ERRNO(pvfs_unlinkat(dir, "", 0), ENOENT);
	EXPECT(pvfs_unlinkat(dir, "h2", 0) == 0);
	EXPECT(pvfs_unlinkat(dir, "fifo", 0) == 0);
}

static void attributes(int dir)
{
	const struct timespec times[2] = { { 1000, 5 }, { 2000, 7 } };
	struct stat st;

	EXPECT(pvfs_fstatat(dir, "soft", &st, AT_SYMLINK_NOFOLLOW) == 0);
	EXPECT(S_ISLNK(st.st_mode));
	EXPECT(pvfs_fchmodat(dir, "soft", 0604, 0) == 0);
	EXPECT(pvfs_utimensat(dir, "sub/f", times, 0) == 0);
	EXPECT(pvfs_fchownat(dir, "sub/f", getuid(), (gid_t)-1, 0) == 0);
	EXPECT(pvfs_fstatat(dir, "soft", &st, 0) == 0);
	EXPECT((st.st_mode & 07777) == 0604 && st.st_nlink == 2);
	EXPECT(st.st_mtim.tv_sec == 2000 && st.st_mtim.tv_nsec == 7);
	EXPECT(pvfs_faccessat(dir, "sub/f", R_OK | W_OK, 0) == 0);
	EXPECT_ERRNO(pvfs_faccessat(dir, "none", F_OK, 0), ENOENT);
	EXPECT(pvfs_fstatat(dir, "", &st, AT_EMPTY_PATH) == 0);
	EXPECT(S_ISDIR(st.st_mode));
	EXPECT_ERRNO(pvfs_fstatat(dir, "", &st, 0), ENOENT);
	EXPECT_ERRNO(pvfs_fstatat(dir, "sub", &st, 1 << 30), EINVAL);
	EXPECT_ERRNO(pvfs_unlinkat(dir, "sub", 1 << 30), EINVAL);
}

/*
 * The descriptor follows its directory when this is renamed. Absolute paths ignore the descriptor.
 */
static void moved(int top, int dir, const char *where)
{
	char path[600];

	EXPECT(pvfs_renameat2(top, "d", top, "e", 0) == 0);
	EXPECT(pvfs_mkdirat(top, "d", 0755) == 0);
	put(dir, "new", "here");
	snprintf(path, sizeof(path), "%s/e/new", where);
	EXPECT(holds(dir, path, "here") && holds(-1, path, "here"));
	EXPECT(holds(dir, "../e/new", "here") && holds(dir, "./new", "here"));
	EXPECT(pvfs_unlinkat(dir, "../d", AT_REMOVEDIR) == 0);
}

static void wrong(int dir)
{
	int file = pvfs_openat(dir, "new", O_RDONLY);
	struct stat st;

	EXPECT_ERRNO(pvfs_fstatat(file, "x", &st, 0), ENOTDIR);
	EXPECT_ERRNO(pvfs_fstatat(-7, "x", &st, 0), EBADF);
	EXPECT_ERRNO(pvfs_openat(file, "x", O_RDONLY), ENOTDIR);
	EXPECT(pvfs_close(file) == 0);
}

/* Nothing exists in a removed directory, and nothing can be created there. */
static void nothing_in(int gone, int top)
{
	const struct timespec times[2] = { { 1, 0 }, { 2, 0 } };
	struct stat st;
	char buf[8];

	EXPECT_ERRNO(pvfs_fstatat(gone, "f", &st, 0), ENOENT);
	EXPECT_ERRNO(pvfs_faccessat(gone, "f", F_OK, 0), ENOENT);
	EXPECT_ERRNO(pvfs_openat(gone, "f", O_RDONLY), ENOENT);
	EXPECT_ERRNO(pvfs_openat(gone, "f", O_WRONLY | O_CREAT, 0600), ENOENT);
	EXPECT_ERRNO(pvfs_mkdirat(gone, "d", 0700), ENOENT);
	EXPECT_ERRNO(pvfs_mknodat(gone, "p", S_IFIFO | 0600, 0), ENOENT);
	EXPECT_ERRNO(pvfs_symlinkat("x", gone, "s"), ENOENT);
	EXPECT_ERRNO(pvfs_readlinkat(gone, "s", buf, sizeof(buf)), ENOENT);
	EXPECT_ERRNO(pvfs_unlinkat(gone, "f", 0), ENOENT);
	EXPECT_ERRNO(pvfs_unlinkat(gone, "d", AT_REMOVEDIR), ENOENT);
	EXPECT_ERRNO(pvfs_fchmodat(gone, "f", 0600, 0), ENOENT);
	EXPECT_ERRNO(pvfs_fchownat(gone, "f", 1, 1, 0), ENOENT);
	EXPECT_ERRNO(pvfs_utimensat(gone, "f", times, 0), ENOENT);
	EXPECT_ERRNO(pvfs_renameat2(gone, "f", top, "x", 0), ENOENT);
	EXPECT_ERRNO(pvfs_renameat2(top, "e", gone, "x", 0), ENOENT);
	EXPECT_ERRNO(pvfs_linkat(gone, "f", top, "x", 0), ENOENT);
	EXPECT_ERRNO(pvfs_linkat(top, "e/new", gone, "x", 0), ENOENT);
}

/* `seen`: calls fstat(2) before the removal; `listed`: reads the directory before the removal. */
static void removed(int top, int seen, int listed)
{
	struct stat before = { 0 }, st;
	PVFS_DIR *dir;
	int fd;

	EXPECT(pvfs_mkdirat(top, "gone", 0750) == 0);
	fd = pvfs_openat(top, "gone", O_RDONLY | O_DIRECTORY);
	EXPECT(fd >= 0);
	EXPECT(pvfs_fstatat(top, "gone", &before, 0) == 0);
	dir = pvfs_fdopendir(fd);
	EXPECT(dir);
	if (seen) {
		EXPECT(pvfs_fchmodat(top, "gone", 0705, 0) == 0);
		EXPECT(pvfs_fstat(fd, &before) == 0);
	}
	while (listed && pvfs_readdir(dir))
		;
	EXPECT(pvfs_unlinkat(top, "gone", AT_REMOVEDIR) == 0);
	for (int i = 0; i < 2; i++) {
		errno = 0;
		EXPECT(!pvfs_readdir(dir) && !errno);
		pvfs_rewinddir(dir);
		EXPECT(pvfs_fstat(fd, &st) == 0 && !st.st_nlink);
		EXPECT(st.st_dev == before.st_dev);
		EXPECT(st.st_ino == before.st_ino);
		EXPECT(st.st_mode == before.st_mode);
		EXPECT(st.st_uid == before.st_uid);
		EXPECT(pvfs_fstatat(fd, "", &st, AT_EMPTY_PATH) == 0);
		EXPECT(!st.st_nlink);
	}
	nothing_in(fd, top);
	EXPECT(pvfs_closedir(dir) == 0);
}

static void on(const char *where)
{
	int top = pvfs_open(where, O_RDONLY | O_DIRECTORY), dir;

	EXPECT(top >= 0 && pvfs_mkdirat(top, "d", 0755) == 0);
	dir = pvfs_openat(top, "d", O_RDONLY | O_DIRECTORY);
	EXPECT(dir >= 0);
	names(dir);
	attributes(dir);
	moved(top, dir, where);
	wrong(dir);
	for (int i = 0; i < 4; i++)
		removed(top, i & 1, i & 2);
	EXPECT(pvfs_close(dir) == 0 && pvfs_close(top) == 0);
}

/*
 * Paths leave PVFS through a symlink or "..", and enter it again. Calls between PVFS and an
 * ordinary folder fail.
 */
static void across(const char *pvfs, const char *ordinary)
{
	int a = pvfs_open(pvfs, O_RDONLY), b = pvfs_open(ordinary, O_RDONLY);
	char path[600];

	EXPECT(a >= 0 && b >= 0);
	EXPECT(pvfs_symlinkat(ordinary, a, "out") == 0);
	EXPECT(holds(a, "out/e/new", "here"));
	snprintf(path, sizeof(path), "..%s/e/new", ordinary);
	EXPECT(holds(a, path, "here"));
	EXPECT_ERRNO(pvfs_renameat2(a, "e/new", b, "e/x", 0), EXDEV);
	EXPECT_ERRNO(pvfs_linkat(b, "e/new", a, "e/x", 0), EXDEV);
	EXPECT_ERRNO(pvfs_linkat(a, "out", a, "x", AT_SYMLINK_FOLLOW),
		     EOPNOTSUPP);
	EXPECT(pvfs_linkat(a, "out", a, "x", 0) == 0);
	EXPECT(pvfs_close(a) == 0 && pvfs_close(b) == 0);
}

int main(int argc, char **argv)
{
	EXPECT(argc == 3);
	on(argv[1]);
	on(argv[2]);
	across(argv[1], argv[2]);
	return 0;
}
