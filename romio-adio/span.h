/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * span.h - allocation hints: the larger buffer that pieces of memory belong
 * to, so that it is registered once and not piece by piece.
 *
 * From the data type where it cannot but describe one array (vectors,
 * subarrays and what is built of them); its span then is memory of the
 * program.  Of a list of displacements that is not known (it may join two
 * arrays): there is no hint then, and libpvfs groups the pieces itself.
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
/* Of a known one: fills hint and hint_len, an entry for each piece of mem. */
void span_hints(const struct span *span, const struct pieces *mem, char **hint,
		size_t *hint_len);

#endif
