/* SPDX-License-Identifier: BSD-2-Clause */
/* local_cq.h - the progress context. */
#ifndef LOCAL_CQ_H
#define LOCAL_CQ_H

#include "common/transport/local/memory/local_dev.h"
#include "common/transport/local/shared/local_group.h"
#include "common/transport/sock.h"

#define LOCAL_IOV 288u /* >= TP_SGE_MAX */

struct local_ep;
TAILQ_HEAD(local_eps, local_ep);

struct local_cq {
	struct sock_cq sock;
	unsigned int polls; /* since the epoll set was last checked */
	struct local_eps open; /* with a socket */
	struct local_eps hot, done;
	unsigned int nhot;
	struct local_caller {
		struct local_gong gong; /* made at the first connect */
		unsigned int struck; /* strikes since it was renewed */
		struct local_page *page;
		int page_fd;
		bool held; /* between tp_cq_hold() and tp_cq_release() */
		bool joined; /* some endpoints are joined for the next sleep */
		/* endpoints with requests posted meanwhile: ring their bells */
		struct local_eps owed;
		/* the server that was told to strike the gong */
		struct local_ep *relay;
		uint64_t relay_until; /* time at which we strike instead; 0: not checked yet */
	} caller;
};

int local_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq);
void local_cq_close(struct tp_cq *cq);
void local_cq_abandon(struct tp_cq *cq);
int local_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n);
int local_cq_wait(struct tp_cq *cq, uint64_t deadline);
int local_cq_arm(struct tp_cq *cq);
void local_cq_hold(struct tp_cq *cq);
void local_cq_release(struct tp_cq *cq);

/* ---- for the provider's other files ---- */

/* A completion, an event, an edge, or an ep that can continue. */
bool local_cq_has_work(struct local_cq *cq);
/* All hot endpoints send what they can. */
void local_cq_flush(struct local_cq *cq);

/* ---- the client of a group of servers (local_caller.c) ---- */

void local_caller_init(struct local_cq *cq);
/* Closes the descriptors and unmaps the page. */
void local_caller_fini(struct local_cq *cq);
/*
 * The *gong and *page that a server of the group gets with CONNECT; we keep them. False: neither.
 * The server is then woken, and wakes us, individually.
 */
bool local_caller_give(struct local_cq *cq, int *gong, int *page);
/* True: the bell of ep is delayed until the release. False: ring it now. */
bool local_caller_owes(struct local_ep *ep);
/* Call it when ep ends. */
void local_caller_forget(struct local_ep *ep);
void local_caller_join(struct local_ep *ep);
/* Asks the joined servers to count. False: there is something to do. */
bool local_caller_count(struct local_cq *cq);
/* The cq is awake: the servers need not count any more. */
void local_caller_awake(struct local_cq *cq);
/* Settles if the server that was told to strike has not done so for LOCAL_RELAY_MS. */
void local_caller_look(struct local_cq *cq);
/* Strikes the gong here, if the server has not done so yet. */
void local_caller_settle(struct local_cq *cq);
#endif
