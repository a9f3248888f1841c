/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock.c - LOCK.  A request that waits does so in a queue of its file, for a
 * bounded time, and looks again whenever something of the file is let go.
 */
#include <errno.h>
#include <stdlib.h>

#include "caller.h"
#include "hash_table.h"
#include "locks.h"
#include "locks_int.h"

struct lock_wait {
	UT_hash_handle hh;
	uint64_t handle;
	struct park park; /* never empty for long */
	bool woken;
};

struct lock_waits {
	struct lock_wait *all; /* by handle */
	bool woken; /* one of them is */
	bool single; /* these look before lock_any.c's */
};

/* ---- waiting ---- */

/* Of a session: an eighth of its slots wait for long, the others let others have a turn. */
#define LONG_WAITS 8u
#define TURN_MS 100u

static struct caller *caller_that(const struct request *req)
{
	return caller_of(req->rpc->session);
}

static void wait_in(struct lock_wait *wait, struct request *req)
{
	caller_that(req)->lock_waits++;
	park_wait_until(&wait->park, req, req->patience);
}

static void on_late(struct park *park, struct request *req)
{
	struct lock_wait *wait = container_of(park, struct lock_wait, park);

	caller_that(req)->lock_waits--;
	/* it may be the last one: then the queue goes, too */
	wait->woken = req->mgr->lock_waits->woken = true;
	answer_error(req, -EAGAIN);
}

static struct lock_wait *find(struct mgr *mgr, uint64_t handle)
{
	struct lock_wait *wait;

	HASH_FIND(hh, mgr->lock_waits->all, &handle, sizeof(handle), wait);
	return wait;
}

static struct lock_wait *find_or_make(struct mgr *mgr, uint64_t handle)
{
	struct lock_wait *wait = find(mgr, handle);

	if (wait)
		return wait;
	wait = calloc(1, sizeof(*wait));
	if (!wait)
		return NULL;
	wait->handle = handle;
	park_init(&wait->park, RPC_QUEUE, on_late);
	HASH_ADD(hh, mgr->lock_waits->all, handle, sizeof(handle), wait);
	if (wait->hh.tbl)
		return wait;
	free(wait);
	return NULL;
}

/* The answer has to be there before the client stops to wait for it. */
uint64_t lock_until(const struct request *req, uint32_t most_ms)
{
	uint64_t now = clock_now(), deadline = req->rpc->deadline;
	uint64_t half = deadline > now ? (deadline - now) / 2 : 0;
	uint64_t most = most_ms * CLOCK_NS_PER_MS;

	return now + (half < most ? half : most);
}

/*
 * Where many of a session wait, some of them do so at their client, for a slot; and what
 * those wait for may be free.
 */
static uint32_t most_ms(const struct request *req)
{
	unsigned int few = req->mgr->conf.slots / LONG_WAITS;

	return caller_that(req)->lock_waits < (few ? few : 1)
		       ? WIRE_LOCK_WAIT_MS
		       : TURN_MS;
}

static int wait_for(struct op *op, uint64_t handle)
{
	struct lock_wait *wait = find_or_make(op->mgr, handle);

	if (!wait)
		return -ENOMEM;
	if (!op->req->patience)
		op->req->patience = lock_until(op->req, most_ms(op->req));
	rpc_req_unhurried(op->rpc);
	wait_in(wait, op->req);
	return OP_LATER;
}

int lock_waits_open(struct mgr *mgr)
{
	mgr->lock_waits = calloc(1, sizeof(*mgr->lock_waits));
	return mgr->lock_waits ? any_waits_open(mgr) : -ENOMEM;
}

void lock_waits_close(struct mgr *mgr)
{
	struct lock_wait *wait, *next;

	any_waits_close(mgr);
	if (!mgr->lock_waits)
		return;
	HASH_ITER(hh, mgr->lock_waits->all, wait, next) {
		HASH_DEL(mgr->lock_waits->all, wait);
		free(wait);
	}
	free(mgr->lock_waits);
}

void lock_waits_wake(struct mgr *mgr, uint64_t handle)
{
	struct lock_wait *wait = find(mgr, handle);

	if (wait)
		wait->woken = mgr->lock_waits->woken = true;
	any_waits_wake(mgr, handle);
}

/* Its client may be dead: what it would be given, nobody would let go. */
bool lock_away(const struct request *req)
{
	return !rpc_session_here(req->rpc->session);
}

/* Each looks once; who has to wait again is then at the end of the queue, in
 * the order that there was. */
static void look_again(struct lock_wait *wait)
{
	struct request *last = TAILQ_LAST(&wait->park.waiting, park_queue);
	struct request *req;
	bool more = last;

	wait->woken = false;
	while (more) {
		req = park_take(&wait->park);
		more = req != last;
		caller_that(req)->lock_waits--;
		if (lock_away(req))
			wait_in(wait, req);
		else
			request_run(req);
	}
}

static void run_single(struct mgr *mgr)
{
	struct lock_wait *wait, *next;

	if (!mgr->lock_waits->woken)
		return;
	mgr->lock_waits->woken = false;
	HASH_ITER(hh, mgr->lock_waits->all, wait, next) {
		if (wait->woken)
			look_again(wait);
		if (park_empty(&wait->park)) {
			HASH_DEL(mgr->lock_waits->all, wait);
			free(wait);
		}
	}
}

