/* SPDX-License-Identifier: BSD-2-Clause */
/* cursor.h - a position in a list of memory pieces. */
#ifndef CURSOR_H
#define CURSOR_H

#include <sys/uio.h>

#include "common/transport/transport.h"

struct tp_cursor {
	const struct tp_sge *sge;
	unsigned int n; /* pieces from sge on */
	uint32_t off; /* into the first */
	uint64_t left; /* bytes to the end */
};
void tp_cursor_set(struct tp_cursor *c, const struct tp_sge *sge,
		   unsigned int n, uint64_t len);
/* Fills at most max entries with at most *bytes, which becomes what they
 * cover; returns how many. */
unsigned int tp_cursor_iov(const struct tp_cursor *c, struct iovec *iov,
			   unsigned int max, uint64_t *bytes);
/* n is at most left. */
void tp_cursor_move(struct tp_cursor *c, uint64_t n);
/* Appends a piece, joined with the last where it continues it; lens > 0. */
unsigned int tp_sge_add(struct tp_sge *sge, unsigned int n,
			const struct tp_sge *piece);

#endif
