/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * block.h - a cache of blocks of objects in the memory of an iod, which clients read by RDMA.  They
 * get its address by SHARE.
 *
 * The cache is a table of places.  A block can only be in one place, which follows from its object
 * and its number.  So a client reads that place, and sees from the head whether it contains the
 * block.  An RDMA Read promises no order.  So a digest covers the head and the bytes.  If the place
 * changed during the read, the digest does not match.
 */
#ifndef BLOCK_H
#define BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define WIRE_BLOCK 4096u

struct wire_block {
	le64 handle; /* the object; 0: the place is empty */
	/* the block begins at byte number * WIRE_BLOCK of the object */
	le64 number;
	le64 version; /* different each time that a place is filled */
	le32 len; /* bytes; fewer at the end of the object */
	le32 zero;
	le64 check; /* wire_block_check() of all other fields */
	le64 spare[3]; /* ignored */
	uint8_t data[WIRE_BLOCK]; /* len of them */
};

/* The digest of the block.  len must be at most WIRE_BLOCK. */
uint64_t wire_block_check(const struct wire_block *block);

/* The only place where the block can be.  places must not be 0. */
static inline uint64_t wire_block_place(uint64_t handle, uint64_t number,
					uint64_t places)
{
	uint64_t mix = handle * 0x9e3779b97f4a7c15ull;

	return ((mix ^ mix >> 32) + number) % places;
}

/*
 * Returns true if *block, which was read by RDMA, is a consistent copy of block number of the
 * object handle, with at least upto bytes.
 */
bool wire_block_holds(const struct wire_block *block, uint64_t handle,
		      uint64_t number, uint32_t upto);

#endif
