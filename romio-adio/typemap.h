/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * typemap.h - the bytes that a data type describes, found by taking it apart
 * with MPI's public calls.
 */
#ifndef TYPEMAP_H
#define TYPEMAP_H

#include <mpi.h>

#include "romio-adio/blocks.h"

/* How a type was made; numbers are those of the call that made it, in order. */
struct contents {
	int combiner;
	int64_t *number; /* counts, lengths, ... */
	MPI_Aint *addr; /* byte displacements, where the call had any apart */
	MPI_Datatype *type;
	MPI_Count numbers, addrs, types;
	MPI_Count ints; /* of the numbers, the first were passed as int */
	void *memory;
};

/* 0 or -ENOMEM; then contents_free(). */
int contents_get(struct contents *c, MPI_Datatype type);
void contents_free(struct contents *c);

/* Adds the bytes of a type to b.  0, -ENOMEM, or -EINVAL: unknown combiner. */
int typemap_add(struct blocks *b, MPI_Datatype type);
/* The same of a subarray or darray of elements whose bytes are given. */
int typemap_array(struct blocks *b, const struct contents *c,
		  const struct blocks *element, int64_t extent);

#endif
