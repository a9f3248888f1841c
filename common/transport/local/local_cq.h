/* SPDX-License-Identifier: BSD-2-Clause */
/* local_cq.h - the device and the progress context. */
#ifndef LOCAL_CQ_H
#define LOCAL_CQ_H

#include <pthread.h>
#include <sys/types.h>

#include "local_mr.h"
#include "sock.h"

#define LOCAL_IOV 288u /* >= TP_SGE_MAX */

struct local_ep;
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

struct local_cq {
	struct sock_cq sock;
	unsigned int polls; /* since the epoll set was looked at */
	struct local_eps open; /* with a socket */
	struct local_eps hot, done;
	unsigned int nhot;
};

int local_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq);
void local_cq_close(struct tp_cq *cq);
void local_cq_abandon(struct tp_cq *cq);
int local_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n);
int local_cq_wait(struct tp_cq *cq, uint64_t deadline);
int local_cq_arm(struct tp_cq *cq);

/* ---- for the other files ---- */

/* A completion, an event, an edge, or an ep that could go on. */
bool local_cq_has_work(struct local_cq *cq);
/* All hot endpoints move on what they have to send. */
void local_cq_flush(struct local_cq *cq);
#endif
