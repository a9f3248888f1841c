/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request.h - a request on its way through the manager.
 *
 *   request_run() --- reads, errors ----------------------------> reply
 *      |  ^   |
 *      |  |   '--- committed: held until the log is flushed ---> reply
 *      v  |
 *    job_wait(): a truncation or a question to the iods first
 */
#ifndef REQUEST_H
#define REQUEST_H

#include "mgr_int.h"

struct job;

struct request {
	struct mgr *mgr;
	struct rpc_req *rpc;
	bool asked; /* the iods were asked for the size */
	bool truncated; /* the truncation that it asks for is done */
	int result; /* not 0: it failed while it waited */
	struct intent intent; /* the truncation */

	struct flusher_item item;
	struct job *job; /* that it waits for */
	struct rpc_timer timer; /* ... until its deadline */
	TAILQ_ENTRY(request) wait;
	LIST_ENTRY(request) all;
};

/* Takes a checked request from the wire. */
void request_take(struct mgr *mgr, struct rpc_req *rpc);
/* From the start; again after a wait. */
void request_run(struct request *req);
/* Answers with an error and frees. */
void request_fail(struct request *req, int status);
/* Frees without an answer: the mgr stops. */
void request_drop(struct request *req);

static inline struct request *request_of_timer(struct rpc_timer *timer)
{
	return (struct request *)(void *)((char *)timer -
					  offsetof(struct request, timer));
}

#endif
