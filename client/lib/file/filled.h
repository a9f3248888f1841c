/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filled.h - which bytes of a file are known to be written: all up to an end, and a few
 * pieces beyond it.  It tells whether the writes of one open file left a hole.
 *
 *   0 [######## end ]........[ piece ]....[ piece ]
 */
#ifndef FILLED_H
#define FILLED_H

#include <stdbool.h>
#include <stdint.h>

#define FILLED_PIECES 8u

struct filled {
	uint64_t end;
	unsigned int n;
	struct {
		uint64_t from, to;
	} piece[FILLED_PIECES]; /* in order; none touches another, or end */
	bool lost; /* there were more pieces than that */
};

/* [from, to) was written. */
void filled_add(struct filled *f, uint64_t from, uint64_t to);
/* Something between the written bytes was not written, as far as is known. */
static inline bool filled_has_gap(const struct filled *f)
{
	return f->n || f->lost;
}

#endif
