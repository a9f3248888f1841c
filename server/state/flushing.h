/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flushing.h - what a session wrote to an object goes to the disk before it is answered;
 * an error that another flush has met since counts as well (marks.h).
 */
#ifndef FLUSHING_H
#define FLUSHING_H

#include "server/state/worker.h"

struct flushing {
	/* on the session's thread: 0 or -errno; f is the caller's again */
	void (*done)(struct flushing *f, int status);
	struct rpc_req *req; /* that waits for it */
	/* private */
	struct iod_session *ses;
	struct marks_flush marks;
	struct sync_wait wait;
	int status;
	struct mail mail;
};

/* The caller keeps ses and obj until done(); mark_written() was called. */
void flushing_start(struct flushing *f, struct iod_session *ses,
		    struct store_obj *obj);

#endif
