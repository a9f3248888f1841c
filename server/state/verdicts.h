/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verdicts.h - what a session may do to which objects, as its capabilities said when they
 * were verified: a table of sets with four places each.  Where a set is full one of its
 * verdicts makes room, and its client has to show that capability again.
 */
#ifndef VERDICTS_H
#define VERDICTS_H

#include <stdbool.h>
#include <stdint.h>

#define VERDICTS_WAYS 4u
#define VERDICTS_MAX 4096u /* of a session */
#define VERDICTS_RIGHTS 2u

struct verdict {
	uint64_t handle; /* 0: free */
	uint64_t until[VERDICTS_RIGHTS]; /* clock_boot(); by bit of WIRE_NEED_* */
};

/* Zeros: it is empty. */
struct verdicts {
	struct verdict *v;
	uint32_t sets; /* a power of two, or 0 */
	uint32_t turn;
	uint32_t era; /* of the keys that they were verified by */
	uint64_t dropped; /* to make room */
};

/* When the last of the rights, WIRE_NEED_*, ends; 0: there is none. */
uint64_t verdicts_until(const struct verdicts *v, uint64_t handle,
			unsigned int rights);
/* handle is not 0; of rights that were there the longer counts.  -ENOMEM */
int verdicts_add(struct verdicts *v, uint64_t handle, unsigned int rights,
		 uint64_t until);
/* Those of another era do not count any more. */
void verdicts_keep(struct verdicts *v, uint32_t era);
void verdicts_free(struct verdicts *v);

#endif
