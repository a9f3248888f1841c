/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ends.h - the answer to GETSIZE for an object, in registered memory of an iod, for RDMA Reads.
 *
 * An RDMA Read promises no order beyond one word, and nobody can be asked whether all words are
 * from one moment.  So the words contain a digest of themselves.  If the digest is wrong, the
 * words were read during a change.  The tag identifies the object while it uses this place, and
 * is never used again.  So a client that reads the words of another object notices that, and
 * learns no handle.
 */
#ifndef ENDS_H
#define ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define WIRE_END_ASK UINT64_MAX /* as size: it is being changed, or lent */

struct wire_end {
	le64 tag; /* 0: unused */
	le64 size, blocks, mtime; /* struct wire_objsize */
	le64 version; /* different after each change */
	le64 check; /* wire_end_check() of the others */
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
 * Whether the words read are from one moment, belong to the object with that tag, and contain its
 * size.
 */
static inline bool wire_end_holds(const struct wire_end *end, uint64_t tag)
{
	return le64toh(end->check) == wire_end_check(end) &&
	       le64toh(end->tag) == tag && le64toh(end->size) <= INT64_MAX;
}

#endif
