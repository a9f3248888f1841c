/* SPDX-License-Identifier: BSD-2-Clause */
/* mock_tp.c - see mock_tp.h.  Two endpoints point at each other. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/transport/transport.h"
#include "tests/unit/mock_int.h"
#include "common/transport/tp_seal.h"

struct mock mock;

static LIST_HEAD(, tp_listener) listeners;

bool tp_scheme_ok(const char *scheme)
{
	return !strcmp(scheme, "mock");
}

int tp_dev_open(const char *name, const struct tp_dev_attr *attr,
		struct tp_dev **dev)
{
	*dev = calloc(1, sizeof(**dev));
	(*dev)->next_key = 1;
	return 0;
}

void tp_dev_close(struct tp_dev *dev)
{
	ck_assert(LIST_EMPTY(&dev->mrs));
	free(dev);
}

const char *tp_dev_name(const struct tp_dev *dev)
{
	return "mock";
}

const char *tp_dev_unit(const struct tp_dev *dev)
{
	return "";
}

void tp_dev_registered(const struct tp_dev *dev, unsigned int *mrs,
		       size_t *bytes)
{
	(void)dev;
	*mrs = (unsigned int)mock.mrs;
	*bytes = 0;
}

bool tp_dev_pins(const struct tp_dev *dev)
{
	return mock.pins;
}

unsigned int tp_dev_serves(const struct tp_dev *dev)
{
	return 0;
}

int tp_mr_reg(struct tp_dev *dev, void *addr, size_t len, unsigned int access,
	      struct tp_mr **out)
{
	struct mock_mr *m = mock.no_mr ? NULL : calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->mr = (struct tp_mr){ dev, addr, len, dev->next_key, dev->next_key };
	dev->next_key++;
	m->access = access;
	LIST_INSERT_HEAD(&dev->mrs, m, link);
	mock.mrs++;
	*out = &m->mr;
	return 0;
}

void tp_mr_dereg(struct tp_mr *mr)
{
	struct mock_mr *m = (struct mock_mr *)mr;

	LIST_REMOVE(m, link);
	mock.mrs--;
	free(m);
}

int tp_mr_only(struct tp_mr *mr, struct tp_ep *ep)
{
	return -EOPNOTSUPP;
}

int tp_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **out)
{
	struct tp_cq *cq = calloc(1, sizeof(*cq));

	cq->dev = dev;
	STAILQ_INIT(&cq->wcs);
	STAILQ_INIT(&cq->evs);
	TAILQ_INIT(&cq->eps);
	*out = cq;
	return 0;
}

void tp_cq_close(struct tp_cq *cq)
{
	ck_assert(TAILQ_EMPTY(&cq->eps));
	free(cq);
}

void tp_cq_abandon(struct tp_cq *cq)
{
}

static void ev_priv(struct ev *ev, const void *priv, unsigned int len)
{
	ev->ev.priv_len = len;
	if (len)
		memcpy(ev->ev.priv, priv, len);
}

int tp_cq_poll(struct tp_cq *cq, struct tp_wc *out, int n)
{
	struct wc *wc;
	int i = 0;

	mock_flush(cq);
	while (i < n && (wc = STAILQ_FIRST(&cq->wcs))) {
		STAILQ_REMOVE_HEAD(&cq->wcs, link);
		if (wc->wc.ep) {
			wc->wc.ep->sends -= wc->sends;
			wc->wc.ep->recvs -= wc->recvs;
		}
		out[i++] = wc->wc;
		free(wc);
	}
	return i;
}

int tp_cq_event(struct tp_cq *cq, struct tp_event *out)
{
	struct ev *ev = STAILQ_FIRST(&cq->evs);

	if (!ev)
		return 0;
	STAILQ_REMOVE_HEAD(&cq->evs, link);
	*out = ev->ev;
	free(ev);
	return 1;
}

int tp_cq_wait(struct tp_cq *cq, uint64_t deadline)
{
	struct timespec ts = { 0, 200000 };

	mock_flush(cq);
	if (STAILQ_EMPTY(&cq->wcs) && STAILQ_EMPTY(&cq->evs) && !cq->woken &&
	    !mock.restless && clock_now() < deadline)
		nanosleep(&ts, NULL);
	cq->woken = false;
	return 0;
}

void tp_cq_wake(struct tp_cq *cq)
{
	cq->woken = true;
}

int tp_cq_fd(struct tp_cq *cq)
{
	return -EOPNOTSUPP;
}

int tp_cq_arm(struct tp_cq *cq)
{
	mock_flush(cq);
	return 0;
}

int tp_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
	      struct tp_listener **out)
{
	static uint16_t next_port = 1;
	struct tp_listener *l = calloc(1, sizeof(*l));

	l->cq = cq;
	l->port = addr->port ? addr->port : next_port++;
	LIST_INSERT_HEAD(&listeners, l, link);
	*out = l;
	return 0;
}

void tp_listener_addr(const struct tp_listener *listener, struct addr *addr)
{
	*addr = (struct addr){ "mock", "127.0.0.1", listener->port };
}

const void *tp_req_private(const struct tp_conn_req *req, unsigned int *len)
{
	*len = req->len;
	return req->priv;
}

const char *tp_req_peer(const struct tp_conn_req *req)
{
	return mock.from ? mock.from : "mock client";
}

bool tp_req_scarce(const struct tp_conn_req *req)
{
	return mock.scarce;
}

void tp_reject(struct tp_conn_req *req, const void *priv, unsigned int len)
{
	if (req->ep) {
		req->ep->req = NULL;
		ev_priv(mock_event(req->ep->cq, req->ep, TP_EV_REJECTED, 0),
			priv, len);
	}
	free(req);
}

/* Rejects connections that the listener has not seen yet. */
void tp_unlisten(struct tp_listener *listener)
{
	struct ev *ev, *next;

	for (ev = STAILQ_FIRST(&listener->cq->evs); ev; ev = next) {
		next = STAILQ_NEXT(ev, link);
		if (ev->ev.listener != listener)
			continue;
		STAILQ_REMOVE(&listener->cq->evs, ev, ev, link);
		tp_reject(ev->ev.req, NULL, 0);
		free(ev);
	}
	LIST_REMOVE(listener, link);
	free(listener);
}

