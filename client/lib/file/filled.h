/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filled.h - the bytes of a file that are known to be written: all bytes up to an end,
 * and a few pieces beyond it.  Tells whether the writes of one open file left a hole.
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
/* True: as far as is known, there is a gap between the written bytes. */
static inline bool filled_has_gap(const struct filled *f)
{
	return f->n || f->lost;
}

#endif
