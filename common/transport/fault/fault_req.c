/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_req.c - outstanding requests and their completions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/fault/fault_priv.h"

struct fault_req *fault_req_new(const struct tp_send_wr *wr)
{
	struct fault_req *req;
	size_t bytes = wr->nsge * sizeof(req->sgl[0]);

	req = calloc(1, sizeof(*req) + bytes);
	if (!req)
		return NULL;
	req->wr_id = wr->wr_id;
	req->opcode = wr->opcode;
	req->wr = *wr;
	req->wr.next = NULL;
	req->wr.wr_id = (uintptr_t)req;
	req->wr.sgl = req->sgl;
	if (bytes)
		memcpy(req->sgl, wr->sgl, bytes);
	return req;
}

struct fault_req *fault_req_new_recv(const struct tp_recv_wr *wr)
{
	const struct tp_send_wr as_send = {
		.wr_id = wr->wr_id,
		.opcode = TP_RECV,
		.sgl = &wr->sge,
		.nsge = 1,
	};

	return fault_req_new(&as_send);
}

void fault_req_free(struct fault_req *req)
{
	if (req->bounce_mr)
		tp_mr_dereg(req->bounce_mr);
	free(req->bounce);
	free(req);
}

uint64_t fault_req_len(const struct fault_req *req)
{
	uint64_t len = 0;
	unsigned int i;

	for (i = 0; i < req->wr.nsge; i++)
		len += req->sgl[i].len;
	return len;
}

int fault_req_bounce(struct fault_req *req, struct tp_dev *inner, uint64_t at)
{
	uint64_t len = fault_req_len(req);
	unsigned int i;
	uint8_t *p;
	int rc;

	if (!len)
		return 0;
	p = malloc(len);
	if (!p)
		return -ENOMEM;
	rc = tp_mr_reg(inner, p, len, 0, &req->bounce_mr);
	if (rc) {
		free(p);
		return rc;
	}
	req->bounce = p;
	for (i = 0; i < req->wr.nsge; p += req->sgl[i++].len)
		memcpy(p, req->sgl[i].addr, req->sgl[i].len);
	p = req->bounce;
	p[at < len ? at : len - 1] ^= 0xff;
	req->sgl[0] = (struct tp_sge){ p, (uint32_t)len, req->bounce_mr->lkey };
	req->wr.nsge = 1;
	return 0;
}

void fault_req_spoil(struct fault_req *req, uint64_t at, uint64_t len)
{
	unsigned int i;

	if (!len)
		return;
	if (at >= len)
		at = len - 1;
	for (i = 0; i < req->wr.nsge; at -= req->sgl[i++].len) {
		if (at < req->sgl[i].len) {
			((uint8_t *)req->sgl[i].addr)[at] ^= 0xff;
			return;
		}
	}
}

/* Retires requests up to last, which completed with status. */
static void retire(struct fault_ep *ep, struct fault_req *last, int status)
{
	struct fault_req *req;
	bool end;

	do {
		req = TAILQ_FIRST(&ep->sends);
		end = req == last;
		if (req->spoil && !status)
			fault_req_spoil(req, req->spoil_at, fault_req_len(req));
		TAILQ_REMOVE(&ep->sends, req, link);
		ep->nsend--;
		fault_req_free(req);
	} while (!end);
}

/* Applies the rules to a receive. False: it is not to be reported now. */
static bool arrived(struct fault_ep *ep, struct fault_req *req,
		    struct tp_wc *wc)
{
	struct fault_rule rule;

	if (wc->status ||
	    !fault_hit(ep->ep.dev, FAULT_RECV, wc->byte_len, ep->port, &rule))
		return true;
	switch (rule.action) {
	case FAULT_CORRUPT:
		if (wc->opcode == TP_RECV)
			fault_req_spoil(req, rule.at, wc->byte_len);
		return true;
	case FAULT_RESET:
		fault_break(ep, -ECONNRESET, -ECONNRESET);
		return false;
	case FAULT_VANISH:
		fault_vanish(ep, rule.ms);
		return false;
	default:
		fault_stall(ep->cq, rule.ms);
		return true;
	}
}

static bool complete_recv(struct fault_ep *ep, struct fault_req *req,
			  struct tp_wc *wc)
{
	ep->up = !wc->status; /* a message implies ESTABLISHED */
	if (!arrived(ep, req, wc))
		return false;
	TAILQ_REMOVE(&ep->recvs, req, link);
	ep->nrecv--;
	fault_req_free(req);
	if (!fault_stalled(ep->cq))
		return true;
	fault_ready(ep->cq, wc);
	return false;
}

bool fault_complete(struct tp_wc *wc)
{
	struct fault_ep *ep = tp_ep_context(wc->ep);
	struct fault_req *req = (struct fault_req *)(uintptr_t)wc->wr_id;

	if (ep->gone_at)
		return false;
	wc->ep = &ep->ep;
	wc->wr_id = req->wr_id;
	if (wc->opcode == TP_RECV || wc->opcode == TP_RECV_IMM)
		return complete_recv(ep, req, wc);
	wc->opcode = req->opcode;
	retire(ep, req, wc->status);
	if (!wc->status)
		return true;
	ep->up = false;
	if (!ep->held_until)
		return true;
	/* Held requests were never posted, so the inner ep cannot flush them. */
	fault_ready(ep->cq, wc);
	fault_break(ep, -ECANCELED, wc->status);
	return false;
}
