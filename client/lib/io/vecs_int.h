/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vecs_int.h - finds the regular patterns in a row of file extents: what
 * follows at a constant stride joins a vector, what repeats that as a whole
 * becomes its next row (struct wire_vec).  Pure.
 */
#ifndef VECS_INT_H
#define VECS_INT_H

#include <stdbool.h>

#include "common/wire/wire.h"

struct vecs {
	unsigned int n;
	unsigned int pieces; /* that v[] describes */
	bool open; /* the last one is being made */
	bool needed; /* ... and has an extent that counts */
	struct wire_vec v[WIRE_VEC_MAX]; /* as on the wire */
};

void vecs_begin(struct vecs *vecs);
/*
 * Adds an extent.  needed false: it has nothing on the server and may be left
 * out; it only helps to see the pattern.  False: there is no room for it.
 */
bool vecs_add(struct vecs *vecs, uint64_t off, uint64_t len, bool needed);
/* All were added. */
void vecs_end(struct vecs *vecs);

#endif
