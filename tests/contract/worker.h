/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * worker.h - a thread with its own completion queue, and one connection that echoes messages.  It
 * does not use Check, which supports only one thread, and counts errors instead.
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
	int error; /* the first error, or 0 */
	/* used by the thread */
	struct tp_cq *cq;
	struct tp_ep *ep;
	struct tp_mr *mr;
	unsigned char buf[ECHO_BUFS][ECHO_LEN];
};
/* Accepts req on a queue of a new thread, which echoes until the peer disconnects. */
int echo_start(struct echo *e, struct tp_dev *dev, struct tp_conn_req *req);
/* Waits until the peer has disconnected.  Returns the first error. */
int echo_join(struct echo *e);
/*
 * Returns an endpoint on world.a's queue whose other end is served by a thread (threads.c); and
 * ends all such threads.
 */
struct tp_ep *connect_echo(struct echo *e, const struct tp_ep_attr *attr);
void close_links(void);

/* A thread that calls step() until it is stopped. */
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
