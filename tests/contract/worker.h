/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * worker.h - a thread with a cq of its own and one connection that echoes messages.  It does not
 * use Check, which is for one thread: it counts errors.
 */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>

#include "common/transport/transport.h"

#define ECHO_LEN 512u
#define ECHO_BUFS 8u

struct echo {
	pthread_t thread;
	struct tp_dev *dev;
	struct tp_conn_req *req; /* accepted by the thread */
	unsigned int served;
	int error; /* the first, or 0 */
	/* the thread's */
	struct tp_cq *cq;
	struct tp_ep *ep;
	struct tp_mr *mr;
	unsigned char buf[ECHO_BUFS][ECHO_LEN];
};
/* Accepts req on a cq of a new thread, echoes until the peer leaves. */
int echo_start(struct echo *e, struct tp_dev *dev, struct tp_conn_req *req);
/* Waits for the peer to have left; returns the first error. */
int echo_join(struct echo *e);
/* An ep on world.a's cq whose other end is served by a thread of its own
 * (threads.c), and the end of all such. */
struct tp_ep *connect_echo(struct echo *e, const struct tp_ep_attr *attr);
void close_links(void);

/* A thread that calls step() until it is told to stop. */
struct looper {
	pthread_t thread;
	int (*step)(void *arg);
	void *arg;
	int stop;
	int error;
	unsigned int rounds;
};
int looper_start(struct looper *l, int (*step)(void *arg), void *arg);
int looper_stop(struct looper *l);

#endif
