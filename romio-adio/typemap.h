/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * typemap.h - the bytes that a data type describes, found by decoding it with MPI's
 * public calls.
 */
#ifndef TYPEMAP_H
#define TYPEMAP_H

#include <mpi.h>

#include "romio-adio/blocks.h"

/* How a type was constructed.  The numbers are those of the constructor, in order. */
struct contents {
	int combiner;
	int64_t *number; /* counts, lengths, ... */
	/* byte displacements, if the constructor has them separately */
	MPI_Aint *addr;
	MPI_Datatype *type;
	MPI_Count numbers, addrs, types;
	MPI_Count ints; /* the first ints numbers were passed as int */
	void *memory;
};

/* Returns 0; the caller then calls contents_free().  -ENOMEM: there is nothing to free. */
int contents_get(struct contents *c, MPI_Datatype type);
void contents_free(struct contents *c);

/* Adds the bytes of a type to b.  Returns 0, -ENOMEM, or -EINVAL: unknown combiner. */
int typemap_add(struct blocks *b, MPI_Datatype type);
/* The same for a subarray or darray of elements whose bytes are given. */
int typemap_array(struct blocks *b, const struct contents *c,
		  const struct blocks *element, int64_t extent);

#endif
