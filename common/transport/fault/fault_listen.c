/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_listen.c - listeners and the connect requests that arrive there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/fault/fault_priv.h"

uint16_t fault_peer_port(const char *peer)
{
	const char *colon = strrchr(peer, ':');

	return colon ? (uint16_t)strtoul(colon + 1, NULL, 10) : 0;
}

int fault_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
		 struct tp_listener **listener)
{
	struct fault_cq *c = (struct fault_cq *)cq;
	struct fault_listener *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return -ENOMEM;
	rc = tp_listen(c->inner, addr, backlog, &l->inner);
	if (rc) {
		free(l);
		return rc;
	}
	l->listener.dev = cq->dev;
	l->cq = c;
	LIST_INIT(&l->dropped);
	LIST_INSERT_HEAD(&c->listeners, l, link);
	*listener = &l->listener;
	return 0;
}

void fault_listener_addr(const struct tp_listener *listener, struct addr *addr)
{
	const struct fault_listener *l =
		(const struct fault_listener *)listener;

	tp_listener_addr(l->inner, addr);
	snprintf(addr->scheme, sizeof(addr->scheme), "%.*s",
		 (int)sizeof(addr->scheme) - 1, tp_dev_name(listener->dev));
}

/* Rejects requests that wait here to be reported. */
static void reject_unreported(struct fault_listener *l)
{
	struct fault_ev *e, *next;

	for (e = TAILQ_FIRST(&l->cq->events); e; e = next) {
		next = TAILQ_NEXT(e, link);
		if (e->ev.listener != &l->listener)
			continue;
		TAILQ_REMOVE(&l->cq->events, e, link);
		fault_reject(e->ev.req, NULL, 0);
		free(e);
	}
}

void fault_unlisten(struct tp_listener *listener)
{
	struct fault_listener *l = (struct fault_listener *)listener;
	struct fault_conn_req *r;

	reject_unreported(l);
	while ((r = LIST_FIRST(&l->dropped))) {
		LIST_REMOVE(r, link);
		fault_reject(&r->req, NULL, 0);
	}
	LIST_REMOVE(l, link);
	tp_unlisten(l->inner);
	free(l);
}

int fault_req_identity(const struct tp_conn_req *req, struct tp_identity *id)
{
	return tp_req_identity(((const struct fault_conn_req *)req)->inner, id);
}

void fault_reject(struct tp_conn_req *req, const void *priv, unsigned int len)
{
	tp_reject(((struct fault_conn_req *)req)->inner, priv, len);
	free(req);
}

static struct fault_listener *listener_of(struct fault_cq *cq,
					  const struct tp_listener *inner)
{
	struct fault_listener *l;

	LIST_FOREACH(l, &cq->listeners, link)
		if (l->inner == inner)
			return l;
	return NULL;
}

/*
 * Applies the rule for connection requests to this one.  Returns false if the event must not be
 * reported now.
 */
static bool apply_rule(struct fault_cq *cq, struct fault_listener *l,
		       const struct tp_event *ev)
{
	struct fault_conn_req *r = (struct fault_conn_req *)ev->req;
	struct fault_rule rule;

	if (!fault_dev_hit(cq->cq.dev, FAULT_ACCEPT, 0,
			   fault_peer_port(tp_req_peer(r->inner)), &rule))
		return true;
	switch (rule.action) {
	case FAULT_DROP:
		LIST_INSERT_HEAD(&l->dropped, r, link);
		return false;
	case FAULT_DELAY:
		fault_cq_add_event(cq, ev, clock_after_ms(rule.ms));
		return false;
	case FAULT_STALL:
		fault_cq_stall(cq, rule.ms);
		fault_cq_add_event(cq, ev, 0);
		return false;
	default:
		fault_reject(&r->req, NULL, 0);
		return false;
	}
}

bool fault_listener_request(struct fault_cq *cq, struct tp_event *ev)
{
	struct fault_listener *l = listener_of(cq, ev->listener);
	struct fault_conn_req *r = calloc(1, sizeof(*r));

	if (!r || !l) {
		tp_reject(ev->req, NULL, 0);
		free(r);
		return false;
	}
	r->req.dev = cq->cq.dev;
	r->req.scarce = tp_req_scarce(ev->req);
	r->req.peer = tp_req_peer(ev->req);
	r->req.priv = tp_req_private(ev->req, &r->req.priv_len);
	r->inner = ev->req;
	ev->req = &r->req;
	ev->listener = &l->listener;
	return apply_rule(cq, l, ev);
}
