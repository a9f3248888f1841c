/* SPDX-License-Identifier: BSD-2-Clause */
/* cursor.h - a position in a list of memory pieces. */
#ifndef CURSOR_H
#define CURSOR_H

#include <sys/uio.h>

#include "common/transport/transport.h"

struct tp_cursor {
	const struct tp_sge *sge;
	unsigned int n; /* pieces from sge on */
	uint32_t off; /* offset in the first piece */
	uint64_t left; /* bytes to the end of the list */
};
void tp_cursor_set(struct tp_cursor *c, const struct tp_sge *sge,
		   unsigned int n, uint64_t len);
/*
 * Fills at most max entries that cover at most *bytes, and sets *bytes to what they cover. Returns
 * the number of entries.
 */
unsigned int tp_cursor_iov(const struct tp_cursor *c, struct iovec *iov,
			   unsigned int max, uint64_t *bytes);
/* Advances by n bytes; n is at most left. */
void tp_cursor_move(struct tp_cursor *c, uint64_t n);
/*
 * Appends a piece to n pieces and returns their new number. If the piece continues the last one,
 * extends that. No length may be 0.
 */
unsigned int tp_sge_add(struct tp_sge *sge, unsigned int n,
			const struct tp_sge *piece);

#endif
