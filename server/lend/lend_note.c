/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lend_note.c - the notes of lend_had.c, in DIR/lent/.had: what the next process has to
 * know.  Each lies in one page, so it is there or not.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "server/lend/lend_int.h"

#define NAME ".had"

int lend_notes_open(int dirfd)
{
	int fd = openat(dirfd, NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			0600);

	return fd < 0 ? -errno : fd;
}

int lend_note_get(int fd, uint32_t at, struct lend_note *note)
{
	ssize_t n = pread(fd, note, sizeof(*note),
			  (off_t)at * (off_t)sizeof(*note));

	if (n == (ssize_t)sizeof(*note))
		return 0;
	return n < 0 ? -errno : -ENOENT;
}

int lend_note_put(int fd, uint32_t at, const struct lend_note *note)
{
	ssize_t n;

	if (fd < 0)
		return 0;
	n = pwrite(fd, note, sizeof(*note), (off_t)at * (off_t)sizeof(*note));
	if (n == (ssize_t)sizeof(*note))
		return 0;
	return n < 0 ? -errno : -ENOSPC;
}
