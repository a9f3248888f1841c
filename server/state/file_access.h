/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_access.h - an access to the file of an object for a request: by the engine, or on a thread
 * that may block.  Its time counts as RPC_DISK.
 */
#ifndef FILE_ACCESS_H
#define FILE_ACCESS_H

#include "server/state/worker.h"

/*
 * The caller owns the struct, sets its public members, and keeps it until done().  Only the
 * session's thread starts an access.
 */
struct file_access {
	struct store_io io; /* the caller sets obj, seg, skip, buf and len */
	struct rail_mem
		*mem; /* of a write: the memory that has io.buf, or NULL */
	struct iod_session *ses;
	struct rpc_req *req; /* not answered before done() */
	/*
	 * Called on the session's thread, possibly before the start returns.  status: 0 or -errno
	 * of the store; -ETIMEDOUT: a write that did not begin before the expiry of req.
	 */
	void (*done)(struct file_access *access, int status);
	/* private to change.c: done() of the caller, while a change of a copyset is in progress */
	void (*change_done)(struct file_access *access, int status);
	struct group_change *group;
	/* private */
	int (*block)(struct file_access *access);
	int status;
	struct mailbox_item mail;
};

void file_access_read(struct file_access *access);
/* For copyset/change.c: all others call change_start(). */
void file_access_write(struct file_access *access);
/* The same for a change that is in the gate already. */
void file_access_write_in_gate(struct file_access *access);
/* Calls block(access), which may block, on a thread of the pool.  Its result is the status. */
void file_access_block(struct file_access *access,
		       int (*block)(struct file_access *access));

#endif
