/* SPDX-License-Identifier: BSD-2-Clause */
/* copyset_wire.c - see copyset_wire.h. */
#include "common/dist/copyset_wire.h"

_Static_assert(COPYSET_FIRST == WIRE_COPYSET_MIN, "the first copyset");
_Static_assert(COPYSET_END == WIRE_COPYSET_END, "the last copyset");
_Static_assert(COPYSET_RING_MAX == WIRE_RING_MAX, "copysets of a ring");
_Static_assert(COPYSET_COPIES_MAX == WIRE_COPIES_MAX, "members");
_Static_assert((unsigned int)COPYSET_SERVING == WIRE_CS_SERVING &&
		       (unsigned int)COPYSET_SYNCING == WIRE_CS_SYNCING &&
		       (unsigned int)COPYSET_OFFLINE == WIRE_CS_OFFLINE &&
		       (unsigned int)COPYSET_STATES == WIRE_CS_END,
	       "states");

struct copyset copyset_from_wire(const struct wire_copyset *from)
{
	struct copyset set = { .id = le32toh(from->id),
			       .version = le32toh(from->version),
			       .losses = le32toh(from->losses),
			       .n = le32toh(from->n) };

	for (uint32_t i = 0; i < set.n; i++)
		set.member[i] = (struct copyset_member){
			.iod = le16toh(from->member[i].iod),
			.state = le16toh(from->member[i].state)
		};
	return set;
}

struct wire_copyset copyset_to_wire(const struct copyset *from)
{
	struct wire_copyset to = { .id = htole32(from->id),
				   .version = htole32(from->version),
				   .losses = htole32(from->losses),
				   .n = htole32(from->n) };

	for (uint32_t i = 0; i < from->n; i++) {
		to.member[i].iod = htole16((uint16_t)from->member[i].iod);
		to.member[i].state = htole16((uint16_t)from->member[i].state);
	}
	return to;
}

struct ring ring_from_wire(const struct wire_ring *from)
{
	return (struct ring){ .id = le32toh(from->id),
			      .copies = le32toh(from->copies),
			      .first = le32toh(from->first),
			      .n = le32toh(from->n) };
}

struct wire_ring ring_to_wire(const struct ring *from)
{
	return (struct wire_ring){ .id = htole32(from->id),
				   .copies = htole32(from->copies),
				   .first = htole32(from->first),
				   .n = htole32(from->n) };
}
