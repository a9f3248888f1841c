/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verdicts.h - the rights of a session to objects, as its verified capabilities said: a table
 * of sets with four places each.  If a set is full, one of its verdicts is dropped, and its
 * client has to show that capability again.
 */
#ifndef VERDICTS_H
#define VERDICTS_H

#include <stdbool.h>
#include <stdint.h>

#define VERDICTS_WAYS 4u
#define VERDICTS_MAX 4096u /* places of a session */
#define VERDICTS_RIGHTS 2u

struct verdict {
	uint64_t handle; /* 0: the place is free */
	/* end of each right, clock_boot(); by bit of WIRE_NEED_* */
	uint64_t until[VERDICTS_RIGHTS];
};

/* All zeros: empty. */
struct verdicts {
	struct verdict *v;
	uint32_t sets; /* a power of two, or 0 while empty */
	uint32_t turn;
	uint32_t era; /* of the keys by which they were verified */
	/* verdicts dropped for others; a change of era counts as one */
	uint64_t dropped;
};

/* When the last of the rights, WIRE_NEED_*, ends; 0: the session has none of them. */
uint64_t verdicts_until(const struct verdicts *v, uint64_t handle,
			unsigned int rights);
/* handle is not 0.  For rights that were there already, the later end counts.  -ENOMEM. */
int verdicts_add(struct verdicts *v, uint64_t handle, unsigned int rights,
		 uint64_t until);
/* If the era is another one, drops all verdicts. */
void verdicts_keep(struct verdicts *v, uint32_t era);
void verdicts_free(struct verdicts *v);

#endif
