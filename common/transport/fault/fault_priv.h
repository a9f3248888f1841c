/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_priv.h - the objects of the fault provider. Each begins with the public structure, and has
 * a pointer to the object of the wrapped provider ("inner").
 *
 * The fault provider stores each posted request until its completion was reported. To break a
 * connection, it closes the inner endpoint, which drops the inner requests, and then reports its
 * own requests as flushed. The wr_id of an inner request is the address of its struct fault_req.
 */
#ifndef FAULT_PRIV_H
#define FAULT_PRIV_H

#include <stdbool.h>
#include <sys/queue.h>

#include "common/util/clock.h"
#include "common/transport/fault/fault_rule.h"
#include "common/transport/provider.h"

struct fault_dev {
	struct tp_dev dev;
	/* operations of this provider, with the name "fault+..." that was opened */
	struct tp_ops ops;
	char name[32];
	struct tp_dev *inner;
	unsigned int dead_peer_ms;
	struct fault_table table;
};

struct fault_mr {
	struct tp_mr mr;
	struct tp_mr *inner;
};

/* A completion or an event that this provider created, or delays. */
struct fault_wc {
	TAILQ_ENTRY(fault_wc) link;
	struct tp_wc wc;
};
struct fault_ev {
	TAILQ_ENTRY(fault_ev) link;
	uint64_t due; /* time from which it is reported */
	struct tp_event ev;
};

struct fault_ep;
struct fault_listener;

struct fault_cq {
	struct tp_cq cq;
	struct tp_cq *inner;
	int wake_fd; /* eventfd: wakes a stalled wait */
	int timer_fd; /* fires when something here is due */
	int poll_fd; /* epoll: the timer and the inner cq */
	uint64_t stalled; /* reports nothing until this time */
	TAILQ_HEAD(, fault_wc) ready;
	TAILQ_HEAD(, fault_ev) events;
	LIST_HEAD(, fault_ep) eps;
	LIST_HEAD(, fault_listener) listeners;
};

struct fault_conn_req {
	struct tp_conn_req req;
	struct tp_conn_req *inner;
	/* dropped requests, on the listener's list */
	LIST_ENTRY(fault_conn_req) link;
};

struct fault_listener {
	struct tp_listener listener;
	struct tp_listener *inner;
	struct fault_cq *cq;
	LIST_HEAD(, fault_conn_req) dropped;
	LIST_ENTRY(fault_listener) link;
};

/* An outstanding request, in posting order on its ep. */
struct fault_req {
	TAILQ_ENTRY(fault_req) link;
	uint64_t wr_id; /* the user's */
	enum tp_opcode opcode;
	struct tp_send_wr wr; /* as posted to the inner ep */
	bool held; /* not posted to the inner ep yet */
	bool spoil; /* change a byte when the data arrives */
	uint64_t spoil_at;
	void *bounce; /* a changed copy that is sent instead */
	struct tp_mr *bounce_mr;
	struct tp_sge sgl[]; /* the user's pieces, wr.nsge of them */
};
TAILQ_HEAD(fault_reqs, fault_req);

/* A postponed connect. */
struct fault_later {
	uint64_t due; /* 0: none */
	struct addr addr;
	uint8_t priv[TP_PRIVATE_MAX];
	unsigned int len;
	uint64_t deadline;
};

struct fault_ep {
	struct tp_ep ep;
	struct tp_ep *inner; /* NULL: closed, because we broke it */
	struct fault_cq *cq;
	LIST_ENTRY(fault_ep) link;
	struct fault_reqs sends, recvs;
	unsigned int nsend, nrecv, max_send, max_recv;
	/* time until which sends are held back; 0: none are */
	uint64_t held_until;
	/* time at which a VANISH breaks the connection; 0: none */
	uint64_t gone_at;
	struct fault_later connect;
	bool started;
	bool up; /* established and not broken */
	uint16_t port; /* the peer's port, for the rules */
	char peer[96]; /* name of the peer, copied when inner is closed */
};

#define fault_of(ptr, type, member)                                            \
	((type *)((char *)(ptr)-offsetof(type, member)))
static inline struct fault_dev *fault_dev(const struct tp_dev *dev)
{
	return (struct fault_dev *)dev;
}

extern const struct tp_ops fault_ops;

/* ---- rules (fault_rule.c) ---- */

