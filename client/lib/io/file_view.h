/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_view.h - the part of a file that a descriptor sees (struct fpart): byte n of the view
 * <-> offset in the file.  Pure functions.
 *
 *   file  |--off-->[ gsize ]..........[ gsize ]..........[ gsize ]...
 *                  |---- stride ----->|---- stride ----->|
 *   view           [   0   ][   1     ][  2   ]
 */
#ifndef FILE_VIEW_H
#define FILE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "client/lib/api.h"

struct file_view {
	uint64_t off, gsize, stride; /* bytes; gsize 0: no groups */
};

/* Returns 0, or -EINVAL for an impossible partition. */
int view_from_part(const struct fpart *part, struct file_view *view);
void view_to_part(const struct file_view *view, struct fpart *part);

/*
 * Sets *off to the file offset of byte pos of the view.  Returns false if it is beyond the largest
 * offset.
 */
bool view_map(const struct file_view *view, uint64_t pos, uint64_t *off);
/*
 * Sets *end to the file offset after the last byte of [pos, pos + len).  Returns false if a byte is
 * beyond the largest offset.
 */
bool view_end(const struct file_view *view, uint64_t pos, uint64_t len,
	      uint64_t *end);
/* Returns the bytes of the view before the file offset size. */
uint64_t view_before(const struct file_view *view, uint64_t size);

/*
 * Walks [pos, pos + len), which view_end() accepted, in pieces that are contiguous in the
 * file.  Returns 1 and sets *off and *n to the next piece; 0: no more.
 */
struct view_iter {
	const struct file_view *view;
	uint64_t pos, end;
};
void view_iter_init(struct view_iter *it, const struct file_view *view,
		    uint64_t pos, uint64_t len);
int view_iter_next(struct view_iter *it, uint64_t *off, uint64_t *n);

#endif
