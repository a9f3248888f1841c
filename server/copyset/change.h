/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * change.h - a change of an object for a request: checks that it may be made, opens or makes the
 * object, makes the change, and flushes what was written.
 *
 * A change is one entry into the gate (gate.h): a chunk of a WRITE, a part of a COPY, a truncation,
 * a step of an allocation, a change of a counter.  All changes that requests make, except
 * removals, go through this file.  So it is the place where a change has to reach the other iods of
 * the object's group (docs/copies.md).  Changes of the own group are always possible.  Changes of
 * another one need that the request names the version in force, and that this iod is the primary
 * (assignments.h).  Its other members make the change first (group_change.h), as an order, whose
 * changes go through this file as well (member_order.h).
 */
#ifndef CHANGE_H
#define CHANGE_H

#include "server/copyset/group_change.h"
#include "server/state/file_access.h"

/*
 * Sets *obj to the object, with a reference for the caller.  Makes the object if it does not
 * exist. -ENOENT: the object was removed, and is not made again.  -errno of the store.
 */
int change_open_object(struct iod *iod, struct object_key key,
		       struct store_obj **obj);

/*
 * Checks whether req may change these n ranges of the object.  -ETIMEDOUT: the expiry of req has
 * passed.  -EIO, -ECONNABORTED: req is a repeated request that must not be executed again, as for
 * recent_changes_check().
 */
int change_check(struct iod *iod, const struct rpc_req *req,
		 struct object_key key, const struct store_seg *seg,
		 unsigned int n);

/*
 * Writes bytes: as file_access_write().  done() may get the errors of change_enter() as well.
 */
void change_start(struct file_access *change);

struct change_entry {
	/* private */
	struct gate_entry gate;
	struct group_change *group; /* NULL: the change needed no order */
};

/*
 * Call change_enter() before a change that the caller makes itself, and change_leave() after it, on
 * the same thread, which must be one of the pool unless the change needs no disk.  what: the order
 * for the other members of the copyset; then change_enter() sleeps until they have made the change.
 * NULL: the change needs no order.  status: of the change.
 *
 * -ETIMEDOUT: the expiry of req has passed.  -WIRE_ECOPYSET: as for copyset_enter().  Errors of the
 * members.  -ESHUTDOWN: the iod stops.  For an order: as for member_order_enter(); -ETIMEDOUT: the
 * lease of this iod has ended.  After an error the change must not be made.
 */
int change_enter(struct iod *iod, const struct rpc_req *req,
		 struct store_obj *obj, const struct ordered_change *what,
		 struct change_entry *entry);
void change_leave(struct iod *iod, struct store_obj *obj,
		  struct change_entry *entry, int status);
/*
 * Between the two: has the other members of the copyset make this change, and sleeps until they
 * have.  Errors as above.
 */
int change_order(const struct rpc_req *req, struct store_obj *obj,
		 const struct ordered_change *what);

/*
 * A flush of what a session wrote to an object, before a request of the session is answered.  An
 * error that the flush of another session has met since the write is reported as well
 * (dirty_objects.h).  The caller owns the struct, and keeps it until done().
 */
struct change_flush {
	/* called on the session's thread; status: 0 or -errno */
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