int tp_ep_open(struct tp_cq *cq, const struct tp_ep_attr *attr,
	       struct tp_ep **out)
{
	struct tp_ep *ep = calloc(1, sizeof(*ep));

	ep->cq = cq;
	ep->attr = *attr;
	ep->recv = calloc(attr->max_recv_wr + 1, sizeof(*ep->recv));
	STAILQ_INIT(&ep->out);
	TAILQ_INSERT_TAIL(&cq->eps, ep, link);
	*out = ep;
	return 0;
}

int tp_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
	      unsigned int len)
{
	ep->up = true;
	ep->peer = req->ep;
	if (!req->ep) {
		mock_broken(ep, 0);
	} else {
		req->ep->peer = ep;
		req->ep->req = NULL;
		req->ep->up = true;
		ev_priv(mock_event(req->ep->cq, req->ep, TP_EV_ESTABLISHED, 0),
			priv, len);
		mock_event(ep->cq, ep, TP_EV_ESTABLISHED, 0);
	}
	free(req);
	return 0;
}

int tp_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
	       unsigned int len, uint64_t deadline)
{
	struct tp_listener *l;
	struct ev *ev;

	mock.connects++;
	LIST_FOREACH(l, &listeners, link) {
		if (l->port == addr->port)
			break;
	}
	if (!l) {
		mock_event(ep->cq, ep, TP_EV_DISCONNECTED, -ECONNREFUSED);
		return 0;
	}
	ep->req = calloc(1, sizeof(*ep->req));
	ep->req->ep = ep;
	ep->req->len = len;
	memcpy(ep->req->priv, priv, len);
	ev = mock_event(l->cq, NULL, TP_EV_CONNECT_REQUEST, 0);
	ev->ev.listener = l;
	ev->ev.req = ep->req;
	return 0;
}

static void drop_reports(struct tp_ep *ep)
{
	struct tp_cq *cq = ep->cq;
	struct wc *wc, *nwc;
	struct ev *ev, *nev;

	for (wc = STAILQ_FIRST(&cq->wcs); wc; wc = nwc) {
		nwc = STAILQ_NEXT(wc, link);
		if (wc->wc.ep == ep && wc->wc.srq) {
			wc->wc.ep = NULL;
			wc->wc.status = -ECANCELED;
		} else if (wc->wc.ep == ep) {
			STAILQ_REMOVE(&cq->wcs, wc, wc, link);
			free(wc);
		}
	}
	for (ev = STAILQ_FIRST(&cq->evs); ev; ev = nev) {
		nev = STAILQ_NEXT(ev, link);
		if (ev->ev.ep == ep) {
			STAILQ_REMOVE(&cq->evs, ev, ev, link);
			free(ev);
		}
	}
}

void tp_ep_hush(struct tp_ep *ep)
{
}

void tp_ep_close(struct tp_ep *ep)
{
	if (ep->peer)
		mock_broken(ep->peer, 0);
	mock_broken(ep, 0);
	drop_reports(ep);
	if (ep->req)
		ep->req->ep = NULL;
	TAILQ_REMOVE(&ep->cq->eps, ep, link);
	free(ep->recv);
	free(ep);
}

void *tp_ep_context(const struct tp_ep *ep)
{
	return ep->attr.context;
}

uint32_t tp_ep_carry_max(const struct tp_ep *ep)
{
	return UINT32_MAX;
}

unsigned int tp_ep_quiet_ms(const struct tp_ep *ep)
{
	return mock.quiet_ms;
}

bool tp_dev_seals(const struct tp_dev *dev)
{
	return mock.seals;
}

int tp_ep_seal(struct tp_ep *ep, struct sealer *sealer, unsigned int behind)
{
	sealer_free(sealer);
	mock.sealed++;
	return 0;
}

void tp_dev_flaws(const struct tp_dev *dev, uint64_t count[TP_FLAWS])
{
	memset(count, 0, TP_FLAWS * sizeof(*count));
}

const char *tp_flaw_text(enum tp_flaw flaw)
{
	static const char *const text[TP_FLAWS] = { "0", "1", "2", "3", "4" };

	return text[flaw];
}

void tp_ep_join(struct tp_ep *ep)
{
}

void tp_cq_hold(struct tp_cq *cq)
{
}

void tp_cq_release(struct tp_cq *cq)
{
}

int tp_ep_pass(struct tp_ep *ep, const int *fd, unsigned int n)
{
	return -EOPNOTSUPP;
}

int tp_ep_take(struct tp_ep *ep, int *fd, unsigned int n)
{
	return -EOPNOTSUPP;
}

int tp_ep_identity(const struct tp_ep *ep, struct tp_identity *id)
{
	if (!mock.identity)
		return -EOPNOTSUPP;
	*id = *mock.identity;
	return 0;
}

const char *tp_ep_peer(const struct tp_ep *ep)
{
	return "mock";
}
