/* SPDX-License-Identifier: BSD-2-Clause */
/* op.h - the operations of the mgr, one file each, and what they share. */
#ifndef OP_H
#define OP_H

#include "request.h"

/* One execution of a request, inside a transaction. */
struct op {
	struct mgr *mgr;
	struct request *req;
	struct rpc_req *rpc;
	struct wire_out *out; /* for the body of the reply */
	struct ns_op ns;
};

/* Beyond what ns.h answers: */
#define OP_JOB 4 /* req->intent is recorded: commit, truncate, then on */
#define OP_ABORT 5 /* the connection broke: as if never received */
#define OP_LATER 6 /* it is parked, somebody will run it again */

/*
 * Does it and puts the body of the reply.  0, -errno, NS_* or OP_*.  What
 * has changed the store is answered when that is durable.
 */
typedef int op_fn(struct op *op);
/* NULL: not an operation of the mgr. */
op_fn *op_find(unsigned int op);

op_fn op_ping, op_statfs, op_mount, op_getattr, op_open, op_release, op_setattr,
	op_mkdir, op_rmdir, op_unlink, op_rename, op_symlink, op_readlink,
	op_link, op_readdir, op_truncate, op_access, op_append, op_lock,
	op_rename2, op_mknod, op_setxattr, op_getxattr, op_listxattr,
	op_removexattr, op_grant, op_redeem, op_lock_any, op_link2, op_adopt,
	op_adopted;

/* The path in tail item i, below dir. */
static inline struct ns_path op_path(const struct op *op, unsigned int i,
				     uint64_t wire_dir)
{
	const struct wire_tail *tail = &op->rpc->msg.tail[i];

	return (struct ns_path){ handle_from_wire(op->mgr->st, wire_dir),
				 tail->ptr, tail->len };
}

/* truncate.c: req->intent says until when the truncation may be begun, and which
 * request it answers. */
struct intent *op_intent(const struct op *op);
/* Puts a struct wire_attr_rep. */
int op_put_attr(struct op *op, const struct inode *ino);

/* ---- readdir.c: the buffers of READDIR ---- */

int dirbufs_open(struct mgr *mgr);
void dirbufs_close(struct mgr *mgr);

/* ---- lock.c: requests that wait for a lock ---- */

int lock_waits_open(struct mgr *mgr);
void lock_waits_close(struct mgr *mgr);
/* Something of the file was let go: who waits for it looks again in
 * lock_waits_run(), outside of all transactions. */
void lock_waits_wake(struct mgr *mgr, uint64_t handle);
void lock_waits_run(struct mgr *mgr);

/* ---- adopt.c: requests that wait for the end of a session ---- */

int adopts_open(struct mgr *mgr);
void adopts_close(struct mgr *mgr);
/* A session has ended: who waits for it looks again in adopts_run(), outside of all
 * transactions. */
void adopts_wake(struct mgr *mgr);
void adopts_run(struct mgr *mgr);

#endif
