/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_cq.h - the progress context: sources, timers, events. */
#ifndef TCP_CQ_H
#define TCP_CQ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "provider.h"

#define TCP_IOV_MAX 1024 /* of one system call (kernel: UIO_MAXIOV) */
#define TCP_EVENTS 64 /* of one epoll_wait() */

/* Something in the epoll set. */
struct tcp_src {
	void (*ready)(struct tcp_src *src, uint32_t events);
};

struct tcp_timer {
	TAILQ_ENTRY(tcp_timer) link;
	uint64_t at; /* 0: not set */
	void (*fire)(struct tcp_timer *timer);
};

/* A pending connection event. */
struct tcp_event {
	TAILQ_ENTRY(tcp_event) link;
	enum tp_event_type type;
	bool queued;
	int status;
	struct tcp_ep *ep; /* or */
	struct tcp_req *req;
};

struct tcp_ep;
struct tcp_req;
struct tcp_tx;
TAILQ_HEAD(tcp_eps, tcp_ep);
STAILQ_HEAD(tcp_txs, tcp_tx);

struct tcp_cq {
	struct tp_cq cq;
	unsigned int room; /* of depth, not yet promised to eps */
	int epfd, wakefd, timerfd;
	atomic_bool woken; /* tp_cq_wake() not yet seen by a wait */
	atomic_bool asleep; /* a waker has to write to wakefd */
	unsigned int lazy; /* polls that need not look at the epoll
					 * set, because a wait just did */
	struct tcp_src wake_src, timer_src;
	struct tcp_eps dirty, ready, done;
	TAILQ_HEAD(, tcp_event) events;
	TAILQ_HEAD(tcp_timers, tcp_timer) timers;
	TAILQ_HEAD(, tcp_listener) listeners; /* that have more to accept */
	int nsaved; /* edges that a wait brought */
	struct epoll_event saved[TCP_EVENTS];
	struct tcp_eps open; /* with a socket */
	struct tcp_timer pulse;
	struct tcp_txs spare; /* small frames, for reuse */
	unsigned int nspare;
	/* scratch of one call */
	struct iovec iov[TCP_IOV_MAX];
	struct tcp_mr *held[TCP_IOV_MAX];
};

int tcp_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq);
void tcp_cq_close(struct tp_cq *cq);
void tcp_cq_abandon(struct tp_cq *cq);
int tcp_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n);
int tcp_cq_event(struct tp_cq *cq, struct tp_event *ev);
int tcp_cq_wait(struct tp_cq *cq, uint64_t deadline);
void tcp_cq_wake(struct tp_cq *cq);
int tcp_cq_fd(struct tp_cq *cq);
int tcp_cq_arm(struct tp_cq *cq);

/* Adds fd, edge-triggered.  -errno. */
int tcp_cq_add(struct tcp_cq *cq, int fd, struct tcp_src *src, uint32_t events);
void tcp_cq_mod(struct tcp_cq *cq, int fd, struct tcp_src *src,
		uint32_t events);
/* Also forgets the edges that were not handled yet. */
void tcp_cq_del(struct tcp_cq *cq, int fd, struct tcp_src *src);
void tcp_event_queue(struct tcp_cq *cq, struct tcp_event *ev,
		     enum tp_event_type type, int status);
void tcp_event_drop(struct tcp_cq *cq, struct tcp_event *ev);

int tcp_timers_open(struct tcp_cq *cq);
void tcp_timers_close(struct tcp_cq *cq);
void tcp_timer_set(struct tcp_cq *cq, struct tcp_timer *timer, uint64_t at);
void tcp_timer_clear(struct tcp_cq *cq, struct tcp_timer *timer);

#endif
