/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_at.c - calls that begin at a directory's descriptor, on PVFS and, with the same
 * results, on ordinary files; paths that leave PVFS there.
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

/* The directory is the same wherever it is moved to, and absolute paths ignore it. */
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
	EXPECT(pvfs_close(dir) == 0 && pvfs_close(top) == 0);
}

/* Out of PVFS by a link, by "..", and into it again; from one to the other. */
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
