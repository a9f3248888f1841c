/* SPDX-License-Identifier: BSD-2-Clause */
/* list_ordinary.c - lists on ordinary files: one call for each piece. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/lib/list/list.h"

/* Transfers one contiguous piece.  The result is below len only at the end of the file. */
static ssize_t piece_transfer(int fd, bool write, char *addr, uint64_t off,
			      uint64_t len)
{
	uint64_t done = 0;
	ssize_t n;

	while (done < len) {
		n = write ? pwrite(fd, addr + done, len - done,
				   (off_t)(off + done))
			  : pread(fd, addr + done, len - done,
				  (off_t)(off + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (uint64_t)n;
	}
	return (ssize_t)done;
}

/* The same through a partition, up to the first short piece. */
static ssize_t piece_through_view(const struct view *view, int fd, bool write,
				  const struct list_piece *p)
{
	uint64_t off, len, done = 0;
	struct view_iter it;
	ssize_t n;

	if (!view)
		return piece_transfer(fd, write, p->addr, p->pos, p->len);
	view_iter_init(&it, view, p->pos, p->len);
	while (view_iter_next(&it, &off, &len)) {
		n = piece_transfer(fd, write, p->addr + done, off, len);
		if (n < 0)
			return n;
		done += (uint64_t)n;
		if ((uint64_t)n < len)
			break;
	}
	return (ssize_t)done;
}

/* Pieces beyond the end are also tried, because later ones may lie before it. */
ssize_t list_ordinary(const struct view *view, int fd, const struct list *list)
{
	size_t n, i;
	struct list_piece *p = list_cut(list, &n);
	ssize_t got, sum = 0;
	bool whole = true;

	if (!p)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		got = piece_through_view(view, fd, list->write, &p[i]);
		if (got < 0) {
			sum = got;
			break;
		}
		if (whole)
			sum += got;
		whole = whole && (uint64_t)got == p[i].len;
	}
	free(p);
	return sum;
}
