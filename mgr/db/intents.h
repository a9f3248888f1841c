/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intents.h - work at the iods that is decided but may not be done yet.
 * Written with the metadata change that decides it, deleted when every iod
 * concerned has answered, carried on at the next start.  In order of id.
 */
#ifndef INTENTS_H
#define INTENTS_H

#include "mgr/db/store.h"

enum intent_kind {
	INTENT_REMOVE = 1, /* the objects of handle */
	INTENT_RESIZE = 2, /* the file handle becomes size bytes long */
	INTENT_FENCE = 3, /* session: it has ended */
	INTENT_LATER =
		4, /* handle, without a name: removed, unless somebody holds
			   * it, when all have said what they hold */
};

struct intent {
	enum intent_kind kind;
	uint64_t id; /* store_id() */
	uint64_t handle; /* REMOVE, RESIZE */
	uint32_t base, pcount, ssize; /* REMOVE, RESIZE: its stripes */
	uint64_t size; /* RESIZE, bytes */
	uint64_t session; /* RESIZE: who asked; FENCE: whom */
	uint64_t seq; /* RESIZE: ... in which request */
	uint32_t slot;
	uint32_t op; /* RESIZE: enum wire_op of it; FENCE: WIRE_EVICT, or 0 */
	uint64_t expiry; /* RESIZE: from when on it must not be done any more: */
	uint64_t host; /* ... clock_boot() of this life of this host */
	uint64_t born; /* RESIZE: when it was asked for, of the same clock */
};

int intent_put(struct store *st, const struct intent *in);
int intent_del(struct store *st, enum intent_kind kind, uint64_t id);
/* The first of the kind with an id above `after`; -ENOENT: none. */
int intent_next(struct store *st, enum intent_kind kind, uint64_t after,
		struct intent *in);
/* Reads up to n in one go; returns how many. */
int intent_read(struct store *st, enum intent_kind kind, uint64_t after,
		struct intent *in, unsigned int n);

#endif
