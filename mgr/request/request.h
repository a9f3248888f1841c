/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request.h - a request on its way through the manager.
 *
 *   run_queue: its user's turn  <--.
 *      |                           | the turn's budget is used up
 *      v                           |
 *   request_run() --- reads, errors ----------------------------> answer
 *      |  ^   |
 *      |  |   '--- committed: held until the log is flushed ---> answer
 *      v  |
 *     waits in a struct park: for a truncation, a question to the iods,
 *     room for one of these, or a buffer; at most until its deadline
 */
#ifndef REQUEST_H
#define REQUEST_H

#include "common/comm/rpc.h"
#include "mgr/state/mgr_state.h"
#include "mgr/request/run_queue.h"

/* A queue of requests that wait for something, in order of arrival, each until its deadline. */
struct park {
	TAILQ_HEAD(park_queue, request) waiting;
	enum rpc_part part; /* the part of the time that a wait here counts as */
	/* called when the deadline of a request has passed; req is out of the queue: answer it */
	void (*late)(struct park *park, struct request *req);
};

struct request {
	struct mgr *mgr;
	/* starts the request, or continues it after a wait */
	void (*run)(struct request *req);
	struct rpc_req *rpc;
	bool asked; /* the iods were asked for the size */
	/* the request has waited for room among the calls to iods (call_limit_wait()) */
	bool admitted;
	/* the file whose truncation for this request is done */
	uint64_t truncated;
	int result; /* -errno if the request failed while it waited; else 0 */
	struct intent intent; /* the truncation of the request, if it has one */
	/* LOCK, LOCK_ANY: set while it waits; or NULL */
	struct lock_wait *lock_wait;
	/* LOCK, LOCK_ANY: end of its wait; 0: not known yet */
	uint64_t patience; /* clock_now() */
	/* LOCK of a process: the session of the process it waits for; 0: none */
	uint64_t blocker;

	struct run_item
		/* its place in mgr->queue, before it ran or between two turns */
		turn;
	bool paused; /* it has had a turn and needs another one */
	bool part; /* a turn's changes are committed, perhaps not flushed */
	struct ns_pause pause; /* its state between two turns */

	struct flusher_item item;
	struct park *park; /* where it waits, or NULL */
	struct rpc_timer timer; /* expires at its deadline */
	TAILQ_ENTRY(request) wait;
	LIST_ENTRY(request) all;
};

/* Frees the request without an answer: the manager stops, or the connection broke. */
void request_drop(struct request *req);

/*
 * Runs one turn of the request, whatever budget its user has left.  Call it outside of
 * transactions.  When it returns, the request may have been freed.
 */
static inline void request_run(struct request *req)
{
	req->run(req);
}

/* The user whose budget the request uses in the run queue. */
struct run_owner request_owner(const struct request *req);
/*
 * Puts a request that needs another turn, or whose wait has ended, into the queue, after
 * the other requests of its session.  -ENOMEM
 */
int request_queue(struct request *req);
/* As request_queue(), but after an error answers the request with it. */
void request_requeue(struct request *req);

/* Whether the client has sent it before. */
static inline bool request_is_replay(const struct request *req)
{
	return le16toh(req->rpc->msg.hdr->flags) & WIRE_F_REPLAY;
}

/* Whether the client waits for the answer.  It does not wait for the answer to RELEASE. */
static inline bool request_is_waited_for(const struct request *req)
{
	return req->rpc->op != WIRE_RELEASE;
}

/* ---- park: requests that wait ---- */

void park_init(struct park *park, enum rpc_part part,
	       void (*late)(struct park *park, struct request *req));
/* Adds the request; it waits as long as its client allows: rpc_req_wait_until(). */
void park_wait(struct park *park, struct request *req);
/* Adds the request; it waits until `when` (clock_now()) or its deadline, whichever is earlier. */
void park_wait_until(struct park *park, struct request *req, uint64_t when);
/* Removes the oldest request and returns it; NULL: none waits. */
struct request *park_take(struct park *park);

/*
 * Runs waiting requests, oldest first, while may() is true; at most as many per call as
 * one turn of the event loop allows.  true: call it again.
 */
bool park_run(struct mgr *mgr, struct park *park,
	      bool (*may)(const struct mgr *mgr));

/* If the request waits, makes the event loop call late() for it now. */
void park_hurry(struct request *req);
/* Removes this request, which must be waiting. */
void park_leave(struct request *req);

static inline bool park_empty(const struct park *park)
{
	return TAILQ_EMPTY(&park->waiting);
}

/*
 * ---- each of these functions ends the request ----
 *
 * With several managers, the reply waits in the flusher until what the request has read is
 * committed.
 */

/* Sends the reply as built, or an error without a body. */
void answer_now(struct request *req, int status);
/*
 * Sends status 0.  A replay gets the same reply: the request is not executed twice in
 * this run of the manager.
 */
void answer_once(struct request *req);
void answer_error(struct request *req, int status);
/*
 * Answers a request that has waited too long for `what`.  If its deadline has not passed, and it
 * was not sent in a slot for waiting requests (rpc_req_may_wait()), answers -EINPROGRESS, and the
 * client repeats it.  Otherwise logs `what` and answers -ETIMEDOUT.
 */
void answer_late(struct request *req, const char *what);
/*
 * The path leaves the file system: answers with ns->redirect.  which: 1 if it is the second
 * path of the request, else 0.
 */
void answer_redirect(struct request *req, unsigned int which);
/* Sends a stored reply again. */
struct reply_rec;
void answer_stored(struct request *req, const struct reply_rec *rec);
/* The durable() of req->item: sends the reply, which was built and stored before. */
void answer_durable(struct flusher_item *item);

#endif
