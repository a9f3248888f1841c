/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intents.h - work that the iods must still do.  The transaction of a metadata change also writes
 * the intent for the work that results from it.  The intent is deleted when every iod concerned has
 * answered.  If the manager stops before that, the next start continues it.  Intents are sorted by
 * id.
 */
#ifndef INTENTS_H
#define INTENTS_H

#include "common/dist/dist.h"
#include "mgr/db/store.h"

enum intent_kind {
	INTENT_REMOVE = 1, /* the objects of handle */
	INTENT_RESIZE = 2, /* the file handle gets the length size */
	INTENT_FENCE = 3, /* the iods must fence session, which has ended */
	/* handle has no name: remove it once all sessions have declared their holds, unless
	 * one of them holds it */
	INTENT_LATER = 4,
};

struct intent {
	enum intent_kind kind;
	uint64_t id; /* store_new_id() */
	uint64_t handle; /* REMOVE, RESIZE */
	struct dist dist; /* REMOVE, RESIZE */
	uint64_t size; /* RESIZE, bytes */
	uint64_t session; /* RESIZE: the caller; FENCE: fenced */
	uint64_t seq; /* RESIZE: the caller's request */
	uint32_t slot;
	uint32_t op; /* RESIZE: enum wire_op; FENCE: WIRE_EVICT, or 0 */
	uint64_t expiry; /* RESIZE: an iod must not execute it after this time */
	/* clock_boot() of the boot that expiry and born refer to */
	uint64_t host;
	uint64_t born; /* RESIZE: when it was requested, on the same clock */
};

int intent_put(struct store *st, const struct intent *in);
int intent_del(struct store *st, enum intent_kind kind, uint64_t id);
/* The first one of the kind with an id above `after`; -ENOENT: none. */
int intent_next(struct store *st, enum intent_kind kind, uint64_t after,
		struct intent *in);
/* Reads up to n intents; returns their number or -errno. */
int intent_read(struct store *st, enum intent_kind kind, uint64_t after,
		struct intent *in, unsigned int n);

#endif
