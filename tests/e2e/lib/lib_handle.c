/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_handle.c - files are opened by handle, by the process that has them open and by another one.
 *
 * usage: lib_handle FILE ORDINARY-FILE
 */
#include <pvfs.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"

#include <sys/wait.h>
#include <unistd.h>

#define LEN 100000

static unsigned char buf[LEN];

static void other_process(const char *path, const struct pvfs_handle *h)
{
	pid_t pid = quiet_fork();
	int fd, status;

	EXPECT(pid >= 0);
	if (!pid) {
		fd = pvfs_open_handle(path, h, O_RDWR);
		EXPECT(fd >= 0);
		EXPECT(pvfs_pread(fd, buf, LEN, 0) == LEN);
		EXPECT(filled(buf, LEN, 1, 0));
		fill(buf, LEN, 2, 0);
		EXPECT(pvfs_pwrite(fd, buf, LEN, LEN) == LEN);
		EXPECT(pvfs_close(fd) == 0);
		exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && !status);
}

static void refused(const char *path, const char *ordinary,
		    const struct pvfs_handle *h)
{
	struct pvfs_handle other = *h, none = { .fsid = h->fsid };
	int fd;

	EXPECT_ERRNO(pvfs_open_handle(path, h, O_RDWR | O_CREAT), EINVAL);
	EXPECT_ERRNO(pvfs_open_handle(path, h, O_RDWR | O_TRUNC), EINVAL);
	EXPECT_ERRNO(pvfs_open_handle(path, &none, O_RDWR), EINVAL);
	EXPECT_ERRNO(pvfs_open_handle(ordinary, h, O_RDWR), EXDEV);
	other.fsid++;
	EXPECT_ERRNO(pvfs_open_handle(path, &other, O_RDWR), EXDEV);
	other = *h;
	other.handle += 1000000;
	EXPECT_ERRNO(pvfs_open_handle(path, &other, O_RDWR), ESTALE);
	fd = pvfs_open(ordinary, O_RDWR | O_CREAT, 0600);
	EXPECT(fd >= 0);
	EXPECT_ERRNO(pvfs_get_handle(fd, &other), ENOTTY);
	EXPECT(pvfs_close(fd) == 0);
	EXPECT_ERRNO(pvfs_get_handle(fd, &other), EBADF);
}

int main(int argc, char **argv)
{
	struct pvfs_handle h, same;
	char renamed[4096];
	int fd, by;

	EXPECT(argc == 3);
	fd = pvfs_open(argv[1], O_RDWR | O_CREAT, 0600);
	EXPECT(fd >= 0);
	fill(buf, LEN, 1, 0);
	EXPECT(pvfs_write(fd, buf, LEN) == LEN);
	EXPECT(pvfs_get_handle(fd, &h) == 0);
	refused(argv[1], argv[2], &h);
	/* the handle does not depend on the name */
	snprintf(renamed, sizeof(renamed), "%s-renamed", argv[1]);
	EXPECT(pvfs_rename(argv[1], renamed) == 0);
	other_process(argv[1], &h);
	by = pvfs_open_handle(argv[1], &h, O_RDONLY);
	EXPECT(by >= 0);
	EXPECT(pvfs_get_handle(by, &same) == 0);
	EXPECT(!memcmp(&same, &h, sizeof(h)));
	EXPECT(pvfs_lseek(by, 0, SEEK_END) == 2 * LEN);
	EXPECT(pvfs_pread(by, buf, LEN, LEN) == LEN);
	EXPECT(filled(buf, LEN, 2, 0));
	EXPECT_ERRNO(pvfs_pwrite(by, buf, 1, 0), EBADF);
	EXPECT(pvfs_close(by) == 0 && pvfs_close(fd) == 0);
	EXPECT(pvfs_unlink(renamed) == 0);
	EXPECT_ERRNO(pvfs_open_handle(argv[1], &h, O_RDONLY), ESTALE);
	return 0;
}
