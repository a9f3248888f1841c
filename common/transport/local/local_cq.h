/* SPDX-License-Identifier: BSD-2-Clause */
/* local_cq.h - the device and the progress context: sources, timers, events. */
#ifndef LOCAL_CQ_H
#define LOCAL_CQ_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "local_mr.h"
#include "container.h"
#include "provider.h"

#define LOCAL_EVENTS 64 /* of one epoll_wait() */
#define LOCAL_IOV 288u /* >= TP_SGE_MAX */

struct local_ep;
struct local_req;
TAILQ_HEAD(local_eps, local_ep);

struct local_dev {
	struct tp_dev dev;
	unsigned int dead_peer_ms;
	unsigned int handshake_ms;
	uid_t owner; /* of servers, besides root and ourselves */
	bool no_reach; /* everything through the rings */
	struct local_mrs mrs;
	pthread_mutex_t lock; /* guests and their shm */
	TAILQ_HEAD(, local_ep) guests; /* whose peers may reach in */
	uint64_t next_guest;
};

static inline struct local_dev *local_dev(struct tp_dev *dev)
{
	return container_of(dev, struct local_dev, dev);
}

/* Something in the epoll set. */
struct local_src {
	void (*ready)(struct local_src *src, uint32_t events);
};

struct local_timer {
	TAILQ_ENTRY(local_timer) link;
	uint64_t at; /* 0: not set */
	void (*fire)(struct local_timer *timer);
};

/* A pending connection event. */
struct local_event {
	TAILQ_ENTRY(local_event) link;
	enum tp_event_type type;
	bool queued;
	int status;
	struct local_ep *ep; /* or */
	struct local_req *req;
};

struct local_cq {
	struct tp_cq cq;
	unsigned int room; /* of depth, not yet promised to eps */
	int epfd, wakefd, timerfd;
	atomic_bool woken; /* local_cq_wake() not yet seen by a wait */
	atomic_bool asleep; /* a waker has to write to wakefd */
	unsigned int polls; /* since the epoll set was looked at */
	struct local_src wake_src, timer_src;
	struct local_eps open; /* with a socket */
	struct local_eps hot, done;
	unsigned int nhot;
	TAILQ_HEAD(, local_event) events;
	TAILQ_HEAD(, local_timer) timers;
	TAILQ_HEAD(, local_listener) listeners; /* that have more to accept */
	int nsaved; /* edges that a wait brought */
	struct epoll_event saved[LOCAL_EVENTS];
};

int local_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq);
void local_cq_close(struct tp_cq *cq);
void local_cq_abandon(struct tp_cq *cq);
int local_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n);
int local_cq_event(struct tp_cq *cq, struct tp_event *ev);
int local_cq_wait(struct tp_cq *cq, uint64_t deadline);
void local_cq_wake(struct tp_cq *cq);
int local_cq_fd(struct tp_cq *cq);
int local_cq_arm(struct tp_cq *cq);

/* ---- for the other files ---- */

/* What the epoll set has; no wait. */
void local_cq_look(struct local_cq *cq, int timeout_ms);
/* A completion, an event, an edge, or an ep that could go on. */
bool local_cq_has_work(struct local_cq *cq);
/* All hot endpoints move on what they have to send. */
void local_cq_flush(struct local_cq *cq);
/* Adds fd, edge-triggered.  -errno. */
int local_cq_add(struct local_cq *cq, int fd, struct local_src *src,
		 uint32_t events);
/* Also forgets the edges that were not handled yet. */
void local_cq_del(struct local_cq *cq, int fd, struct local_src *src);
void local_event_queue(struct local_cq *cq, struct local_event *ev,
		       enum tp_event_type type, int status);
void local_event_drop(struct local_cq *cq, struct local_event *ev);

int local_timers_open(struct local_cq *cq);
void local_timer_set(struct local_cq *cq, struct local_timer *timer,
		     uint64_t at);
void local_timer_clear(struct local_cq *cq, struct local_timer *timer);

#endif
