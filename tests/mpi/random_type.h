/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random_type.h - random data types, together with their meaning: the place of each of their bytes,
 * in order.
 */
#ifndef RANDOM_TYPE_H
#define RANDOM_TYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#define TYPE_BYTES 1024 /* maximum number of bytes of one type */

struct rtype {
	MPI_Datatype type;
	int64_t at[TYPE_BYTES];
	int n;
	int64_t lb, extent; /* as reported by MPI */
	bool hollow; /* has a member without bytes: MPICH's MPI_Pack() fails */
};

struct rnd {
	uint64_t state;
};

/* Returns a random number from 0 to n - 1. */
int rnd(struct rnd *r, int n);

/*
 * Make a random type, which the caller frees with rtype_free().  rtype_memory(): any type that MPI
 * permits, within span bytes.  rtype_view(): a type for a file view.  Its bytes are not below 0 and
 * ascend.  It consists of elements of unit bytes, with holes of multiples of unit.
 */
struct rtype *rtype_memory(struct rnd *r, int64_t span);
struct rtype *rtype_view(struct rnd *r, const struct rtype *element,
			 int64_t unit, int64_t span);
/* Makes a type of len bytes whose extent is unit. */
struct rtype *rtype_element(struct rnd *r, int len, int64_t unit);
/*
 * Makes a type of the types in part, each at its own absolute address, for use with MPI_BOTTOM.
 * Frees the types in part.
 */
struct rtype *rtype_absolute(struct rnd *r, struct rtype **part,
			     const int64_t *address, int parts);
void rtype_free(struct rtype *t);

/* Sets the place of the first byte and the end of the last one; both 0 if the type has no bytes. */
void rtype_bounds(const struct rtype *t, int64_t *first, int64_t *end);

#endif
