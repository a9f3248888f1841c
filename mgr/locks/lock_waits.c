/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_waits.c - a request waits at each lock that blocks it.  When one of these is
 * released or changed, the request checks again, in a turn of its user.
 */
#include <errno.h>
#include <stdlib.h>

#include "mgr/request/caller.h"
#include "common/util/hash_table.h"
#include "mgr/db/lock_rows.h"
#include "mgr/locks/locks_int.h"

#define WAKE_MAX NS_TURN_STEPS /* per turn of the event loop */

/* The waits of one session. */
struct lock_waiter {
	UT_hash_handle hh;
	uint64_t session;
	unsigned int locks; /* number of waits of LOCKs */
	LIST_HEAD(, lock_wait) waits;
};

struct lock_waits {
	struct lock_blocks *blocks;
	struct lock_waiter *waiters;
	struct park park;
};

static struct lock_waiter *find_waiter(const struct mgr *mgr, uint64_t session)
{
	struct lock_waiter *waiter;

	HASH_FIND(hh, mgr->lock_waits->waiters, &session, sizeof(session),
		  waiter);
	return waiter;
}

static struct lock_waiter *find_or_make_waiter(struct mgr *mgr,
					       uint64_t session)
{
	struct lock_waiter *waiter = find_waiter(mgr, session);

	if (waiter || !(waiter = calloc(1, sizeof(*waiter))))
		return waiter;
	waiter->session = session;
	LIST_INIT(&waiter->waits);
	HASH_ADD(hh, mgr->lock_waits->waiters, session, sizeof(session),
		 waiter);
	if (waiter->hh.tbl)
		return waiter;
	free(waiter);
	return NULL;
}

static void free_if_unused(struct mgr *mgr, struct lock_waiter *waiter)
{
	if (!LIST_EMPTY(&waiter->waits))
		return;
	HASH_DEL(mgr->lock_waits->waiters, waiter);
	free(waiter);
}

unsigned int lock_waits_of(const struct mgr *mgr, uint64_t session)
{
	const struct lock_waiter *waiter = find_waiter(mgr, session);

	return waiter ? waiter->locks : 0;
}

struct lock_wait *lock_waits_first(const struct mgr *mgr, uint64_t session)
{
	const struct lock_waiter *waiter = find_waiter(mgr, session);

	return waiter ? LIST_FIRST(&waiter->waits) : NULL;
}

struct lock_wait *lock_waits_next(const struct lock_wait *wait)
{
	return LIST_NEXT(wait, link);
}

void lock_wait_end(struct request *req)
{
	struct lock_wait *wait = req->lock_wait;
	struct lock_waiter *waiter = wait->waiter;

	lock_blocks_leave(req->mgr->lock_waits->blocks, &wait->at);
	LIST_REMOVE(wait, link);
	waiter->locks -= wait->single;
	free_if_unused(req->mgr, waiter);
	req->lock_wait = NULL;
	free(wait);
}

static void on_late(struct park *park, struct request *req)
{
	lock_wait_end(req);
	answer_error(req, -EAGAIN);
}

int lock_wait_begin(struct request *req, const struct lock_rec *blockers,
		    unsigned int n)
{
	struct mgr *mgr = req->mgr;
	struct lock_wait *wait;
	struct lock_waiter *waiter;
	int rc = -ENOMEM;

	waiter = find_or_make_waiter(mgr, caller_of(req->rpc->session)->id);
	if (!waiter)
		return -ENOMEM;
	wait = calloc(1, sizeof(*wait));
	if (wait)
		rc = lock_blocks_enter(mgr->lock_waits->blocks, &wait->at,
				       blockers, n);
	if (rc) {
		free(wait);
		free_if_unused(mgr, waiter);
		return rc;
	}
	wait->req = req;
	wait->waiter = waiter;
	req->lock_wait = wait;
	LIST_INSERT_HEAD(&waiter->waits, wait, link);
	wait->single = req->rpc->op == WIRE_LOCK;
	waiter->locks += wait->single;
	rpc_req_expect_wait(req->rpc);
	park_wait_until(&mgr->lock_waits->park, req, req->patience);
	return OP_LATER;
}

static void on_lock_removed(void *arg, const struct lock_rec *rec)
{
	lock_blocks_removed(arg, rec);
}

int lock_waits_open(struct mgr *mgr)
{
	struct lock_waits *waits = calloc(1, sizeof(*waits));
	int rc;

	if (!waits)
		return -ENOMEM;
	rc = lock_blocks_open(&waits->blocks);
	if (rc) {
		free(waits);
		return rc;
	}
	park_init(&waits->park, RPC_QUEUE, on_late);
	lock_set_listener(mgr->st, on_lock_removed, waits->blocks);
	mgr->lock_waits = waits;
	return 0;
}

/* The sessions must be closed already. */
void lock_waits_close(struct mgr *mgr)
{
	struct lock_waits *waits = mgr->lock_waits;

	if (!waits)
		return;
	lock_set_listener(mgr->st, NULL, NULL);
	while (waits->waiters)
		lock_wait_end(LIST_FIRST(&waits->waiters->waits)->req);
	lock_blocks_close(waits->blocks);
	free(waits);
	mgr->lock_waits = NULL;
}

void lock_wait_cancel(struct request *req)
{
	if (req->park)
		park_leave(req);
	else
		rpc_req_leave(req->rpc, RPC_QUEUE);
	lock_wait_end(req);
	answer_error(req, -EINTR);
}

/*
 * If its client is disconnected or dead, nobody would release the lock that the request
 * gets.  A client that reconnects repeats the request.
 */
static void wake_request(struct request *req)
{
	bool here = rpc_session_is_connected(req->rpc->session);
	int rc;

	park_leave(req);
	rc = here ? request_queue(req) : -EAGAIN;
	if (!rc)
		return;
	lock_wait_end(req);
	answer_error(req, rc);
}

bool lock_waits_run(struct mgr *mgr)
{
	struct lock_blocks *blocks = mgr->lock_waits->blocks;
	struct lock_wait_place *at;

	for (unsigned int i = 0; i < WAKE_MAX; i++) {
		at = lock_blocks_take(blocks);
		if (!at)
			return false;
		wake_request(container_of(at, struct lock_wait, at)->req);
	}
	return true;
}
