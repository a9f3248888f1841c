/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_needs.c - the objects that a client's request concerns, and the rights that it needs.
 *
 * Not included: GETSIZE, because any user who may search the directory may know the size of a
 * file.  SYNC, because it reveals nothing and changes nothing.
 */
#include "common/wire/wire.h"

static unsigned int rights_for_counter(const struct wire_counter *body)
{
	return body->value || body->flags ? WIRE_NEED_WRITE : WIRE_NEED_READ;
}

static unsigned int rights_for_borrow(const struct wire_borrow *body)
{
	if (le64toh(body->handle) == WIRE_B_NO_OBJECT)
		return 0;
	return le32toh(body->flags) & WIRE_B_WRITE ? WIRE_NEED_WRITE
						   : WIRE_NEED_READ;
}

/* The rights needed on the object whose handle begins the body. */
static unsigned int rights_for_op(unsigned int op, const void *body)
{
	switch (op) {
	case WIRE_READ:
	case WIRE_READ_LIST:
		return WIRE_NEED_READ;
	case WIRE_SEEK: /* lseek(2) does not depend on how a file was opened */
		return WIRE_NEED_READ | WIRE_NEED_WRITE;
	case WIRE_WRITE:
	case WIRE_WRITE_LIST:
	case WIRE_FALLOCATE:
	case WIRE_COPY:
	case WIRE_PLACE:
		return WIRE_NEED_WRITE;
	case WIRE_BORROW:
		return rights_for_borrow(body);
	case WIRE_COUNTER:
		return rights_for_counter(body);
	default:
		return 0;
	}
}

unsigned int wire_needs(unsigned int op, const void *body,
			struct wire_need need[WIRE_NEEDS_MAX])
{
	const struct wire_copy *copy = body;

	need[0].rights = rights_for_op(op, body);
	if (!need[0].rights)
		return 0;
	need[0].handle = le64toh(*(const le64 *)body);
	if (op != WIRE_COPY)
		return 1;
	need[1] = (struct wire_need){ le64toh(copy->from), WIRE_NEED_READ };
	return 2;
}
