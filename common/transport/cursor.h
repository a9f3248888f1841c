/* SPDX-License-Identifier: BSD-2-Clause */
/* cursor.h - a position in a list of memory pieces. */
#ifndef CURSOR_H
#define CURSOR_H

#include <sys/uio.h>

#include "common/transport/transport.h"

struct tp_cursor {
	const struct tp_sge *sge;
	unsigned int n; /* number of pieces from sge on */
	uint32_t off; /* offset in the first piece */
	uint64_t left; /* bytes to the end of the list */
};
void tp_cursor_set(struct tp_cursor *c, const struct tp_sge *sge,
		   unsigned int n, uint64_t len);
/*
 * Fills iov with the memory from c on: at most max entries and *bytes bytes. Sets *bytes to the
 * bytes of the entries, and returns their number.
 */
unsigned int tp_cursor_iov(const struct tp_cursor *c, struct iovec *iov,
			   unsigned int max, uint64_t *bytes);
/* Advances by n bytes; n is at most left. */
void tp_cursor_move(struct tp_cursor *c, uint64_t n);
/*
 * Appends piece to the n pieces of sge, and returns their new number. If the memory of piece
 * directly follows that of the last one, extends the last one instead. No length may be 0.
 */
unsigned int tp_sge_add(struct tp_sge *sge, unsigned int n,
			const struct tp_sge *piece);

#endif
