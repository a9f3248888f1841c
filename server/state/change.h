/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * change.h - a change of an object: checks that it may be made, opens or makes the object, and
 * flushes what was written.
 */
#ifndef CHANGE_H
#define CHANGE_H

#include "server/state/worker.h"

/*
 * Returns the object with a reference for the caller, made if it does not exist.  -ENOENT: it
 * was removed, and is not made again.  -errno of the store.
 */
int change_open_object(struct iod *iod, uint64_t handle,
		       struct store_obj **obj);

/*
 * Checks a change of these bytes of the object.  -ETIMEDOUT: its expiry has passed.  -EIO,
 * -ECONNABORTED: it is a repeated request that must not be executed again, as for
 * recent_changes_check().
 */
int change_check(struct iod *iod, const struct rpc_req *req, uint64_t handle,
		 const struct store_seg *seg, unsigned int n);

/*
 * Flushes what a session wrote to an object before its request is answered.  An error that
 * another flush has met since the write counts as well (dirty_objects.h).
 */
struct change_flush {
	/* called on the session's thread: 0 or -errno; the caller owns f again */
	void (*done)(struct change_flush *f, int status);
	struct rpc_req *req; /* the request that waits for the flush */
	/* private */
	struct iod_session *ses;
	struct dirty_objects_flush dirty;
	struct flush_wait wait;
	int status;
	struct mailbox_item mail;
};

/* The caller keeps ses and obj until done(), and has called dirty_object_write_end() before. */
void change_flush_start(struct change_flush *f, struct iod_session *ses,
			struct store_obj *obj);

#endif
