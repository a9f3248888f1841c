/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_rights.h - the rights of a session to objects, as its verified capabilities said: a
 * table of sets with four entries each.  If a set is full, one of its entries is dropped, and the
 * client has to show that capability again.
 */
#ifndef SESSION_RIGHTS_H
#define SESSION_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#define SESSION_RIGHTS_WAYS 4u
#define SESSION_RIGHTS_MAX 4096u /* entries of a session */
#define SESSION_RIGHTS_KINDS 2u

struct object_rights {
	uint64_t handle; /* 0: the entry is free */
	/* end of each right, clock_boot(); by bit of WIRE_NEED_* */
	uint64_t until[SESSION_RIGHTS_KINDS];
};

/* All zeros: empty. */
struct session_rights {
	struct object_rights *entry;
	uint32_t sets; /* a power of two, or 0 while empty */
	uint32_t turn;
	uint32_t era; /* of the keys by which they were verified */
	/* entries dropped for others; a change of era counts as one */
	uint64_t dropped;
};

/*
 * Returns when the last of these rights (bits WIRE_NEED_*) to the object ends, clock_boot().  0:
 * the session has none of them.
 */
uint64_t session_rights_until(const struct session_rights *v, uint64_t handle,
			      unsigned int rights);
/*
 * Adds rights (bits WIRE_NEED_*) to the object until this time, clock_boot().  If the session has
 * a right already, the later end is kept.  handle must not be 0.  -ENOMEM.
 */
int session_rights_add(struct session_rights *v, uint64_t handle,
		       unsigned int rights, uint64_t until);
/*
 * Sets the era of keys by which capabilities are verified.  If it is a new one, drops all
 * entries.
 */
void session_rights_set_era(struct session_rights *v, uint32_t era);
void session_rights_free(struct session_rights *v);

#endif
