/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fdtable.c - an array of files under a lock, and the stub: an O_PATH descriptor, on which
 * read(2), write(2) and similar calls fail with EBADF.  It refers to empty, sealed memory.
 * So a program that reopens it through /proc/PID/fd cannot write either.
 */
#include "client/lib/process/fdtable_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/process_limits.h"

#define NAME "pvfs" /* name in lsof */
/*
 * The lowest number for the stub: above the numbers that programs expect, but within the first
 * descriptor table of a process.  (In a process with threads, the kernel enlarges the table only
 * after waiting for all processors, some 10 ms.)
 */
#define APART 60
#define SEALS (F_SEAL_SEAL | F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK)

static void stub_init(struct stub *stub)
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

/* Returns a new descriptor with the lowest free number, or -errno. */
static int stub_reserve(struct stub *stub, bool cloexec)
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

void fdtable_init(struct fdtable *t)
{
	pthread_mutex_init(&t->lock, NULL);
	stub_init(&t->stub);
	handover_init(&t->handover);
	t->file = NULL;
	t->n = 0;
}

void fdtable_empty(struct fdtable *t, void (*fn)(struct file *f))
{
	int fd;

	for (fd = 0; fd < t->n; fd++) {
		if (t->file[fd])
			fn(t->file[fd]);
	}
	free(t->file);
	t->file = NULL;
	t->n = 0;
}

struct file *fdtable_get(struct fdtable *t, int fd)
{
	struct file *f = NULL;

	pthread_mutex_lock(&t->lock);
	if (fd >= 0 && fd < t->n && t->file[fd])
		f = file_get(t->file[fd]);
	pthread_mutex_unlock(&t->lock);
	return f;
}

static int fdtable_grow(struct fdtable *t, int fd)
{
	struct file **file;
	int n = t->n ? t->n : 64;

	while (n <= fd)
		n *= 2;
	file = reallocarray(t->file, (size_t)n, sizeof(struct file *));
	if (!file)
		return -ENOMEM;
	memset(file + t->n, 0, (size_t)(n - t->n) * sizeof(struct file *));
	t->file = file;
	t->n = n;
	return 0;
}

int fdtable_set(struct fdtable *t, int fd, struct file *f, struct file **old)
{
	int rc = 0;

	*old = NULL;
	pthread_mutex_lock(&t->lock);
	if (f && fd >= t->n)
		rc = fdtable_grow(t, fd);
	if (!rc && fd >= 0 && fd < t->n) {
		*old = t->file[fd];
		t->file[fd] = f;
		handover_set(&t->handover, fd, f);
	}
	pthread_mutex_unlock(&t->lock);
	return rc;
}

void fdtable_look(struct fdtable *t, int fd)
{
	pthread_mutex_lock(&t->lock);
	if (fd >= 0 && fd < t->n && t->file[fd])
		handover_set(&t->handover, fd, t->file[fd]);
	pthread_mutex_unlock(&t->lock);
}

void fdtable_forked(struct fdtable *t)
{
	int fd;

	pthread_mutex_init(&t->lock, NULL);
	handover_forked(&t->handover);
	for (fd = 0; fd < t->n; fd++)
		fdtable_look(t, fd);
}

int fdtable_reserve(struct fdtable *t, bool cloexec)
{
	int fd;

	pthread_mutex_lock(&t->lock);
	fd = stub_reserve(&t->stub, cloexec);
	pthread_mutex_unlock(&t->lock);
	return fd;
}
