/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_ep.c - endpoints: opening, starting, breaking, closing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/fault/fault_priv.h"
#include "common/transport/transport.h"

int fault_ep_open(struct tp_cq *cq, const struct tp_ep_attr *attr,
		  struct tp_ep **ep)
{
	struct fault_cq *c = (struct fault_cq *)cq;
	struct fault_ep *e = calloc(1, sizeof(*e));
	struct tp_ep_attr inner = *attr;
	int rc;

	if (!e)
		return -ENOMEM;
	inner.context = e;
	rc = tp_ep_open(c->inner, &inner, &e->inner);
	if (rc) {
		free(e);
		return rc;
	}
	e->ep.dev = cq->dev;
	e->ep.context = attr->context;
	e->ep.peer = tp_ep_peer(e->inner);
	e->cq = c;
	e->max_send = attr->max_send_wr ? attr->max_send_wr : 256;
	e->max_recv = attr->max_recv_wr ? attr->max_recv_wr : 64;
	TAILQ_INIT(&e->sends);
	TAILQ_INIT(&e->recvs);
	LIST_INSERT_HEAD(&c->eps, e, link);
	*ep = &e->ep;
	return 0;
}

int fault_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
		 unsigned int len)
{
	struct fault_conn_req *r = (struct fault_conn_req *)req;
	struct fault_ep *e = (struct fault_ep *)ep;
	int rc;

	if (e->started || !e->inner) {
		fault_reject(req, NULL, 0);
		return -EINVAL;
	}
	e->port = fault_peer_port(tp_req_peer(r->inner));
	rc = tp_accept(e->inner, r->inner, priv, len);
	free(r);
	e->started = !rc;
	return rc;
}

static void queue_disconnected(struct fault_ep *e, int status)
{
	const struct tp_event ev = {
		.type = TP_EV_DISCONNECTED,
		.status = status,
		.ep = &e->ep,
	};

	fault_cq_add_event(e->cq, &ev, 0);
}

static void postpone_connect(struct fault_ep *e, const struct addr *addr,
			     const void *priv, unsigned int len,
			     uint64_t deadline, uint64_t due)
{
	e->connect.addr = *addr;
	e->connect.len = len;
	e->connect.deadline = deadline;
	e->connect.due = due < deadline ? due : deadline;
	if (len)
		memcpy(e->connect.priv, priv, len);
}

void fault_ep_connect_postponed(struct fault_ep *e)
{
	struct fault_later *c = &e->connect;
	int rc = -ETIMEDOUT;

	if (clock_now() < c->deadline)
		rc = tp_connect(e->inner, &c->addr, c->priv, c->len,
				c->deadline);
	c->due = 0;
	if (rc)
		fault_ep_break(e, -ECANCELED, rc);
}

/* Applies a rule to a connect. Returns the result of tp_connect(). */
static int connect_faulty(struct fault_ep *e, const struct fault_rule *rule,
			  const struct addr *addr, const void *priv,
			  unsigned int len, uint64_t deadline)
{
	switch (rule->action) {
	case FAULT_FAIL:
		return rule->error ? rule->error : -ENETUNREACH;
	case FAULT_REFUSE:
		fault_ep_break(e, -ECANCELED, -ECONNREFUSED);
		break;
	case FAULT_DROP:
		postpone_connect(e, addr, priv, len, deadline, deadline);
		break;
	case FAULT_DELAY:
		postpone_connect(e, addr, priv, len, deadline,
				 clock_after_ms(rule->ms));
		break;
	default:
		fault_cq_stall(e->cq, rule->ms);
		return tp_connect(e->inner, addr, priv, len, deadline);
	}
	return 0;
}

int fault_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
		  unsigned int len, uint64_t deadline)
{
	struct fault_ep *e = (struct fault_ep *)ep;
	struct fault_rule rule;
	int rc;

	if (ep->hushed)
		tp_ep_hush(e->inner);
	if (e->started || len > TP_PRIVATE_MAX)
		return -EINVAL;
	e->port = addr->port;
	if (fault_dev_hit(ep->dev, FAULT_CONNECT, 0, addr->port, &rule))
		rc = connect_faulty(e, &rule, addr, priv, len, deadline);
	else
		rc = tp_connect(e->inner, addr, priv, len, deadline);
	e->started = !rc;
	return rc;
}

