/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * typemap.h - the bytes that a data type describes, found by decoding it with MPI's
 * public calls.
 */
#ifndef TYPEMAP_H
#define TYPEMAP_H

#include <mpi.h>

#include "romio-adio/tiles.h"

/* Adds the bytes of a type to b.  Returns 0, -ENOMEM, or -EINVAL: unknown combiner. */
int typemap_add(struct blocks *b, MPI_Datatype type);

#endif
