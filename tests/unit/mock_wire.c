/* SPDX-License-Identifier: BSD-2-Clause */
/* mock_wire.c - work requests of the mock: posting and execution. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/mock_int.h"

static bool covers(struct tp_dev *dev, uint32_t key, const void *addr,
		   size_t len, unsigned int access)
{
	struct mock_mr *m;

	LIST_FOREACH(m, &dev->mrs, link) {
		if (m->mr.lkey == key)
			return (m->access & access) == access &&
			       addr >= m->mr.addr &&
			       (const char *)addr + len <=
				       (char *)m->mr.addr + m->mr.len;
	}
	return false;
}

static struct wc *put_wc(struct tp_ep *ep, uint64_t wr_id, int status,
			 enum tp_opcode op, uint32_t len, unsigned int sends,
			 unsigned int recvs)
{
	struct wc *wc = calloc(1, sizeof(*wc));

	wc->wc = (struct tp_wc){ wr_id, status, op, len, 0, ep, NULL };
	wc->sends = sends;
	wc->recvs = recvs;
	STAILQ_INSERT_TAIL(&ep->cq->wcs, wc, link);
	return wc;
}

struct ev *mock_event(struct tp_cq *cq, struct tp_ep *ep,
		      enum tp_event_type type, int status)
{
	struct ev *ev = calloc(1, sizeof(*ev));

	ev->ev = (struct tp_event){ .type = type, .status = status, .ep = ep };
	STAILQ_INSERT_TAIL(&cq->evs, ev, link);
	return ev;
}

void mock_broken(struct tp_ep *ep, int status)
{
	struct wr *wr;

	if (!ep->up)
		return;
	ep->up = false;
	ep->peer = NULL;
	while ((wr = STAILQ_FIRST(&ep->out))) {
		STAILQ_REMOVE_HEAD(&ep->out, link);
		put_wc(ep, wr->wr.wr_id, -ECANCELED, wr->wr.opcode, 0, 1, 0);
		free(wr);
	}
	while (ep->rn) {
		put_wc(ep, ep->recv[ep->rhead].wr_id, -ECANCELED, TP_RECV, 0, 0,
		       1);
		ep->rhead = (ep->rhead + 1) % ep->attr.max_recv_wr;
		ep->rn--;
	}
	mock_event(ep->cq, ep, TP_EV_DISCONNECTED, status);
}

static bool step(struct tp_ep *ep)
{
	struct tp_ep *peer = ep->peer;

	if (++mock.step != mock.break_at)
		return false;
	mock.broke = true;
	mock_broken(ep, mock.why ? mock.why : -ECONNRESET);
	mock_broken(peer, -ECONNRESET);
	return true;
}

static uint32_t gather(const struct tp_sge *sge, unsigned int n, uint8_t *buf,
		       uint32_t max)
{
	uint32_t len = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		ck_assert(len + sge[i].len <= max);
		memcpy(buf + len, sge[i].addr, sge[i].len);
		len += sge[i].len;
	}
	return len;
}

static uint32_t total(const struct wr *wr)
{
	uint32_t len = 0;
	unsigned int i;

	for (i = 0; i < wr->wr.nsge; i++)
		len += wr->sge[i].len;
	return len;
}

static struct wc *put_recv(struct tp_ep *ep, uint64_t wr_id, enum tp_opcode op,
			   uint32_t len)
{
	struct wc *wc = put_wc(ep, wr_id, 0, op, len, 0, !ep->attr.srq);

	wc->wc.srq = ep->attr.srq;
	return wc;
}

/* Consumes the peer's next receive. */
static void do_imm(struct tp_ep *peer, const struct wr *wr)
{
	struct tp_recv_wr r = mock_recv_take(peer);

	put_recv(peer, r.wr_id, TP_RECV_IMM, total(wr))->wc.imm =
		wr->wr.imm ^ mock.spoil_imm;
	mock.spoil_imm = 0;
}

