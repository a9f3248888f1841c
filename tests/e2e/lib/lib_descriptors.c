/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_descriptors.c - the descriptor of a PVFS file rejects ordinary I/O. So an accidental write
 * fails, and its data is not silently lost.
 *
 * usage: lib_descriptors FILE ORDINARY
 */
#include <fcntl.h>
#include <poll.h>
#include <pvfs.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"

static const char *file, *ordinary;

static void takes_nothing(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	char c = 'x';

	EXPECT_ERRNO(read(fd, &c, 1), EBADF);
	EXPECT_ERRNO(write(fd, &c, 1), EBADF);
	EXPECT_ERRNO(pread(fd, &c, 1, 0), EBADF);
	EXPECT_ERRNO(pwrite(fd, &c, 1, 0), EBADF);
	EXPECT_ERRNO(ftruncate(fd, 0), EBADF);
	EXPECT_ERRNO(lseek(fd, 0, SEEK_SET), EBADF);
	EXPECT_ERRNO(fsync(fd), EBADF);
	EXPECT(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED);
	EXPECT(errno == EBADF);
	EXPECT(poll(&pfd, 1, 0) == 1 && pfd.revents == POLLNVAL);
}

/* Opens the descriptor again by its name in /proc, as a program does that opens /dev/stdout. */
static void opened_anew(int fd)
{
	char path[64], to[4096];
	ssize_t n;
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, to, sizeof(to));
	EXPECT(n > 1 && to[0] == '/');
	again = open(path, O_WRONLY);
	if (again < 0)
		return;
	EXPECT_ERRNO(write(again, "x", 1), EPERM);
	EXPECT(!close(again));
}

static void works(int fd, unsigned int seed)
{
	unsigned char buf[1000];

	fill(buf, sizeof(buf), seed, 0);
	EXPECT(pvfs_pwrite(fd, buf, sizeof(buf), 0) == sizeof(buf));
	memset(buf, 0, sizeof(buf));
	EXPECT(pvfs_pread(fd, buf, sizeof(buf), 0) == sizeof(buf));
	EXPECT(filled(buf, sizeof(buf), seed, 0));
}

static int open_file(int flags)
{
	int fd = pvfs_open(file, O_CREAT | O_RDWR | flags, 0666);

	EXPECT(fd >= 0);
	return fd;
}

static void numbers(void)
{
	int lowest = dup(0), fd, copy;

	EXPECT(lowest >= 0 && !close(lowest));
	fd = open_file(0);
	EXPECT(fd == lowest);
	lowest = pvfs_dup(fd);
	EXPECT(lowest > fd && lowest < 60);
	copy = pvfs_fcntl(fd, F_DUPFD_CLOEXEC, 100);
	EXPECT(copy == 100);
	EXPECT(fcntl(copy, F_GETFD) == FD_CLOEXEC && fcntl(fd, F_GETFD) == 0);
	EXPECT(pvfs_dup2(fd, 101) == 101);
	takes_nothing(copy);
	works(101, 1);
	works(copy, 2);
	works(lowest, 3);
	EXPECT(!pvfs_close(copy) && !pvfs_close(101) && !pvfs_close(lowest));
	works(fd, 4);
	EXPECT(!pvfs_close(fd));
	fd = open_file(O_CLOEXEC);
	EXPECT(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	EXPECT(!pvfs_close(fd));
	EXPECT_ERRNO(fcntl(fd, F_GETFD), EBADF);
}

static bool is_librarys(int fd)
{
	char path[32], target[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target) - 1) > 0 &&
	       strstr(target, "memfd:pvfs");
}

/* A daemon closes all descriptors that it does not know, and opens files under their numbers. */
static void others_numbers(void)
{
	int mine = open(ordinary, O_CREAT | O_RDWR, 0666), fd, i, n = 0;

	EXPECT(mine >= 0);
	EXPECT(write(mine, "kept", 4) == 4);
	for (i = 3; i < 1024; i++)
		if (is_librarys(i)) {
			EXPECT(dup2(mine, i) == i);
			n++;
		}
	EXPECT(n ==
	       /* the library has two: a file for the numbers of descriptors, and one for exec() */
	       2);
	fd = open_file(0);
	takes_nothing(fd);
	works(fd, 5);
	EXPECT(!pvfs_close(fd));
	EXPECT(lseek(mine, 0, SEEK_END) == 4);
	EXPECT(!close(mine));
}

static int run(int fd, const char *script)
{
	int status;
	pid_t pid = quiet_fork();

	EXPECT(pid >= 0);
	if (!pid) {
		if (dup2(fd, 1) != 1)
			_exit(99);
		execlp("sh", "sh", "-c", script, NULL);
		_exit(99);
	}
	EXPECT(waitpid(pid, &status, 0) == pid);
	EXPECT(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void behind_an_exec(void)
{
	int fd = open_file(0);

	EXPECT(run(fd, "exec true") == 0);
	EXPECT(run(fd, "exec /bin/echo lost 2>/dev/null") == 1);
	EXPECT(run(fd, "exec 2>/dev/null; echo lost >/dev/stdout") != 0);
	EXPECT(!pvfs_close(fd));
}

/* Returns the size of the kernel's descriptor table.  When it grows, threads have to wait. */
static int table_size(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	int size = -1;

	EXPECT(f);
	while (fgets(line, sizeof(line), f) &&
	       sscanf(line, "FDSize: %d", &size) != 1)
		;
	fclose(f);
	EXPECT(size > 0);
	return size;
}

int main(int argc, char **argv)
{
	int fd, size = table_size();

	EXPECT(argc == 3);
	file = argv[1];
	ordinary = argv[2];
	fd = open_file(0);
	EXPECT(table_size() == size);
	takes_nothing(fd);
	opened_anew(fd);
	works(fd, 0);
	EXPECT(!pvfs_close(fd));
	numbers();
	behind_an_exec();
	others_numbers();
	puts("ok");
	return 0;
}
