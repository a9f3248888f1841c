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
	INTENT_REMOVE = 1, /* the iods must remove the objects of handle */
	INTENT_RESIZE = 2, /* the file handle gets the length size */
	INTENT_FENCE = 3, /* the iods must fence session, which has ended */
	/*
	 * handle has no name: the manager removes it once all sessions have declared their holds,
	 * unless one of them holds it
	 */
	INTENT_LATER = 4,
};

struct intent {
	enum intent_kind kind;
	uint64_t id; /* from store_new_id() */
	uint64_t handle; /* for REMOVE and RESIZE */
	struct dist dist; /* for REMOVE and RESIZE */
	uint64_t size; /* for RESIZE, in bytes */
	/* for RESIZE, the session of the caller; for FENCE, the fenced session */
	uint64_t session;
	uint64_t seq; /* for RESIZE, the number of the caller's request */
	uint32_t slot;
	/* for RESIZE, an enum wire_op; for FENCE, WIRE_EVICT or 0 */
	uint32_t op;
	/* for RESIZE, the time after which an iod must not execute it */
	uint64_t expiry;
	/* clock_id() of the clock to which expiry and born refer */
	uint64_t clock;
	/* for RESIZE, the time when it was requested, on the same clock as expiry */
	uint64_t born;
};

int intent_put(struct store *st, const struct intent *in);
int intent_del(struct store *st, enum intent_kind kind, uint64_t id);
/*
 * Reads the first intent of the kind with an id above `after`. Returns 0, or -ENOENT if there is
 * none.
 */
int intent_next(struct store *st, enum intent_kind kind, uint64_t after,
		struct intent *in);
/* Reads up to n intents. Returns their number or -errno. */
int intent_read(struct store *st, enum intent_kind kind, uint64_t after,
		struct intent *in, unsigned int n);

#endif
