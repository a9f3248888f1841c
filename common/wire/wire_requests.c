/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_requests.c - properties of a request that follow from its operation and body: the rights
 * that it needs, whether it waits for others, and whether it may name a copyset.
 */
#include "common/wire/wire.h"

/*
 * ---- rights ----
 *
 * GETSIZE needs none, because any user who may search the directory may know the size of a file.
 * SYNC needs none, because it reveals nothing and changes nothing.
 */

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

/* Returns the rights needed on the object whose handle is the first field of the body. */
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

/* ---- waiting ---- */

static bool is_set(le32 flags, uint32_t bit)
{
	return le32toh(flags) & bit;
}

enum wire_wait wire_waits(unsigned int op, const void *body)
{
	const struct wire_lock *lock = body;
	const struct wire_open *open = body;
	const struct wire_io *io = body; /* also the first field of wire_list */

	switch (op) {
	case WIRE_LOCK:
		return is_set(lock->flags, WIRE_L_WAIT) ? WIRE_WAIT_LOCK
							: WIRE_WAIT_NOT;
	case WIRE_OPEN:
		return is_set(open->flags, WIRE_O_TRUNC) ? WIRE_WAIT_STORE
							 : WIRE_WAIT_NOT;
	case WIRE_WRITE:
	case WIRE_WRITE_LIST:
		return is_set(io->flags, WIRE_IO_SYNC) ? WIRE_WAIT_STORE
						       : WIRE_WAIT_NOT;
	case WIRE_TRUNCATE:
	case WIRE_ADOPTED:
	case WIRE_EVICT:
	case WIRE_RESIZE:
	case WIRE_SYNC:
	case WIRE_REMOVE:
	case WIRE_OBJECTS:
	case WIRE_FALLOCATE:
	case WIRE_COPY:
		return WIRE_WAIT_STORE;
	default:
		return WIRE_WAIT_NOT;
	}
}

/* ---- copysets ---- */

bool wire_op_has_copyset(unsigned int op)
{
	switch (op) {
	case WIRE_READ:
	case WIRE_WRITE:
	case WIRE_READ_LIST:
	case WIRE_WRITE_LIST:
	case WIRE_RESIZE:
	case WIRE_SYNC:
	case WIRE_GETSIZE:
	case WIRE_FALLOCATE:
	case WIRE_SEEK:
	case WIRE_COPY:
	case WIRE_COUNTER:
	case WIRE_PLACE:
	case WIRE_BORROW:
	case WIRE_ORDER:
	case WIRE_OUTCOME:
		return true;
	default:
		return false;
	}
}
