/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flushing.h - flushes what a session wrote to an object before its request is answered.  An
 * error that another flush has met since the write counts as well (marks.h).
 */
#ifndef FLUSHING_H
#define FLUSHING_H

#include "server/state/worker.h"

struct flushing {
	/* called on the session's thread: 0 or -errno; the caller owns f again */
	void (*done)(struct flushing *f, int status);
	struct rpc_req *req; /* the request that waits for the flush */
	/* private */
	struct iod_session *ses;
	struct marks_flush marks;
	struct sync_wait wait;
	int status;
	struct mail mail;
};

/* The caller keeps ses and obj until done(), and has called mark_written() before. */
void flushing_start(struct flushing *f, struct iod_session *ses,
		    struct store_obj *obj);

#endif
