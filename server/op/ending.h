/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ending.h - ends sessions on all workers.  From the start on the sessions are refused.  When
 * the ending is done, no request that they sent is running.
 */
#ifndef ENDING_H
#define ENDING_H

#include "server/state/worker.h"

struct ending_mark;

/* The caller owns it, and keeps it until done(). */
struct ending {
	/* Whether this session is to end.  Called from any worker's thread. */
	bool (*ends)(const struct ending *e, const struct iod_session *ses);
	/* Called on home's thread. */
	void (*done)(struct ending *e);
	/* private */
	struct worker *home;
	atomic_uint left;
	struct mail mail;
	struct ending_mark *mark; /* one for each worker */
};
/* -ENOMEM: nothing has begun, and done() is not called. */
int ending_start(struct ending *e, struct worker *home);

#endif
