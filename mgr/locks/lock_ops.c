/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_ops.c - LOCK and LOCK_ANY.  A request waits for a bounded time at the lock that blocks it,
 * and a LOCK_ANY at one blocking lock for each lock that it names: lock_waits.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "mgr/locks/locks_int.h"
#include "mgr/request/caller.h"

/* ---- waiting ---- */

/* An eighth of the slots of a session wait for long; further waits are short, to free slots. */
#define LONG_WAITS 8u
#define TURN_MS 100u

/* Waits at most half of the remaining time: the client must still get the answer. */
static uint64_t lock_until(const struct request *req, uint32_t most_ms)
{
	uint64_t now = clock_now(), deadline = req->rpc->deadline;
	uint64_t half = deadline > now ? (deadline - now) / 2 : 0;
	uint64_t most = most_ms * CLOCK_NS_PER_MS;

	return now + (half < most ? half : most);
}

/*
 * If a session has many waits, further ones wait at the client for a slot, and the
 * locks that those need may be free.
 */
static uint32_t max_wait_ms(const struct mgr_op *op)
{
	unsigned int few = op->mgr->conf.slots / LONG_WAITS;

	return lock_waits_of(op->mgr, op->ns.session) < (few ? few : 1)
		       ? WIRE_LOCK_WAIT_MS
		       : TURN_MS;
}

static int wait_for(struct mgr_op *op, const struct lock_rec *other)
{
	if (!op->req->patience)
		op->req->patience = lock_until(op->req, max_wait_ms(op));
	return lock_wait_begin(op->req, other, 1);
}

/* ---- deadlocks ---- */

#define PARTY_MAX 16u /* longer rings are not found */

/* The processes that a wait depends on. */
struct party {
	uint64_t session[PARTY_MAX];
	unsigned int n; /* no session is in it twice */
};

/* Only locks of processes count, not locks of open files; the kernel does the same. */
static bool of_process(uint64_t owner, uint32_t space)
{
	return !owner && !space;
}

/*
 * Adds the session, if it is not in the party yet.  Returns false if the party is full: then the
 * manager does not search for a deadlock any further.
 */
static bool party_add(struct party *p, uint64_t session)
{
	unsigned int i;

	for (i = 0; i < p->n; i++) {
		if (p->session[i] == session)
			return true;
	}
	if (p->n == PARTY_MAX)
		return false;
	p->session[p->n++] = session;
	return true;
}

/* The wait lasts as long as the lock of another process exists. */
static bool is_stuck(const struct lock_wait *wait)
{
	return wait->req->blocker && !lock_blocks_may_have_ended(&wait->at) &&
	       rpc_session_is_connected(wait->req->rpc->session);
}

/*
 * Adds the processes that one process of the party waits for.  *waits: it waits at all.
 * A thread that does not wait can release locks, but the manager cannot see such
 * threads.  false: one of its waits may end.
 */
static bool party_add_blockers(const struct mgr *mgr, struct party *p,
			       unsigned int which, bool *waits)
{
	const struct lock_wait *wait;

	for (wait = lock_waits_first(mgr, p->session[which]); wait;
	     wait = lock_waits_next(wait)) {
		if (!wait->single)
			continue;
		*waits = true;
		if (!is_stuck(wait) || !party_add(p, wait->req->blocker))
			return false;
	}
	return true;
}

/*
 * Whether self waits in a ring: every process that it depends on waits, and one of them
 * for self.
 */
static bool is_ring_closed(const struct mgr *mgr, uint64_t self,
			   uint64_t blocker)
{
	struct party p = { { blocker }, 1 };
	bool closed = false;

	for (unsigned int i = 0; i < PARTY_MAX && i < p.n; i++) {
		bool is_self = p.session[i] == self, waits = is_self;

		if (!party_add_blockers(mgr, &p, i, &waits) || !waits)
			return false;
		closed |= is_self;
	}
	return closed;
}

/*
 * Whether the request would wait for a process that waits, directly or through others,
 * for the caller.  This is checked when a request first waits, not when it is woken: a
 * thread that just got a lock may be about to release another.
 */
