/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vecs_int.h - finds regular patterns in a sequence of file extents.  Extents at a
 * constant stride join a vector.  A repetition of the vector becomes its next row (struct
 * wire_vec).  Pure.
 */
#ifndef VECS_INT_H
#define VECS_INT_H

#include <stdbool.h>

#include "common/wire/wire.h"

struct vecs {
	unsigned int n;
	unsigned int pieces; /* number of pieces that v[] describes */
	bool open; /* the last vector is under construction */
	bool needed; /* ... and contains a needed extent */
	struct wire_vec v[WIRE_VEC_MAX]; /* as on the wire */
};

void vecs_begin(struct vecs *vecs);
/*
 * Adds an extent.  needed false: the extent has nothing on the server and may be omitted;
 * it only helps to find the pattern.  False: no room.
 */
bool vecs_add(struct vecs *vecs, uint64_t off, uint64_t len, bool needed);
/* All extents are added. */
void vecs_end(struct vecs *vecs);

#endif
