/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * span.h - allocation hints: the larger buffer that contains pieces of memory, so that it
 * is registered once instead of each piece.
 *
 * It is computed from the data type if that can only describe one array (vectors,
 * subarrays and types built from them).  Its span is then memory of the program.  A list
 * of displacements may join two arrays.  Then there is no hint, and libpvfs groups the
 * pieces itself.
 */
#ifndef SPAN_H
#define SPAN_H

#include "romio-adio/tiles.h"

#include <mpi.h>

struct span {
	bool known;
	int64_t start, len; /* address and bytes of the whole buffer */
};

struct span span_of(const void *buf, int count, MPI_Datatype type);
/* Fills hint and hint_len, one entry for each piece of mem.  The span must be known. */
void span_hints(const struct span *span, const struct pieces *mem, char **hint,
		size_t *hint_len);

#endif
