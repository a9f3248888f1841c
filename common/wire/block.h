/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * block.h - blocks of objects in the memory that an iod shares, for RDMA Reads: SHARE.
 *
 * A table of places.  Where a block would lie follows from its object and its number, so
 * that whoever knows the table looks there, and sees from the head whether it does.  A
 * Read promises no order: the digest is over the head and the bytes, and where they are not
 * of one moment it does not fit.
 */
#ifndef BLOCK_H
#define BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define WIRE_BLOCK 4096u

struct wire_block {
	le64 handle; /* 0: of nobody */
	le64 number; /* from byte number * WIRE_BLOCK of the object on */
	le64 version; /* another one each time that a place is filled */
	le32 len; /* bytes; fewer where the object ends */
	le32 zero;
	le64 check; /* wire_block_check() of all else */
	le64 spare[3]; /* not looked at */
	uint8_t data[WIRE_BLOCK]; /* len of them */
};

/* len is at most WIRE_BLOCK. */
uint64_t wire_block_check(const struct wire_block *block);

/* The only place where it may be; places is not 0. */
static inline uint64_t wire_block_place(uint64_t handle, uint64_t number,
					uint64_t places)
{
	uint64_t mix = handle * 0x9e3779b97f4a7c15ull;

	return ((mix ^ mix >> 32) + number) % places;
}

/* What was read is that block, of one moment, and has upto bytes at least. */
bool wire_block_holds(const struct wire_block *block, uint64_t handle,
		      uint64_t number, uint32_t upto);

#endif
