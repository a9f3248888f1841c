/* SPDX-License-Identifier: BSD-2-Clause */
/* evict_int.h - what the files of evict.h share. */
#ifndef EVICT_INT_H
#define EVICT_INT_H

#include "mgr/session/evict.h"

struct ids {
	size_t n, room;
	uint64_t *id;
};

/*
 * evict_who.c: the sessions that the request selects, without its own.  -EINVAL: it
 * selects no host, or its own session; -ESRCH: there is no such session; -ENOMEM.  The
 * caller frees ids->id, also after an error.
 */
int evict_choose(struct op *op, struct ids *ids);

#endif
