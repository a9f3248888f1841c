/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * streams.c - see streams.h.  A stream is one of fopencookie(3) that uses the calls of any
 * program.  Its descriptor number is stored where fileno(3) finds it.
 */
#undef _FILE_OFFSET_BITS
#include "client/preload/paths/streams.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/preload/paths/startup.h"
#include "client/preload/route/refuse.h"
#include "client/preload/route/route.h"

/* Replacements of stdin, stdout and stderr. */
static struct replaced_stream {
	FILE *original; /* libc's stream while it is replaced; or NULL */
	FILE *replacement; /* kept after use, for the next replacement */
	void *cookie;
} replaced_streams[STREAMS_STANDARD];

/* ---- standard streams of libc ---- */

FILE **streams_standard(int fd)
{
	static FILE **const all[STREAMS_STANDARD] = { &stdin, &stdout,
						      &stderr };

	return all[fd];
}

/* The replacement stays allocated, because the program may have a pointer to it. */
static void restore_stream(int fd)
{
	struct replaced_stream *s = &replaced_streams[fd];

	if (s->original && *streams_standard(fd) == s->replacement)
		*streams_standard(fd) = s->original;
	s->original = NULL;
}

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

	if (fd < STREAMS_STANDARD && replaced_streams[fd].cookie == cookie) {
		restore_stream(fd);
		replaced_streams[fd] = (struct replaced_stream){ NULL, NULL,
								 NULL };
	}
	rc = close(fd);
	free(cookie);
	return rc;
}

static FILE *create_stream(int fd, const char *mode, void **key)
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

/* The modes that fopencookie() accepts. */
static const char *plain_mode(const char *mode)
{
	static const char *const plain[2][3] = { { "r", "w", "a" },
						 { "r+", "w+", "a+" } };

	return plain[strchr(mode, '+') != NULL][*mode == 'r'   ? 0
						: *mode == 'w' ? 1
							       : 2];
}

FILE *streams_open(int fd, const char *mode)
{
	return create_stream(fd, plain_mode(mode), NULL);
}

/* ---- replacing the standard streams ---- */

bool streams_is_replaced(int fd)
{
	return replaced_streams[fd].original;
}

void streams_flush(int fd)
{
	if (fd >= 0 && fd < STREAMS_STANDARD)
		fflush(*streams_standard(fd));
}

static void replace_stream(int fd)
{
	struct replaced_stream *s = &replaced_streams[fd];

	if (!s->replacement)
		s->replacement = create_stream(fd, fd ? "w" : "r", &s->cookie);
	if (!s->replacement)
		return;
	__fpurge(s->replacement);
	clearerr(s->replacement);
	if (fd == STDERR_FILENO)
		setvbuf(s->replacement, NULL, _IONBF, 0);
	s->original = *streams_standard(fd);
	*streams_standard(fd) = s->replacement;
}

int streams_follow(int fd)
{
	bool replacement;

	if (fd < 0 || fd >= STREAMS_STANDARD)
		return fd;
	replacement = route_fd_kinds[fd] == FD_PVFS;
	if (replacement && !replaced_streams[fd].original)
		replace_stream(fd);
	else if (!replacement && replaced_streams[fd].original)
		restore_stream(fd);
	return fd;
}

/* ---- initialisation and end ---- */

/* Writes buffered data before the destructor of libpvfs, which runs later. */
static void flush_streams(void)
{
	int fd;

	for (fd = 0; fd < STREAMS_STANDARD; fd++) {
		if (replaced_streams[fd].original &&
		    fflush(*streams_standard(fd)))
			refuse_fd("what was left to write at the end", fd,
				  errno);
	}
	fflush(NULL);
}

void streams_begin(void)
{
	int fd;

	if (atexit(flush_streams))
		return;
	for (fd = 0; fd < STREAMS_STANDARD; fd++) {
		route_fd(fd, "use");
		streams_follow(fd);
	}
}
