/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filled.h - which bytes were written through one open file: all up to an end, and at most
 * FILLED_PIECES pieces beyond it.  From this, RELEASE reports whether there may be a hole.
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
	} piece[FILLED_PIECES]; /* sorted; no piece touches another one, or
				 * end */
	bool lost; /* there were more than FILLED_PIECES pieces */
};

/* Records that [from, to) was written. */
void filled_add(struct filled *f, uint64_t from, uint64_t to);
/* Returns true if there is a gap between the written bytes, or if there may be one. */
static inline bool filled_has_gap(const struct filled *f)
{
	return f->n || f->lost;
}

#endif
