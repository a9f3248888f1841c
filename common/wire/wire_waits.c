/* SPDX-License-Identifier: BSD-2-Clause */
/* wire_waits.c - which requests wait for others, as far as the request itself shows. */
#include "common/wire/wire.h"

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