static void drop_requests(struct fault_reqs *reqs)
{
	struct fault_req *req;

	while ((req = TAILQ_FIRST(reqs))) {
		TAILQ_REMOVE(reqs, req, link);
		fault_req_free(req);
	}
}

void fault_ep_close(struct tp_ep *ep)
{
	struct fault_ep *e = (struct fault_ep *)ep;

	if (e->inner)
		tp_ep_close(e->inner);
	fault_cq_purge(e->cq, e);
	drop_requests(&e->sends);
	drop_requests(&e->recvs);
	LIST_REMOVE(e, link);
	free(e);
}

int fault_ep_identity(const struct tp_ep *ep, struct tp_identity *id)
{
	const struct fault_ep *e = (const struct fault_ep *)ep;

	return e->inner ? tp_ep_identity(e->inner, id) : -ENOTCONN;
}

int fault_ep_pass(struct tp_ep *ep, const int *fd, unsigned int n)
{
	const struct fault_ep *e = (const struct fault_ep *)ep;

	return e->inner ? tp_ep_pass(e->inner, fd, n) : -ENOTCONN;
}

int fault_ep_take(struct tp_ep *ep, int *fd, unsigned int n)
{
	const struct fault_ep *e = (const struct fault_ep *)ep;

	return e->inner ? tp_ep_take(e->inner, fd, n) : -EOPNOTSUPP;
}

uint32_t fault_ep_carry_max(const struct tp_ep *ep)
{
	const struct fault_ep *e = (const struct fault_ep *)ep;

	return e->inner ? tp_ep_carry_max(e->inner) : UINT32_MAX;
}

unsigned int fault_ep_quiet_ms(const struct tp_ep *ep)
{
	const struct fault_ep *e = (const struct fault_ep *)ep;

	return e->inner ? tp_ep_quiet_ms(e->inner) : 0;
}

void fault_ep_join(struct tp_ep *ep)
{
	const struct fault_ep *e = (const struct fault_ep *)ep;

	if (e->inner)
		tp_ep_join(e->inner);
}

int fault_ep_seal(struct tp_ep *ep, struct sealer *sealer, unsigned int behind)
{
	const struct fault_ep *e = (const struct fault_ep *)ep;

	if (e->inner)
		return tp_ep_seal(e->inner, sealer, behind);
	sealer_free(sealer);
	return -ENOTCONN;
}

/* Completes the requests in reqs: the first with *status, the others as flushed. */
static void flush_requests(struct fault_ep *e, struct fault_reqs *reqs,
			   int *status)
{
	struct fault_req *req;
	struct tp_wc wc;

	TAILQ_FOREACH(req, reqs, link) {
		wc = (struct tp_wc){
			.wr_id = req->wr_id,
			.opcode = req->opcode,
			.status = *status,
			.ep = &e->ep,
		};
		*status = -ECANCELED;
		fault_cq_add_completion(e->cq, &wc);
	}
	drop_requests(reqs);
}

void fault_ep_break(struct fault_ep *e, int first, int status)
{
	int recv_status = -ECANCELED;

	snprintf(e->peer, sizeof(e->peer), "%.*s", (int)sizeof(e->peer) - 1,
		 tp_ep_peer(e->inner));
	e->ep.peer = e->peer;
	tp_cq_arm(e->cq->inner); /* requests posted earlier may still be sent */
	tp_ep_close(e->inner);
	e->inner = NULL;
	e->up = false;
	e->held_until = e->gone_at = e->connect.due = 0;
	flush_requests(e, &e->sends, &first);
	flush_requests(e, &e->recvs, &recv_status);
	e->nsend = e->nrecv = 0;
	queue_disconnected(e, status);
}

void fault_ep_vanish(struct fault_ep *e, uint32_t ms)
{
	e->gone_at = clock_after_ms(ms ? ms
				       : fault_dev(e->ep.dev)->dead_peer_ms);
}
