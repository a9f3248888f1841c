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
	unsigned int polls; /* since the epoll set was looked at */
	struct local_eps open; /* with a socket */
	struct local_eps hot, done;
	unsigned int nhot;
	struct local_caller {
		struct local_gong gong; /* from the first connect on */
		unsigned int struck; /* since it was renewed */
		struct local_page *page;
		int page_fd;
		bool held; /* between tp_cq_hold() and tp_cq_release() */
		bool joined; /* some are, for the next sleep */
		struct local_eps owed; /* what was posted meanwhile: a bell */
		struct local_ep *relay; /* was told to strike the gong */
		uint64_t relay_until; /* then we do; 0: not yet looked */
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

/* ---- for the other files ---- */

/* A completion, an event, an edge, or an ep that could go on. */
bool local_cq_has_work(struct local_cq *cq);
/* All hot endpoints move on what they have to send. */
void local_cq_flush(struct local_cq *cq);

/* ---- a group of servers, of who calls them (local_caller.c) ---- */

void local_caller_init(struct local_cq *cq);
/* Descriptors and mapping. */
void local_caller_fini(struct local_cq *cq);
/* What a server of the group is given with CONNECT: its *gong and *page, still
 * ours.  False: neither; it will be woken, and wake us, by itself. */
bool local_caller_give(struct local_cq *cq, int *gong, int *page);
/* ep is owed a bell until the release.  False: ring it now. */
bool local_caller_owes(struct local_ep *ep);
/* ep ends. */
void local_caller_forget(struct local_ep *ep);
void local_caller_join(struct local_ep *ep);
/* Asks the joined ones to count.  False: there is something to do. */
bool local_caller_count(struct local_cq *cq);
/* Awake: nobody counts any more. */
void local_caller_awake(struct local_cq *cq);
/* Who was told to strike and has not done so for LOCAL_RELAY_MS: settles. */
void local_caller_look(struct local_cq *cq);
/* If it has not yet, the gong is struck here. */
void local_caller_settle(struct local_cq *cq);
#endif
