/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random_memory.h - memory for accesses by random types: in one allocation or,
 * by absolute addresses, in several; with what has to be in it afterwards.
 */
#ifndef RANDOM_MEMORY_H
#define RANDOM_MEMORY_H

#include "tests/mpi/random_type.h"

#define AREAS 3

struct memory {
	struct rtype *type;
	void *buf; /* as MPI gets it */
	int count; /* of type */
	int total; /* bytes of all */
	char *area[AREAS], *want[AREAS];
	int areas;
};

/*
 * Draws type and count, and fills the memory with numbers; want is the same.  The total is a
 * multiple of `multiple` bytes.  For a read no byte lies in it twice.
 */
void memory_draw(struct memory *m, struct rnd *r, bool absolute, bool read,
		 int multiple);
/* Byte k of the access, where it lies and where it is wanted. */
char *memory_byte(const struct memory *m, int k);
char *memory_want(const struct memory *m, int k);
/* Whether the memory is what it has to be. */
bool memory_right(const struct memory *m);
void memory_free(struct memory *m);

#endif
