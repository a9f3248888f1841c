/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * block.h - blocks of objects in memory that an iod shares, for RDMA Reads: SHARE.
 *
 * A table of places.  The place of a block follows from its object and its number.  So a client
 * that knows the table reads that place, and sees from the head whether the block is there.  An
 * RDMA Read promises no order.  The digest covers the head and the bytes, and does not match if
 * they are not from one moment.
 */
#ifndef BLOCK_H
#define BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define WIRE_BLOCK 4096u

struct wire_block {
	le64 handle; /* 0: unused */
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

/* Whether the bytes read are that block, from one moment, with at least upto bytes. */
bool wire_block_holds(const struct wire_block *block, uint64_t handle,
		      uint64_t number, uint32_t upto);

#endif
