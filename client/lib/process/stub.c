/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stub.c - an O_PATH descriptor, on which read(2), write(2) and similar calls fail with
 * EBADF.  It refers to empty, sealed memory.  So a program that reopens it through
 * /proc/PID/fd cannot write either.
 */
#include "client/lib/process/stub_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/descriptors.h"

#define NAME "pvfs" /* name in lsof */
/*
 * Away from the numbers that programs expect, but within the first descriptor table of a
 * process.  In a process with threads, the kernel makes a larger table only after waiting
 * for all processors, some 10 ms.
 */
#define APART 60
#define SEALS (F_SEAL_SEAL | F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK)

void stub_init(struct stub *stub)
{
	stub->fd = -1;
}

static int open_sealed(void)
{
	int mem = memfd_create(NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char path[32];
	int fd = -1;

	if (mem < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", mem);
	if (!fchmod(mem, 0) && !fcntl(mem, F_ADD_SEALS, SEALS))
		fd = open(path, O_PATH | O_CLOEXEC);
	close(mem);
	return fd;
}

/* Fallback without /proc, or in a sandbox: a reopened descriptor then discards data. */
static int open_stub(void)
{
	int fd = open_sealed();

	if (fd < 0)
		fd = open("/dev/null", O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return descriptor_apart(fd, APART);
}

static bool is_there(const struct stub *stub)
{
	struct stat st;

	return stub->fd >= 0 && !fstat(stub->fd, &st) &&
	       st.st_dev == stub->dev && st.st_ino == stub->ino;
}

static int stub_create(struct stub *stub)
{
	struct stat st;
	int fd = open_stub();

	if (fd < 0)
		return fd;
	if (fstat(fd, &st)) {
		close(fd);
		return -EBADF;
	}
	*stub = (struct stub){ fd, st.st_dev, st.st_ino };
	return 0;
}

int stub_reserve(struct stub *stub, bool cloexec)
{
	int saved = errno, fd;
	int rc = is_there(stub) ? 0 : stub_create(stub);

	if (rc)
		return rc;
	fd = fcntl(stub->fd, cloexec ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
	rc = fd < 0 ? -errno : fd;
	errno = saved;
	return rc;
}
