/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvwrap.c - a library for LD_PRELOAD that counts the calls on files below $PVWRAP_UNDER, as
 * profilers of I/O do, and prints the counts at exit.
 */
/* declares the calls with and without 64 in their names */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define NUMBERS 1024 /* descriptors below this number are counted */

enum { OPEN, FOPEN, READ, WRITE, PREAD, PWRITE, LSEEK, FSYNC, CLOSE, CALLS };

static const char *const names[] = { "open",  "fopen", "read",
				     "write", "pread", "pwrite",
				     "lseek", "fsync", "close" };
static atomic_uint counts[CALLS];
static atomic_bool ours[NUMBERS];

/* Calls the function of this name in the next library. */
#define NEXT(name, type, ...)                                                  \
	((type(*)(__VA_ARGS__))(uintptr_t)dlsym(RTLD_NEXT, name))

static bool is_below(const char *path)
{
	const char *under = getenv("PVWRAP_UNDER");

	return under && !strncmp(path, under, strlen(under));
}

static int opened(int fd, const char *path)
{
	if (fd < 0 || fd >= NUMBERS || !is_below(path))
		return fd;
	atomic_store(&ours[fd], true);
	atomic_fetch_add(&counts[OPEN], 1);
	return fd;
}

static void count(int fd, int call)
{
	if (fd >= 0 && fd < NUMBERS && atomic_load(&ours[fd]))
		atomic_fetch_add(&counts[call], 1);
}

/* Programs find these functions here instead of in libc. */
#pragma GCC visibility push(default)

/* ---- open and close ---- */

static mode_t mode_of(int flags, va_list ap)
{
	return flags & O_CREAT ? va_arg(ap, mode_t) : 0;
}

#define WRAP_OPEN(name)                                                        \
	int name(const char *path, int flags, ...)                             \
	{                                                                      \
		va_list ap;                                                    \
		mode_t mode;                                                   \
                                                                               \
		va_start(ap, flags);                                           \
		mode = mode_of(flags, ap);                                     \
		va_end(ap);                                                    \
		return opened(NEXT(#name, int, const char *, int,              \
				   ...)(path, flags, mode),                    \
			      path);                                           \
	}
WRAP_OPEN(open)
WRAP_OPEN(open64)

FILE *fopen(const char *path, const char *mode)
{
	if (is_below(path))
		atomic_fetch_add(&counts[FOPEN], 1);
	return NEXT("fopen", FILE *, const char *, const char *)(path, mode);
}

int close(int fd)
{
	count(fd, CLOSE);
	if (fd >= 0 && fd < NUMBERS)
		atomic_store(&ours[fd], false);
	return NEXT("close", int, int)(fd);
}

/* ---- data ---- */

#define WRAP(type, name, call, args, ...)                                      \
	type name args                                                         \
	{                                                                      \
		count(fd, call);                                               \
		return ((type(*) args)(uintptr_t)dlsym(RTLD_NEXT, #name))(     \
			__VA_ARGS__);                                          \
	}
WRAP(ssize_t, read, READ, (int fd, void *buf, size_t n), fd, buf, n)
WRAP(ssize_t, write, WRITE, (int fd, const void *buf, size_t n), fd, buf, n)
WRAP(ssize_t, pread, PREAD, (int fd, void *buf, size_t n, off_t at), fd, buf, n,
     at)
WRAP(ssize_t, pread64, PREAD, (int fd, void *buf, size_t n, off64_t at), fd,
     buf, n, at)
WRAP(ssize_t, pwrite, PWRITE, (int fd, const void *buf, size_t n, off_t at), fd,
     buf, n, at)
WRAP(ssize_t, pwrite64, PWRITE, (int fd, const void *buf, size_t n, off64_t at),
     fd, buf, n, at)
WRAP(off_t, lseek, LSEEK, (int fd, off_t at, int whence), fd, at, whence)
WRAP(off64_t, lseek64, LSEEK, (int fd, off64_t at, int whence), fd, at, whence)
WRAP(int, fsync, FSYNC, (int fd), fd)

#pragma GCC visibility pop

__attribute__((destructor)) static void report(void)
{
	for (int i = 0; i < CALLS; i++)
		fprintf(stderr, "%s %u%c", names[i], atomic_load(&counts[i]),
			i + 1 < CALLS ? ' ' : '\n');
}
