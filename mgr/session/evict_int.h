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
 * evict_who.c: those that the request means, but its own.  -EINVAL: it means no host, or its
 * own; -ESRCH: there is no such session; -ENOMEM.  ids is the caller's to free.
 */
int evict_choose(struct op *op, struct ids *ids);

#endif
