/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random_type.h - data types made up from random numbers, together with what
 * they have to mean: the place of each of their bytes, in order.
 */
#ifndef RANDOM_TYPE_H
#define RANDOM_TYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#define TYPE_BYTES 1024 /* of one type, at most */

struct rtype {
	MPI_Datatype type;
	int64_t at[TYPE_BYTES];
	int n;
	int64_t lb, extent; /* as MPI says */
	bool hollow; /* has a member without bytes: MPICH's MPI_Pack() fails */
};

struct rnd {
	uint64_t state;
};

/* From 0 to n - 1. */
int rnd(struct rnd *r, int n);

/*
 * One for memory: anything that MPI allows, in at most span bytes.  For a file
 * view: no byte before 0 or before the one in front of it, of elements of unit
 * bytes and holes of multiples of unit.  Free it with rtype_free().
 */
struct rtype *rtype_memory(struct rnd *r, int64_t span);
struct rtype *rtype_view(struct rnd *r, const struct rtype *element,
			 int64_t unit, int64_t span);
/* len bytes; their extent is unit. */
struct rtype *rtype_element(struct rnd *r, int len, int64_t unit);
/*
 * The types in part, each at an address of its own; to be used with MPI_BOTTOM.
 * Frees them.
 */
struct rtype *rtype_absolute(struct rnd *r, struct rtype **part,
			     const int64_t *address, int parts);
void rtype_free(struct rtype *t);

/* The place of the first byte and the end of the last one; 0, 0 if there is none. */
void rtype_bounds(const struct rtype *t, int64_t *first, int64_t *end);

#endif
