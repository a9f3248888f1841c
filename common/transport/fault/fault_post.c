/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_post.c - posted requests, and what rules do to them. */
#include <errno.h>

#include "common/transport/fault/fault_priv.h"

/* The result of the rules for a chain. */
struct verdict {
	struct fault_reqs reqs;
	unsigned int n;
	struct fault_req *cut; /* from this request on nothing is sent, or NULL */
	struct fault_rule rule; /* the rule of the cut: RESET or VANISH */
	uint32_t delay_ms;
};

static enum fault_op op_of(enum tp_opcode opcode)
{
	switch (opcode) {
	case TP_SEND:
		return FAULT_SEND;
	case TP_WRITE:
		return FAULT_WRITE;
	case TP_WRITE_IMM:
		return FAULT_WRITE_IMM;
	case TP_READ:
		return FAULT_READ;
	default:
		return FAULT_ATOMIC;
	}
}

static int corrupt_request(struct fault_ep *ep, struct fault_req *req,
			   uint64_t at)
{
	if (req->opcode != TP_READ)
		return fault_req_bounce(req, fault_dev(ep->ep.dev)->inner, at);
	req->spoil = true;
	req->spoil_at = at;
	return 0;
}

/* Replaces the request by one that changes nothing and completes in the same way. */
static void make_empty_write(struct fault_req *req)
{
	req->wr.opcode = TP_WRITE;
	req->wr.nsge = 0;
	req->wr.rkey = 0;
	req->wr.remote_addr = 0;
}

/* Applies the rules to req. 0, or the error of the whole call. */
static int apply_rules(struct fault_ep *ep, struct fault_req *req,
		       struct verdict *v)
{
	struct fault_rule rule;

	if (v->cut || !fault_dev_hit(ep->ep.dev, op_of(req->opcode),
				     fault_req_len(req), ep->port, &rule))
		return 0;
	switch (rule.action) {
	case FAULT_FAIL:
		return rule.error ? rule.error : -ENOBUFS;
	case FAULT_DROP:
		make_empty_write(req);
		return 0;
	case FAULT_CORRUPT:
		return corrupt_request(ep, req, rule.at);
	case FAULT_DELAY:
		v->delay_ms = rule.ms;
		return 0;
	case FAULT_STALL:
		fault_cq_stall(ep->cq, rule.ms);
		return 0;
	default:
		v->cut = req;
		v->rule = rule;
		return 0;
	}
}

static int add_request(struct verdict *v, const struct tp_send_wr *wr)
{
	struct fault_req *req, *last;

	if (wr->nsge > TP_SGE_MAX || wr->opcode > TP_CMP_SWAP)
		return -EINVAL;
	req = fault_req_new(wr);
	if (!req)
		return -ENOMEM;
	last = TAILQ_LAST(&v->reqs, fault_reqs);
	if (last)
		last->wr.next = &req->wr;
	TAILQ_INSERT_TAIL(&v->reqs, req, link);
	v->n++;
	return 0;
}

static void free_requests(struct verdict *v)
{
	struct fault_req *req;

	while ((req = TAILQ_FIRST(&v->reqs))) {
		TAILQ_REMOVE(&v->reqs, req, link);
		fault_req_free(req);
	}
}

/* Posts the part of the chain before the cut. */
static int post_inner(struct fault_ep *ep, struct verdict *v)
{
	struct fault_req *first = TAILQ_FIRST(&v->reqs), *before;

	if (v->cut == first)
		return 0;
	if (v->cut) {
		before = TAILQ_PREV(v->cut, fault_reqs, link);
		before->wr.next = NULL;
	}
	return tp_post_send(ep->inner, &first->wr);
}

static void hold_chain(struct fault_ep *ep, struct verdict *v)
{
	uint64_t until = clock_after_ms(v->delay_ms);
	struct fault_req *req;

	TAILQ_FOREACH(req, &v->reqs, link)
		req->held = true;
	if (until > ep->held_until)
		ep->held_until = until;
}

/* Sends, holds or drops the chain, and stores its requests. */
static int carry_out(struct fault_ep *ep, struct verdict *v)
{
	int rc = 0;

	if (!ep->gone_at && (v->delay_ms || ep->held_until))
		hold_chain(ep, v);
	else if (!ep->gone_at)
		rc = post_inner(ep, v);
	if (rc)
		return rc;
	TAILQ_CONCAT(&ep->sends, &v->reqs, link);
	ep->nsend += v->n;
	if (!v->cut)
		return 0;
	if (v->rule.action == FAULT_VANISH)
		fault_ep_vanish(ep, v->rule.ms);
	else
		fault_ep_break(ep, -ECONNRESET, -ECONNRESET);
	return 0;
}

int fault_post_send(struct tp_ep *ep, const struct tp_send_wr *wr)
{
	struct fault_ep *e = (struct fault_ep *)ep;
	struct verdict v = { .n = 0 };
	struct fault_req *req;
	int rc = 0;

	if (!e->up)
		return -ENOTCONN;
	TAILQ_INIT(&v.reqs);
	for (; wr && !rc; wr = wr->next)
		rc = add_request(&v, wr);
	if (!rc && e->nsend + v.n > e->max_send)
		rc = -ENOBUFS;
	if (!rc && !e->gone_at)
		TAILQ_FOREACH(req, &v.reqs, link)
			if ((rc = apply_rules(e, req, &v)))
				break;
	if (!rc)
		rc = carry_out(e, &v);
	free_requests(&v);
	return rc;
}

void fault_post_held(struct fault_ep *ep)
{
	struct fault_req *req, *first = NULL;
	int rc = 0;

	ep->held_until = 0;
	TAILQ_FOREACH(req, &ep->sends, link) {
		if (!req->held)
			continue;
		req->held = false;
		if (!first)
			first = req;
		if (TAILQ_NEXT(req, link))
			req->wr.next = &TAILQ_NEXT(req, link)->wr;
	}
	if (first && !ep->gone_at)
		rc = tp_post_send(ep->inner, &first->wr);
	if (rc)
		fault_ep_break(ep, rc == -EINVAL ? -EFAULT : -ECANCELED, rc);
}

int fault_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr)
{
	struct fault_ep *e = (struct fault_ep *)ep;
	struct tp_recv_wr inner = *wr;
	struct fault_rule rule;
	struct fault_req *req;
	int rc;

	if (!e->inner)
		return -ENOTCONN;
	if (e->nrecv >= e->max_recv)
		return -ENOBUFS;
	if (fault_dev_hit(ep->dev, FAULT_POST_RECV, wr->sge.len, e->port,
			  &rule))
		return rule.error ? rule.error : -ENOBUFS;
	req = fault_req_new_recv(wr);
	if (!req)
		return -ENOMEM;
	inner.wr_id = (uintptr_t)req;
	rc = tp_post_recv(e->inner, &inner);
	if (rc) {
		fault_req_free(req);
		return rc;
	}
	TAILQ_INSERT_TAIL(&e->recvs, req, link);
	e->nrecv++;
	return 0;
}