/* Who waits for one lock and who waits for any of several come first in turns. */
void lock_waits_run(struct mgr *mgr)
{
	bool single = mgr->lock_waits->single;

	if (single)
		run_single(mgr);
	if (any_waits_run(mgr) || single)
		mgr->lock_waits->single = !single;
	if (!single)
		run_single(mgr);
}

/* ---- deadlocks ---- */

#define PARTY_MAX 16u /* a ring of more is not found */

/* The processes that would have to let go of something first. */
struct party {
	uint64_t session[PARTY_MAX];
	unsigned int n; /* none is there twice */
};

/* Of a process, not of an open file: the kernel looks at those alone, too. */
static bool of_process(uint64_t owner, uint32_t space)
{
	return !owner && !space;
}

/* False: there are too many to say anything. */
static bool join(struct party *p, uint64_t session)
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

/* Its wait goes on for as long as another process' lock is there. */
static bool stuck(const struct lock_wait *wait, const struct request *req)
{
	return !wait->woken && req->blocker && !lock_away(req);
}

/*
 * All that one of the party waits for joins.  *waits: it does; a thread
 * that does not can let go, but nobody sees those.  False: one of its waits may
 * end.
 */
static bool join_blockers(const struct mgr *mgr, struct party *p,
			  unsigned int which, bool *waits)
{
	const uint64_t session = p->session[which];
	const struct lock_wait *wait, *next;
	const struct request *req;

	HASH_ITER(hh, mgr->lock_waits->all, wait, next) {
		TAILQ_FOREACH(req, &wait->park.waiting, wait) {
			if (caller_of(req->rpc->session)->id != session)
				continue;
			*waits = true;
			if (!stuck(wait, req) || !join(p, req->blocker))
				return false;
		}
	}
	return true;
}

/* Each whom self waits for waits, thread by thread, and in the end for self. */
static bool ring(const struct mgr *mgr, uint64_t self, uint64_t blocker)
{
	struct party p = { { blocker }, 1 };
	bool closed = false;

	for (unsigned int i = 0; i < PARTY_MAX && i < p.n; i++) {
		bool is_self = p.session[i] == self, waits = is_self;

		if (!join_blockers(mgr, &p, i, &waits) || !waits)
			return false;
		closed |= is_self;
	}
	return closed;
}

/*
 * It would wait for a process that waits, perhaps for others, for it.  Looked
 * at when it asks, and asks again; not whenever it is woken, since a thread that
 * was given a lock just now may be about to let go of another.
 */
static bool never_ends(struct op *op, const struct ns_lock_args *args,
		       const struct lock_rec *other)
{
	op->req->blocker = 0;
	if (!of_process(args->owner, args->flags & WIRE_L_WHOLE) ||
	    !of_process(other->owner, other->space))
		return false;
	if (!op->req->patience && ring(op->mgr, op->ns.session, other->session))
		return true;
	op->req->blocker = other->session;
	return false;
}

/* ---- the end of a wait ---- */

bool lock_same(const struct wire_lock *a, const struct wire_lock *b)
{
	return a->handle == b->handle && a->owner == b->owner &&
	       a->start == b->start && a->end == b->end &&
	       !(le32toh(a->flags ^ b->flags) & WIRE_L_WHOLE);
}

/* The next of the session's that waits for just this, or NULL. */
static struct request *find_same(struct lock_wait *wait, const struct op *op)
{
	struct request *req;

	TAILQ_FOREACH(req, &wait->park.waiting, wait)
		if (req->rpc->session == op->rpc->session &&
		    lock_same(req->rpc->msg.body, op->rpc->msg.body))
			return req;
	return NULL;
}

static void cancel(struct op *op, uint64_t handle)
{
	struct lock_wait *wait = find(op->mgr, handle);
	struct request *req;

	while (wait && (req = find_same(wait, op))) {
		park_leave(req);
		caller_that(req)->lock_waits--;
		/* it may be the last one: then the queue goes, too */
		wait->woken = op->mgr->lock_waits->woken = true;
		answer_error(req, -EINTR);
	}
}

/* ---- the operation ---- */

static void put_reply(struct op *op, const struct lock_rec *other)
{
	struct wire_lock_rep rep = { .start = htole64(other->start),
				     .end = htole64(other->end),
				     .type = htole32(other->type) };

	wire_put(op->out, &rep, sizeof(rep));
}

struct ns_lock_args lock_args(const struct op *op, const struct wire_lock *l)
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

int op_lock(struct op *op)
{
	struct ns_lock_args args = lock_args(op, op->rpc->msg.body);
	struct lock_rec other = { 0 };
	int rc;

	if (args.flags & WIRE_L_CANCEL) {
		cancel(op, args.handle);
		any_waits_cancel(op);
		put_reply(op, &other);
		return 0;
	}
	rc = ns_lock(&op->ns, &args, &other);
	if (rc == -EAGAIN && args.flags & WIRE_L_WAIT)
		return never_ends(op, &args, &other)
			       ? -EDEADLK
			       : wait_for(op, args.handle);
	if (rc)
		return rc;
	if (!(args.flags & WIRE_L_TEST)) {
		other = (struct lock_rec){ 0 };
		lock_waits_wake(op->mgr, args.handle);
	}
	put_reply(op, &other);
	return 0;
}
