/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * streams.c - stdio on files of ours: streams of fopencookie(3) that use the calls of any
 * program.  Their descriptor number is stored where fileno(3) finds it.
 */
#undef _FILE_OFFSET_BITS
#include <pvfs.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/preload/paths/begin.h"
#include "client/preload/paths/refuse.h"
#include "client/preload/paths/seen.h"
#include "client/preload/paths/streams.h"
#include "client/preload/paths/under.h"
#include "client/preload/paths/whose.h"

#define STANDARD 3

/* Replacements of stdin, stdout and stderr. */
static struct stand_in {
	FILE *libcs; /* libc's stream while it is replaced; or NULL */
	FILE *ours; /* kept for the next time */
	void *cookie;
} stand_ins[STANDARD];

static void stand_back(int fd);

/* ---- calls of a stream ---- */

static ssize_t stream_read(void *cookie, char *buf, size_t n)
{
	return read(*(int *)cookie, buf, n);
}

/* fopencookie() expects 0 for an error. */
static ssize_t stream_write(void *cookie, const char *buf, size_t n)
{
	ssize_t done = write(*(int *)cookie, buf, n);

	return done < 0 ? 0 : done;
}

static int stream_seek(void *cookie, off64_t *off, int whence)
{
	off64_t at = lseek(*(int *)cookie, *off, whence);

	if (at < 0)
		return -1;
	*off = at;
	return 0;
}

static int stream_close(void *cookie)
{
	int fd = *(int *)cookie, rc;

	if (fd < STANDARD && stand_ins[fd].cookie == cookie) {
		stand_back(fd);
		stand_ins[fd] = (struct stand_in){ NULL, NULL, NULL };
	}
	rc = close(fd);
	free(cookie);
	return rc;
}

static FILE *stream_on(int fd, const char *mode, void **key)
{
	static const cookie_io_functions_t calls = { stream_read, stream_write,
						     stream_seek,
						     stream_close };
	int *cookie = malloc(sizeof(*cookie));
	FILE *f = NULL;

	if (cookie)
		f = fopencookie(cookie, mode, calls);
	if (!f) {
		free(cookie);
		return NULL;
	}
	*cookie = fd;
	f->_fileno = fd;
	if (key)
		*key = cookie;
	return f;
}

/* ---- open ---- */

static int flags_of(const char *mode)
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

/* The modes that fopencookie() accepts. */
static const char *plain_mode(const char *mode)
{
	static const char *const plain[2][3] = { { "r", "w", "a" },
						 { "r+", "w+", "a+" } };

	return plain[strchr(mode, '+') != NULL][*mode == 'r'   ? 0
						: *mode == 'w' ? 1
							       : 2];
}

static bool is_mode(const char *mode)
{
	if (mode && (*mode == 'r' || *mode == 'w' || *mode == 'a'))
		return true;
	errno = EINVAL;
	return false;
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

TWO_NAMES(FILE *, fopen, fopen64, (const char *path, const char *mode));
TWO_NAMES(FILE *, freopen, freopen64,
	  (const char *path, const char *mode, FILE *f));
SEEN FILE *fdopen(int fd, const char *mode);

FILE *fdopen(int fd, const char *mode)
{
	enum whose whose = whose_fd(fd, __func__);

	if (whose == KERNELS)
		return under()->fdopen(fd, mode);
	return whose == OURS && is_mode(mode)
		       ? stream_on(fd, plain_mode(mode), NULL)
		       : NULL;
}

FILE *fopen(const char *path, const char *mode)
{
	struct spot at;
	enum whose whose = whose_path(&at, AT_FDCWD, path, __func__);

	if (whose == KERNELS)
		return under()->fopen(path, mode);
	if (whose == REFUSED || !is_mode(mode))
		return NULL;
	return stream_or_close(open(path, flags_of(mode), 0666), mode);
}

/* ---- standard streams ---- */

static FILE **standard(int fd)
{
	static FILE **const all[STANDARD] = { &stdin, &stdout, &stderr };

	return all[fd];
}

void streams_leave(int fd)
{
	if (fd >= 0 && fd < STANDARD)
		fflush(*standard(fd));
}

static void stand_in(int fd)
{
	struct stand_in *s = &stand_ins[fd];

	if (!s->ours)
		s->ours = stream_on(fd, fd ? "w" : "r", &s->cookie);
	if (!s->ours)
		return;
	__fpurge(s->ours);
	clearerr(s->ours);
	if (fd == STDERR_FILENO)
		setvbuf(s->ours, NULL, _IONBF, 0);
	s->libcs = *standard(fd);
	*standard(fd) = s->ours;
}

/* The replacement stays allocated, because the program may have a pointer to it. */
static void stand_back(int fd)
{
	struct stand_in *s = &stand_ins[fd];

	if (s->libcs && *standard(fd) == s->ours)
		*standard(fd) = s->libcs;
	s->libcs = NULL;
}

void streams_look(int fd)
{
	bool ours;

	if (fd < 0 || fd >= STANDARD)
		return;
	ours = whose_number[fd] == HELD;
	if (ours && !stand_ins[fd].libcs)
		stand_in(fd);
	else if (!ours && stand_ins[fd].libcs)
		stand_back(fd);
}

/* For a standard stream, the number gets another file, and the stream follows it. */
static FILE *reopen(int number, const char *path, const char *mode)
{
	int fd = open(path, flags_of(mode), 0666), rc;

	if (fd < 0)
		return NULL;
	rc = dup2(fd, number);
	close(fd);
	return rc < 0 ? NULL : *standard(number);
}

FILE *freopen(const char *path, const char *mode, FILE *f)
{
	struct spot at;
	enum whose whose = whose_path(&at, AT_FDCWD, path, __func__);
	int fd;

	for (fd = 0; fd < STANDARD; fd++) {
		if (f == *standard(fd) &&
		    (whose == OURS || stand_ins[fd].libcs) && path &&
		    is_mode(mode))
			return reopen(fd, path, mode);
	}
	if (whose == KERNELS && whose_fd(f->_fileno, __func__) == KERNELS)
		return under()->freopen(path, mode, f);
	if (whose != REFUSED)
		refuse_path(__func__, path ? path : "a stream", ENOTSUP);
	fclose(f);
	return NULL;
}

/* ---- initialisation and end ---- */

/* Writes buffered data before the destructor of libpvfs, which runs later. */
static void streams_end(void)
{
	int fd;

	for (fd = 0; fd < STANDARD; fd++) {
		if (stand_ins[fd].libcs && fflush(*standard(fd)))
			refuse_fd("what was left to write at the end", fd,
				  errno);
	}
	fflush(NULL);
}

void streams_begin(void)
{
	int fd;

	if (atexit(streams_end))
		return;
	for (fd = 0; fd < STANDARD; fd++) {
		whose_fd(fd, "use");
		streams_look(fd);
	}
}
