/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ops.h - the operations of the manager, one file each.  Operations on locks and on
 * grants are in rooms of their own.
 */
#ifndef OPS_H
#define OPS_H

#include "mgr/request/request_op.h"

/* NULL: not an operation of the manager. */
op_fn *op_find(unsigned int op);

op_fn op_ping, op_statfs, op_mount, op_getattr, op_open, op_release, op_setattr,
	op_mkdir, op_rmdir, op_unlink, op_rename, op_symlink, op_readlink,
	op_link, op_readdir, op_truncate, op_access, op_append, op_rename2,
	op_mknod, op_setxattr, op_getxattr, op_listxattr, op_removexattr,
	op_link2, op_declare;

/*
 * truncate.c: fills req->intent with the deadline of the truncation and the request
 * that it belongs to.
 */
struct intent *op_intent(const struct op *op);
/* Puts a struct wire_attr_rep into the reply. */
int op_put_attr(struct op *op, const struct inode *ino);

/* ---- readdir.c: the buffers of READDIR ---- */

int dirbufs_open(struct mgr *mgr);
void dirbufs_close(struct mgr *mgr);
/*
 * Runs requests that wait for a buffer, as far as one is free; true: there are more for
 * the next turn.
 */
bool dirbufs_run(struct mgr *mgr);

#endif
