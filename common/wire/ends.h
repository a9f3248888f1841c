/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ends.h - the size of an object (the answer to GETSIZE) in registered memory of an iod, which
 * clients read by RDMA.
 *
 * An RDMA Read promises no order beyond one word.  So the structure contains a digest of its own
 * words.  If the digest does not match, the words were read during a change.  The tag identifies
 * the object as long as it uses this memory, and is never used again.  So a client notices that it
 * has read the words of another object, without learning the handle of that object.
 */
#ifndef ENDS_H
#define ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define WIRE_END_ASK UINT64_MAX /* value of size: ask the iod (GETSIZE) */

struct wire_end {
	le64 tag; /* 0: unused */
	le64 size, blocks, mtime; /* struct wire_objsize */
	le64 version; /* different after each change */
	le64 check; /* wire_end_check() of the other fields */
};

static inline uint64_t wire_end_mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
	sum = (sum ^ sum >> 29) * 0xbf58476d1ce4e5b9ull;
	return sum ^ sum >> 32;
}

static inline uint64_t wire_end_check(const struct wire_end *end)
{
	uint64_t sum = wire_end_mix(0x70766673, le64toh(end->tag));

	sum = wire_end_mix(sum, le64toh(end->size));
	sum = wire_end_mix(sum, le64toh(end->blocks));
	sum = wire_end_mix(sum, le64toh(end->mtime));
	return wire_end_mix(sum, le64toh(end->version));
}

/*
 * Returns true if *end, which was read by RDMA, is a consistent copy, belongs to the object with
 * this tag, and contains its size.
 */
static inline bool wire_end_holds(const struct wire_end *end, uint64_t tag)
{
	return le64toh(end->check) == wire_end_check(end) &&
	       le64toh(end->tag) == tag && le64toh(end->size) <= INT64_MAX;
}

#endif