static void do_send(struct tp_ep *peer, const struct wr *wr)
{
	struct tp_recv_wr r = mock_recv_take(peer);
	uint32_t len = gather(wr->sge, wr->wr.nsge, r.sge.addr, r.sge.len);

	put_recv(peer, r.wr_id, TP_RECV, len);
}

static bool do_rdma(struct tp_ep *ep, const struct wr *wr)
{
	uint8_t *at = (uint8_t *)(uintptr_t)wr->wr.remote_addr;
	bool read = wr->wr.opcode == TP_READ;
	unsigned int i;

	if (total(wr) && !covers(ep->peer->cq->dev, wr->wr.rkey, at, total(wr),
				 read ? TP_REMOTE_READ : TP_REMOTE_WRITE))
		return false;
	for (i = 0; i < wr->wr.nsge; i++) {
		if (!wr->sge[i].len)
			continue;
		if (read)
			memcpy(wr->sge[i].addr, at, wr->sge[i].len);
		else
			memcpy(at, wr->sge[i].addr, wr->sge[i].len);
		at += wr->sge[i].len;
	}
	return true;
}

static void refuse(struct tp_ep *ep, struct wr *wr)
{
	struct tp_ep *peer = ep->peer;

	put_wc(ep, wr->wr.wr_id, -EACCES, wr->wr.opcode, 0, 1, 0);
	mock_broken(ep, -EACCES);
	mock_broken(peer, -EACCES);
}

static bool needs_receive(const struct wr *wr)
{
	return wr->wr.opcode == TP_SEND || wr->wr.opcode == TP_WRITE_IMM;
}

/* Executes the next work request.  Returns false if it has to wait. */
static bool carry_out(struct tp_ep *ep)
{
	struct wr *wr = STAILQ_FIRST(&ep->out);

	if (needs_receive(wr) && !mock_ready(ep->peer))
		return false;
	if (step(ep))
		return true;
	STAILQ_REMOVE_HEAD(&ep->out, link);
	if (wr->wr.opcode == TP_SEND)
		do_send(ep->peer, wr);
	else if (!do_rdma(ep, wr)) {
		refuse(ep, wr);
		free(wr);
		return true;
	}
	if (wr->wr.opcode == TP_WRITE_IMM)
		do_imm(ep->peer, wr);
	ep->unsignaled++;
	if (wr->wr.flags & TP_SIGNALED) {
		put_wc(ep, wr->wr.wr_id, 0, wr->wr.opcode, 0, ep->unsignaled,
		       0);
		ep->unsignaled = 0;
	}
	free(wr);
	step(ep);
	return true;
}

void mock_flush(struct tp_cq *cq)
{
	struct tp_ep *ep;

	TAILQ_FOREACH(ep, &cq->eps, link) {
		while (!mock.freeze && ep->up && !STAILQ_EMPTY(&ep->out) &&
		       carry_out(ep))
			;
	}
}

int tp_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr)
{
	if (ep->recvs >= ep->attr.max_recv_wr)
		ck_abort_msg("too many receives");
	ck_assert(covers(ep->cq->dev, wr->sge.lkey, wr->sge.addr, wr->sge.len,
			 TP_LOCAL_WRITE));
	ep->recv[(ep->rhead + ep->rn) % ep->attr.max_recv_wr] = *wr;
	ep->rn++;
	ep->recvs++;
	return 0;
}

int tp_post_send(struct tp_ep *ep, const struct tp_send_wr *wr)
{
	if (!ep->up)
		return -ENOTCONN;
	for (; wr; wr = wr->next) {
		size_t len = wr->nsge * sizeof(*wr->sgl);
		struct wr *w = calloc(1, sizeof(*w) + len);

		w->wr = *wr;
		if (len)
			memcpy(w->sge, wr->sgl, len);
		STAILQ_INSERT_TAIL(&ep->out, w, link);
		if (++ep->sends > ep->attr.max_send_wr)
			ck_abort_msg("too many sends");
	}
	return 0;
}
