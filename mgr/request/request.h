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
 *     parked: for a truncation, a question to the iods, room for one of
 *     these, or a buffer; at most until its deadline
 */
#ifndef REQUEST_H
#define REQUEST_H

#include "mgr/state/mgr_state.h"
#include "mgr/request/park.h"
#include "mgr/request/run_queue.h"

struct request {
	struct mgr *mgr;
	void (*run)(struct request *req); /* from the start, or after a wait */
	struct rpc_req *rpc;
	bool asked; /* the iods were asked for the size */
	bool admitted; /* it has waited for room among the jobs */
	uint64_t truncated; /* the file whose truncation it asks for is done */
	int result; /* not 0: it failed while it waited */
	struct intent intent; /* the truncation */
	struct lock_wait *lock_wait; /* LOCK, LOCK_ANY: it waits; or NULL */
	uint64_t patience; /* LOCK: until when it waits; 0: not yet known */
	uint64_t blocker; /* LOCK of a process: the session whose process it
			   * waits for; 0: none */

	struct run_item
		turn; /* in mgr->queue, before it ran or between two turns */
	bool paused; /* it has had a turn and needs more */
	bool part; /* what a turn of it did is committed, perhaps not flushed */
	struct ns_pause pause; /* what it keeps between two turns */

	struct flusher_item item;
	struct park *park; /* where it waits */
	struct rpc_timer timer; /* ... until its deadline */
	TAILQ_ENTRY(request) wait;
	LIST_ENTRY(request) all;
};

/* Frees without an answer: the mgr stops, or the connection broke. */
void request_drop(struct request *req);

/* A turn of it, whatever its user has used.  Outside of all transactions; it may be gone then. */
static inline void request_run(struct request *req)
{
	req->run(req);
}

/* The user whom it counts for in the run queue. */
struct run_owner request_owner(const struct request *req);
/* Behind the others of its session: it needs another turn, or does not wait any more.  -ENOMEM */
int request_queue(struct request *req);
/* The same, or it is answered. */
void request_again(struct request *req);

/* The client has sent it before. */
static inline bool request_is_replay(const struct request *req)
{
	return le16toh(req->rpc->msg.hdr->flags) & WIRE_F_REPLAY;
}

/* Its client goes on when it has the answer. */
static inline bool request_is_waited_for(const struct request *req)
{
	return req->rpc->op != WIRE_RELEASE;
}

/* ---- answer.c: each ends the request ---- */

/* The reply as it was built, or an error without one. */
void answer_now(struct request *req, int status);
/* 0, and a replay gets it again: it is not executed twice in this life of the mgr. */
void answer_once(struct request *req);
void answer_error(struct request *req, int status);
/* It waited in vain: -ETIMEDOUT, and a line in the log that says for what.  Or it may not
 * wait for long: -EINPROGRESS. */
void answer_late(struct request *req, const char *what);
/* The path leads elsewhere: to ns->redirect. */
void answer_redirect(struct request *req, unsigned int which);
/* As an earlier life of the mgr did. */
struct reply_rec;
void answer_kept(struct request *req, const struct reply_rec *rec);
/* The durable() of req->item: the reply is built, and recorded. */
void answer_durable(struct flusher_item *item);

#endif
