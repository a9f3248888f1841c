/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_cq.h - the progress context. */
#ifndef TCP_CQ_H
#define TCP_CQ_H

#include <sys/uio.h>

#include "common/transport/sock.h"

#define TCP_IOV_MAX 1024 /* entries per system call (kernel: UIO_MAXIOV) */

struct tcp_ep;
struct tcp_tx;
TAILQ_HEAD(tcp_eps, tcp_ep);
STAILQ_HEAD(tcp_txs, tcp_tx);

struct tcp_cq {
	struct sock_cq sock;
	/* polls that may skip the epoll set, because a wait just checked it */
	unsigned int lazy;
	struct tcp_eps dirty, ready, done;
	struct tcp_eps open; /* those with a socket */
	struct sock_timer pulse;
	struct tcp_txs spare; /* small frames for reuse */
	unsigned int nspare;
	/* scratch space of one call */
	struct iovec iov[TCP_IOV_MAX];
	struct tcp_mr *held[TCP_IOV_MAX];
};

int tcp_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq);
void tcp_cq_close(struct tp_cq *cq);
void tcp_cq_abandon(struct tp_cq *cq);
int tcp_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n);
int tcp_cq_wait(struct tp_cq *cq, uint64_t deadline);
int tcp_cq_arm(struct tp_cq *cq);

#endif
