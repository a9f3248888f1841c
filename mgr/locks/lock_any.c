/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_any.c - LOCK_ANY.  One that waits looks again when something was let go
 * of one of its files.
 */
#include "locks_int.h"

#include <errno.h>
#include <stdlib.h>

#include "locks.h"

#define FREED_MAX 16u /* files; of more, all look again */

struct any_waits {
	struct park park;
	uint64_t freed[FREED_MAX]; /* since they looked */
	unsigned int nfreed;
};

static void on_late(struct park *park, struct request *req)
{
	answer_error(req, -EAGAIN);
}

int any_waits_open(struct mgr *mgr)
{
	mgr->any_waits = calloc(1, sizeof(*mgr->any_waits));
	if (!mgr->any_waits)
		return -ENOMEM;
	park_init(&mgr->any_waits->park, RPC_QUEUE, on_late);
	return 0;
}

void any_waits_close(struct mgr *mgr)
{
	free(mgr->any_waits);
	mgr->any_waits = NULL;
}

static unsigned int locks_of(const struct request *req,
			     const struct wire_lock **lock)
{
	const struct wire_tail *tail = &req->rpc->msg.tail[0];

	*lock = tail->ptr;
	return (unsigned int)(tail->len / sizeof(**lock));
}

/* ---- waking ---- */

void any_waits_wake(struct mgr *mgr, uint64_t handle)
{
	struct any_waits *any = mgr->any_waits;

	if (park_empty(&any->park) || any->nfreed > FREED_MAX)
		return;
	for (unsigned int i = 0; i < any->nfreed; i++)
		if (any->freed[i] == handle)
			return;
	if (any->nfreed < FREED_MAX)
		any->freed[any->nfreed] = handle;
	any->nfreed++;
}

static bool wants(const struct request *req, const struct any_waits *freed)
{
	const struct wire_lock *lock;
	unsigned int n = locks_of(req, &lock);

	if (freed->nfreed > FREED_MAX)
		return true;
	for (unsigned int k = 0; k < freed->nfreed; k++) {
		uint64_t wire = handle_to_wire(req->mgr->st, freed->freed[k]);

		for (unsigned int i = 0; i < n; i++)
			if (lock[i].handle == wire)
				return true;
	}
	return false;
}

/* Each looks once; the order stays. */
bool any_waits_run(struct mgr *mgr)
{
	struct any_waits *any = mgr->any_waits, freed = *any;
	struct request *last = TAILQ_LAST(&any->park.waiting, park_queue);
	struct request *req;
	bool more = last && freed.nfreed;

	any->nfreed = 0;
	while (more) {
		req = park_take(&any->park);
		more = req != last;
		if (lock_away(req) || !wants(req, &freed))
			park_wait_until(&any->park, req, req->patience);
		else
			request_run(req);
	}
	return freed.nfreed;
}

/* ---- the end of a wait ---- */

static bool has(const struct request *req, const struct op *op)
{
	const struct wire_lock *lock;
	unsigned int n = locks_of(req, &lock);

	if (req->rpc->session != op->rpc->session)
		return false;
	for (unsigned int i = 0; i < n; i++)
		if (lock_same(&lock[i], op->rpc->msg.body))
			return true;
	return false;
}

void any_waits_cancel(struct op *op)
{
	struct any_waits *any = op->mgr->any_waits;
	struct request *req = TAILQ_FIRST(&any->park.waiting), *next;

	for (; req; req = next) {
		next = TAILQ_NEXT(req, wait);
		if (!has(req, op))
			continue;
		park_leave(req);
		answer_error(req, -EINTR);
	}
}

/* ---- the operation ---- */

static void put_reply(struct op *op, unsigned int which)
{
	struct wire_lock_any_rep rep = { .which = htole32(which) };

	wire_put(op->out, &rep, sizeof(rep));
}

/* -EAGAIN: none is free. */
static int take_one(struct op *op)
{
	const struct wire_lock *lock;
	unsigned int n = locks_of(op->req, &lock);
	struct lock_rec other;
	int rc = -EAGAIN;

	/* the one of which a part was taken */
	for (unsigned int i = op->ns.pause->which; i < n && rc == -EAGAIN;
	     i++) {
		struct ns_lock_args args = lock_args(op, &lock[i]);

		rc = ns_lock(&op->ns, &args, &other);
		if (rc == NS_PART)
			op->ns.pause->which = i;
		if (rc)
			continue;
		put_reply(op, i);
		lock_waits_wake(op->mgr, args.handle);
	}
	return rc;
}

int op_lock_any(struct op *op)
{
	const struct wire_lock_any *body = op->rpc->msg.body;
	uint32_t ms = le32toh(body->wait_ms);
	int rc = take_one(op);

	if (rc != -EAGAIN)
		return rc;
	if (!op->req->patience)
		op->req->patience = lock_until(op->req,
					       ms < WIRE_LOCK_WAIT_MS
						       ? ms
						       : WIRE_LOCK_WAIT_MS);
	rpc_req_unhurried(op->rpc);
	park_wait_until(&op->mgr->any_waits->park, op->req, op->req->patience);
	return OP_LATER;
}
