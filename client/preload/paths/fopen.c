/* SPDX-License-Identifier: BSD-2-Clause */
/* fopen.c - opening streams of stdio. */
#undef _FILE_OFFSET_BITS
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/preload/export.h"
#include "client/preload/paths/streams.h"
#include "client/preload/route/libc.h"
#include "client/preload/route/refuse.h"
#include "client/preload/route/route.h"

EXPORT_TWICE(FILE *, fopen, fopen64, (const char *path, const char *mode));
EXPORT_TWICE(FILE *, freopen, freopen64,
	     (const char *path, const char *mode, FILE *f));
EXPORT FILE *fdopen(int fd, const char *mode);

static int parse_mode(const char *mode)
{
	int flags = *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT;

	if (*mode == 'w')
		flags |= O_TRUNC;
	if (*mode == 'a')
		flags |= O_APPEND;
	if (strchr(mode, '+'))
		flags = (flags & ~O_ACCMODE) | O_RDWR;
	if (strchr(mode, 'x'))
		flags |= O_EXCL;
	if (strchr(mode, 'e'))
		flags |= O_CLOEXEC;
	return flags;
}

static bool is_valid_mode(const char *mode)
{
	if (mode && (*mode == 'r' || *mode == 'w' || *mode == 'a'))
		return true;
	errno = EINVAL;
	return false;
}

FILE *fdopen(int fd, const char *mode)
{
	enum route route = route_fd(fd, __func__);

	if (route == ROUTE_KERNEL)
		return libc()->fdopen(fd, mode);
	return route == ROUTE_PVFS && is_valid_mode(mode)
		       ? streams_open(fd, mode)
		       : NULL;
}

/* The path may have led to an ordinary file. */
static FILE *stream_or_close(int fd, const char *mode)
{
	FILE *f;

	if (fd < 0)
		return NULL;
	f = fdopen(fd, mode);
	if (!f)
		close(fd);
	return f;
}

FILE *fopen(const char *path, const char *mode)
{
	struct pvfs_path at;
	enum route route = route_path(&at, AT_FDCWD, path, __func__);

	if (route == ROUTE_KERNEL)
		return libc()->fopen(path, mode);
	if (route == ROUTE_REFUSED || !is_valid_mode(mode))
		return NULL;
	return stream_or_close(open(path, parse_mode(mode), 0666), mode);
}

/* For a standard stream, the number gets another file, and the stream follows it. */
static FILE *reopen_standard(int number, const char *path, const char *mode)
{
	int fd = open(path, parse_mode(mode), 0666), rc;

	if (fd < 0)
		return NULL;
	rc = dup2(fd, number);
	close(fd);
	return rc < 0 ? NULL : *streams_standard(number);
}

FILE *freopen(const char *path, const char *mode, FILE *f)
{
	struct pvfs_path at;
	enum route route = route_path(&at, AT_FDCWD, path, __func__);
	int fd;

	for (fd = 0; fd < STREAMS_STANDARD; fd++) {
		if (f == *streams_standard(fd) &&
		    (route == ROUTE_PVFS || streams_is_replaced(fd)) && path &&
		    is_valid_mode(mode))
			return reopen_standard(fd, path, mode);
	}
	if (route == ROUTE_KERNEL &&
	    route_fd(f->_fileno, __func__) == ROUTE_KERNEL)
		return libc()->freopen(path, mode, f);
	if (route != ROUTE_REFUSED)
		refuse_path(__func__, path ? path : "a stream", ENOTSUP);
	fclose(f);
	return NULL;
}
