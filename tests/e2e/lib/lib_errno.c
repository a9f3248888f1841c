/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_errno.c - a successful call does not change errno.
 *
 * usage: lib_errno DIR
 */
#include <sys/file.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include <pvfs.h>

#define KEPT 4711
#define KEEPS(cond)                                                            \
	do {                                                                   \
		errno = KEPT;                                                  \
		EXPECT(cond);                                                  \
		EXPECT(errno == KEPT);                                         \
	} while (0)

static char path[8][256];

static char *in(const char *dir, const char *name)
{
	static unsigned int n;
	char *p = path[n++ % 8];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void names(const char *dir)
{
	char text[64];

	KEEPS(pvfs_mkdir(in(dir, "d"), 0755) == 0);
	KEEPS(pvfs_symlink("d", in(dir, "l")) == 0);
	KEEPS(pvfs_readlink(in(dir, "l"), text, sizeof(text)) == 1);
	KEEPS(pvfs_rename(in(dir, "l"), in(dir, "m")) == 0);
	KEEPS(pvfs_unlink(in(dir, "m")) == 0);
	KEEPS(pvfs_rmdir(in(dir, "d")) == 0);
	KEEPS(pvfs_access(dir, R_OK) == 0);
}

static void attributes(const char *file, int fd)
{
	struct statfs fs;
	struct stat st;

	KEEPS(pvfs_stat(file, &st) == 0);
	KEEPS(pvfs_lstat(file, &st) == 0);
	KEEPS(pvfs_fstat(fd, &st) == 0);
	KEEPS(pvfs_chmod(file, 0600) == 0);
	KEEPS(pvfs_fchmod(fd, 0644) == 0);
	KEEPS(pvfs_utimens(file, NULL) == 0);
	KEEPS(pvfs_futimens(fd, NULL) == 0);
	KEEPS(pvfs_statfs(file, &fs) == 0);
	KEEPS(pvfs_fstatfs(fd, &fs) == 0);
	KEEPS(pvfs_truncate(file, 100) == 0);
	KEEPS(pvfs_ftruncate(fd, 200) == 0);
}

static void data(int fd)
{
	static char buf[300000];
	struct iovec iov[2] = { { buf, 10 }, { buf + 50, 99999 } };

	KEEPS(pvfs_pwrite(fd, buf, 10, 0) == 10);
	KEEPS(pvfs_pwrite(fd, buf, sizeof(buf), 5) == sizeof(buf));
	KEEPS(pvfs_pread(fd, buf, 10, 0) == 10);
	KEEPS(pvfs_pread(fd, buf, sizeof(buf), 0) == sizeof(buf));
	KEEPS(pvfs_lseek(fd, 0, SEEK_END) == sizeof(buf) + 5);
	KEEPS(pvfs_read(fd, buf, 10) == 0);
	KEEPS(pvfs_lseek(fd, 0, SEEK_SET) == 0);
	KEEPS(pvfs_writev(fd, iov, 2) == 100009);
	KEEPS(pvfs_preadv(fd, iov, 2, 0) == 100009);
	KEEPS(pvfs_fsync(fd) == 0);
	KEEPS(pvfs_fcntl(fd, F_SETFL, O_APPEND) == 0);
	KEEPS(pvfs_write(fd, buf, 10) == 10);
	KEEPS(pvfs_fcntl(fd, F_SETFL, 0) == 0);
}

static void entries(const char *dir)
{
	PVFS_DIR *d;

	KEEPS((d = pvfs_opendir(dir)) != NULL);
	KEEPS(pvfs_readdir(d) != NULL);
	while (errno = KEPT, pvfs_readdir(d))
		;
	EXPECT(errno == KEPT);
	KEEPS(pvfs_closedir(d) == 0);
}

int main(int argc, char **argv)
{
	struct pvfs_server list[8];
	struct pvfs_ping ping;
	const char *file;
	struct stat st;
	int fd, copy, n;

	EXPECT(argc == 2);
	/* the first call of the process creates the session */
	KEEPS(pvfs_stat(argv[1], &st) == 0);
	file = in(argv[1], "file");
	KEEPS((fd = pvfs_open(file, O_RDWR | O_CREAT, 0644)) >= 0);
	data(fd);
	attributes(file, fd);
	names(argv[1]);
	entries(argv[1]);
	KEEPS((copy = pvfs_dup(fd)) >= 0);
	KEEPS(pvfs_dup2(fd, copy) == copy);
	KEEPS(pvfs_close(fd) == 0);
	KEEPS(pvfs_close(copy) == 0);
	KEEPS((fd = pvfs_open(file, O_RDONLY)) >= 0 && pvfs_close(fd) == 0);
	KEEPS((n = pvfs_servers(argv[1], list, 8)) > 1);
	KEEPS(pvfs_ping_server(list[n - 1].uri, 0, &ping) == 0);
	KEEPS(pvfs_unlink(in(argv[1], "file")) == 0);
	puts("ok");
	return 0;
}
