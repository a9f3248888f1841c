/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_any.c - LOCK_ANY.  A request waits at one blocking lock for each lock that it names. */
#include <errno.h>

#include "mgr/locks/locks_int.h"

unsigned int any_locks(const struct request *req, const struct wire_lock **lock)
{
	const struct wire_tail *tail = &req->rpc->msg.tail[0];

	*lock = tail->ptr;
	return (unsigned int)(tail->len / sizeof(**lock));
}

static void put_reply(struct op *op, unsigned int which)
{
	struct wire_lock_any_rep rep = { .which = htole32(which) };

	wire_put(op->out, &rep, sizeof(rep));
}

/* -EAGAIN: none is free; blocker[] has one conflicting lock for each. */
static int take_one(struct op *op, struct lock_rec blocker[WIRE_LOCK_ANY_MAX],
		    unsigned int *nblockers)
{
	const struct wire_lock *lock;
	unsigned int n = any_locks(op->req, &lock);
	int rc = -EAGAIN;

	/* starts with the lock of which a part was taken */
	for (unsigned int i = op->ns.pause->which; i < n && rc == -EAGAIN;
	     i++) {
		struct ns_lock_args args = lock_args(op, &lock[i]);

		rc = ns_lock(&op->ns, &args, &blocker[*nblockers]);
		if (rc == -EAGAIN)
			++*nblockers;
		if (rc == NS_PART)
			op->ns.pause->which = i;
		if (!rc)
			put_reply(op, i);
	}
	return rc;
}

int op_lock_any(struct op *op)
{
	const struct wire_lock_any *body = op->rpc->msg.body;
	struct lock_rec blocker[WIRE_LOCK_ANY_MAX];
	uint32_t ms = le32toh(body->wait_ms);
	unsigned int n = 0;
	int rc = take_one(op, blocker, &n);

	if (rc != -EAGAIN || !n)
		return rc;
	if (!op->req->patience)
		op->req->patience = lock_until(op->req,
					       ms < WIRE_LOCK_WAIT_MS
						       ? ms
						       : WIRE_LOCK_WAIT_MS);
	return lock_wait_begin(op->req, blocker, n);
}
