/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random_memory.h - memory for accesses by random types, and the content that it must have
 * afterwards.  The memory is one allocation, or with absolute addresses several.
 */
#ifndef RANDOM_MEMORY_H
#define RANDOM_MEMORY_H

#include "tests/mpi/random_type.h"

#define AREAS 3

struct memory {
	struct rtype *type;
	void *buf; /* the buffer argument for MPI */
	int count; /* number of elements of `type` */
	int total; /* bytes of all elements */
	char *area[AREAS], *want[AREAS];
	int areas;
};

/*
 * Draws type and count, and fills the memory and `want` with the same numbers.  The total is a
 * multiple of `multiple` bytes.  For a read, no byte of the memory is part of the access twice.
 */
void memory_draw(struct memory *m, struct rnd *r, bool absolute, bool read,
		 int multiple);
/* Return the address of byte k of the access: in the memory, and in the expected content. */
char *memory_byte(const struct memory *m, int k);
char *memory_want(const struct memory *m, int k);
/* Whether the memory has the expected content. */
bool memory_right(const struct memory *m);
void memory_free(struct memory *m);

#endif
