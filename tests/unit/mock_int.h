/* SPDX-License-Identifier: BSD-2-Clause */
/* mock_int.h - the objects of the mock transport. */
#ifndef MOCK_INT_H
#define MOCK_INT_H

#include <stdint.h>
#include <sys/queue.h>

#include "tests/unit/mock_tp.h"
#include "common/transport/transport.h"

struct tp_dev {
	LIST_HEAD(, mock_mr) mrs;
	uint32_t next_key;
};
struct mock_mr {
	struct tp_mr mr;
	unsigned int access;
	LIST_ENTRY(mock_mr) link;
};
struct wr {
	STAILQ_ENTRY(wr) link;
	struct tp_send_wr wr;
	struct tp_sge sge[];
};
struct wc {
	STAILQ_ENTRY(wc) link;
	struct tp_wc wc;
	unsigned int sends, recvs; /* give back */
};
struct ev {
	STAILQ_ENTRY(ev) link;
	struct tp_event ev;
};
struct tp_cq {
	struct tp_dev *dev;
	STAILQ_HEAD(, wc) wcs;
	STAILQ_HEAD(, ev) evs;
	TAILQ_HEAD(, tp_ep) eps;
	bool woken;
};
struct shared_recv {
	STAILQ_ENTRY(shared_recv) link;
	struct tp_recv_wr wr;
};
struct tp_srq {
	struct tp_cq *cq;
	void *context;
	STAILQ_HEAD(, shared_recv) recvs;
	unsigned int n, max, limit;
};
struct tp_ep {
	struct tp_cq *cq;
	TAILQ_ENTRY(tp_ep) link;
	struct tp_ep_attr attr;
	struct tp_ep *peer;
	struct tp_conn_req *req; /* connecting */
	bool up;
	STAILQ_HEAD(, wr) out;
	struct tp_recv_wr *recv; /* ring */
	unsigned int rhead, rn, recvs, sends, unsignaled;
};
struct tp_conn_req {
	struct tp_ep *ep;
	uint8_t priv[TP_PRIVATE_MAX];
	unsigned int len;
};
struct tp_listener {
	struct tp_cq *cq;
	uint16_t port;
	LIST_ENTRY(tp_listener) link;
};
struct ev *mock_event(struct tp_cq *cq, struct tp_ep *ep,
		      enum tp_event_type type, int status);
void mock_broken(struct tp_ep *ep, int status);
void mock_flush(struct tp_cq *cq);
/* Whether ep can receive a message; the receive for it (mock_srq.c). */
bool mock_ready(struct tp_ep *ep);
struct tp_recv_wr mock_recv_take(struct tp_ep *ep);

#endif