static bool would_deadlock(struct mgr_op *op, const struct ns_lock_args *args,
			   const struct lock_rec *other)
{
	op->req->blocker = 0;
	if (!of_process(args->owner, args->flags & WIRE_L_WHOLE) ||
	    !of_process(other->owner, other->space))
		return false;
	if (!op->req->patience &&
	    is_ring_closed(op->mgr, op->ns.session, other->session))
		return true;
	op->req->blocker = other->session;
	return false;
}

/* ---- the end of a wait ---- */

/* The locks that a LOCK_ANY names. */
static unsigned int any_locks(const struct request *req,
			      const struct wire_lock **lock)
{
	const struct wire_tail *tail = &req->rpc->msg.tail[0];

	*lock = tail->ptr;
	return (unsigned int)(tail->len / sizeof(**lock));
}

static bool is_same_lock(const struct wire_lock *a, const struct wire_lock *b)
{
	return a->handle == b->handle && a->owner == b->owner &&
	       a->start == b->start && a->end == b->end &&
	       !(le32toh(a->flags ^ b->flags) & WIRE_L_WHOLE);
}

static bool names_lock(const struct request *req, const struct wire_lock *lock)
{
	const struct wire_lock *list;
	unsigned int n;

	if (req->rpc->op == WIRE_LOCK)
		return is_same_lock(req->rpc->msg.body, lock);
	n = any_locks(req, &list);
	while (n)
		if (is_same_lock(&list[--n], lock))
			return true;
	return false;
}

/* Cancels the waits of op's session for the lock that op names, alone or among others. */
static void cancel_waits(struct mgr_op *op)
{
	struct lock_wait *wait = lock_waits_first(op->mgr, op->ns.session);
	struct lock_wait *next;
	struct request *req;

	for (; wait; wait = next) {
		next = lock_waits_next(wait);
		req = wait->req;
		if (req->rpc->session == op->rpc->session &&
		    names_lock(req, op->rpc->msg.body))
			lock_wait_cancel(req);
	}
}

/* ---- LOCK ---- */

static struct ns_lock_args lock_args(const struct mgr_op *op,
				     const struct wire_lock *l)
{
	return (struct ns_lock_args){
		.handle = handle_from_wire(op->mgr->st, l->handle),
		.owner = le64toh(l->owner),
		.start = le64toh(l->start),
		.end = le64toh(l->end),
		.type = le32toh(l->type),
		.flags = le32toh(l->flags),
	};
}

static void put_lock_reply(struct mgr_op *op, const struct lock_rec *other)
{
	struct wire_lock_rep rep = { .start = htole64(other->start),
				     .end = htole64(other->end),
				     .type = htole32(other->type) };

	wire_put(op->out, &rep, sizeof(rep));
}

int op_lock(struct mgr_op *op)
{
	struct ns_lock_args args = lock_args(op, op->rpc->msg.body);
	struct lock_rec other = { 0 };
	int rc;

	if (args.flags & WIRE_L_CANCEL) {
		cancel_waits(op);
		put_lock_reply(op, &other);
		return 0;
	}
	rc = ns_lock(&op->ns, &args, &other);
	if (rc == -EAGAIN && args.flags & WIRE_L_WAIT)
		return would_deadlock(op, &args, &other) ? -EDEADLK
							 : wait_for(op, &other);
	if (rc)
		return rc;
	if (!(args.flags & WIRE_L_TEST))
		other = (struct lock_rec){ 0 };
	put_lock_reply(op, &other);
	return 0;
}

/* ---- LOCK_ANY ---- */

static void put_any_reply(struct mgr_op *op, unsigned int which)
{
	struct wire_lock_any_rep rep = { .which = htole32(which) };

	wire_put(op->out, &rep, sizeof(rep));
}

/*
 * Tries the locks of a LOCK_ANY in turn, until one is granted. -EAGAIN: all are held by others;
 * blocker[] has one conflicting lock for each.
 */
static int take_one(struct mgr_op *op,
		    struct lock_rec blocker[WIRE_LOCK_ANY_MAX],
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
			put_any_reply(op, i);
	}
	return rc;
}

int op_lock_any(struct mgr_op *op)
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
