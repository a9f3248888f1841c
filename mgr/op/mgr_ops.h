/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_ops.h - the operations of the manager: from the message to the name space, and from its
 * result to the body of the reply.  Operations on locks and sessions are in folders of their own.
 */
#ifndef MGR_OPS_H
#define MGR_OPS_H

#include "mgr/request/request_op.h"

/* Returns the function for an operation (enum wire_op), or NULL if the manager does not have it. */
op_fn *op_find(unsigned int op);

op_fn op_ping, op_statfs, op_mount, op_copysets, op_getattr, op_open,
	op_release, op_setattr, op_mkdir, op_rmdir, op_unlink, op_rename,
	op_symlink, op_readlink, op_link, op_readdir, op_truncate, op_access,
	op_append, op_rename2, op_mknod, op_setxattr, op_getxattr, op_listxattr,
	op_removexattr, op_link2, op_declare;

/*
 * Fills op->req->intent with the deadline of a truncation, and with the request that it belongs
 * to (slot, seq, operation).  Returns this intent, which the request owns.
 */
struct intent *op_intent(const struct mgr_op *op);
/* Puts a struct wire_attr_rep with the attributes of ino into the reply. Returns 0 or -errno. */
int op_put_attr(struct mgr_op *op, const struct inode *ino);

/* ---- readdir.c: the buffers of READDIR ---- */

/* Returns 0 or -ENOMEM. */
int dir_buffers_open(struct mgr *mgr);
void dir_buffers_close(struct mgr *mgr);
/*
 * Runs READDIR requests that wait for a buffer, while a buffer is free. If it returns true, call it
 * again in the next turn of the event loop.
 */
bool dir_buffers_run(struct mgr *mgr);

#endif