/* Checks the rules and logs the one that acts. KILL does not return. */
bool fault_dev_hit(struct tp_dev *dev, enum fault_op op, uint64_t len,
		   uint16_t port, struct fault_rule *rule);

/* ---- the completion queue (fault_cq.c) ---- */

int fault_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq);
void fault_cq_close(struct tp_cq *cq);
void fault_cq_abandon(struct tp_cq *cq);
void fault_cq_wake(struct tp_cq *cq);
int fault_cq_fd(struct tp_cq *cq);
void fault_cq_hold(struct tp_cq *cq);
void fault_cq_release(struct tp_cq *cq);
void fault_cq_add_completion(struct fault_cq *cq, const struct tp_wc *wc);
/* The event is reported from the time due on. */
void fault_cq_add_event(struct fault_cq *cq, const struct tp_event *ev,
			uint64_t due);
/* Drops what is queued for ep; NULL: for all. */
void fault_cq_purge(struct fault_cq *cq, const struct fault_ep *ep);
void fault_cq_stall(struct fault_cq *cq, uint32_t ms);
bool fault_cq_is_stalled(const struct fault_cq *cq);

/* ---- outstanding requests (fault_req.c) ---- */

/* NULL: no memory. The caller frees them with fault_req_free(). */
struct fault_req *fault_req_new(const struct tp_send_wr *wr);
struct fault_req *fault_req_new_recv(const struct tp_recv_wr *wr);
void fault_req_free(struct fault_req *req);
/* Sends a copy of the data, in which the byte with index `at` is changed. */
int fault_req_bounce(struct fault_req *req, struct tp_dev *inner, uint64_t at);
/* Changes the byte with index `at` of the len bytes that arrived in the user's memory. */
void fault_req_spoil(struct fault_req *req, uint64_t at, uint64_t len);
uint64_t fault_req_len(const struct fault_req *req);

/* ---- listeners (fault_listen.c) ---- */

int fault_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
		 struct tp_listener **listener);
void fault_listener_addr(const struct tp_listener *l, struct addr *addr);
void fault_unlisten(struct tp_listener *l);
int fault_req_identity(const struct tp_conn_req *req, struct tp_identity *id);
void fault_reject(struct tp_conn_req *req, const void *priv, unsigned int len);
/* Replaces an inner CONNECT_REQUEST by one of this provider. False: a rule dropped it. */
bool fault_listener_request(struct fault_cq *cq, struct tp_event *ev);
uint16_t fault_peer_port(const char *peer);

/* ---- endpoints (fault_ep.c) ---- */

int fault_ep_open(struct tp_cq *cq, const struct tp_ep_attr *attr,
		  struct tp_ep **ep);
int fault_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
		 unsigned int len);
int fault_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
		  unsigned int len, uint64_t deadline);
void fault_ep_connect_postponed(struct fault_ep *ep);
void fault_ep_close(struct tp_ep *ep);
int fault_ep_identity(const struct tp_ep *ep, struct tp_identity *id);
int fault_ep_pass(struct tp_ep *ep, const int *fd, unsigned int n);
int fault_ep_take(struct tp_ep *ep, int *fd, unsigned int n);
uint32_t fault_ep_carry_max(const struct tp_ep *ep);
unsigned int fault_ep_quiet_ms(const struct tp_ep *ep);
void fault_ep_join(struct tp_ep *ep);
int fault_ep_seal(struct tp_ep *ep, struct sealer *sealer, unsigned int behind);
/*
 * Breaks the connection. Completes the first outstanding request with the status first, all others
 * with -ECANCELED, and reports DISCONNECTED with status.
 */
void fault_ep_break(struct fault_ep *ep, int first, int status);
void fault_ep_vanish(struct fault_ep *ep, uint32_t ms);

/* ---- posted requests (fault_post.c) ---- */

int fault_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr);
int fault_post_send(struct tp_ep *ep, const struct tp_send_wr *wr);
/* Posts what DELAY held back. */
void fault_post_held(struct fault_ep *ep);

/* ---- the loop (fault_progress.c) ---- */

int fault_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n);
int fault_cq_event(struct tp_cq *cq, struct tp_event *ev);
int fault_cq_wait(struct tp_cq *cq, uint64_t deadline);
int fault_cq_arm(struct tp_cq *cq);

#endif
