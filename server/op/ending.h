/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ending.h - ends sessions on all workers: from then on they are refused, and
 * when it is over nothing runs of what they had sent.
 */
#ifndef ENDING_H
#define ENDING_H

#include "server/state/worker.h"

struct ending_mark;

/* The caller's until done(). */
struct ending {
	/* Which sessions; from any worker's thread. */
	bool (*ends)(const struct ending *e, const struct iod_session *ses);
	/* On the thread of home. */
	void (*done)(struct ending *e);
	/* private */
	struct worker *home;
	atomic_uint left;
	struct mail mail;
	struct ending_mark *mark; /* one a worker */
};
/* -ENOMEM: nothing has begun. */
int ending_start(struct ending *e, struct worker *home);

#endif
