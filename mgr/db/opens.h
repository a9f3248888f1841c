/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opens.h - open records: which session has which file open for writing, or holds it
 * while reading. The records survive a restart of the manager, so that a size is
 * trusted only after every writer has reported.
 */
#ifndef OPENS_H
#define OPENS_H

#include "mgr/db/store.h"

#define OPEN_APPEND 0x1u
#define OPEN_HOLD 0x2u /* reads, and keeps the file */
#define OPEN_PLAIN 0x4u /* the opener is neither the owner nor root */
#define OPEN_TOLD 0x8u /* a hold by DECLARE: the manager did not see the open */

struct open_rec {
	uint64_t session;
	uint64_t open; /* store_id() */
	uint64_t handle;
	uint32_t flags; /* OPEN_* */
};

int open_get(struct store *st, uint64_t session, uint64_t open,
	     struct open_rec *rec);
int open_put(struct store *st, const struct open_rec *rec);
int open_del(struct store *st, uint64_t session, uint64_t open);
/* *n: the number of open records of the session, at most max. */
int open_count(struct store *st, uint64_t session, uint32_t max, uint32_t *n);
/* Any open record of the session; -ENOENT: it has none. */
int open_any(struct store *st, uint64_t session, struct open_rec *rec);

#endif
