/* SPDX-License-Identifier: BSD-2-Clause */
/* transport.c - finds the provider of a scheme and forwards calls to its table. */
#include <errno.h>
#include <string.h>

#include "common/transport/provider.h"
#include "common/transport/transport.h"

static const struct tp_ops *const providers[] = {
	&tcp_ops,
	&local_ops,
#ifdef HAVE_VERBS
	&verbs_ops,
#endif
};

#define OP(dev, op) ((dev)->ops->op ? (dev)->ops->op : tp_missing.op)
#define EXTRA(dev, op)                                                         \
	((dev)->extra && (dev)->extra->op ? (dev)->extra->op                   \
					  : tp_missing_extra.op)

static const struct tp_ops *find_provider(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(providers) / sizeof(providers[0]); i++)
		if (!strcmp(providers[i]->name, name))
			return providers[i];
	return NULL;
}

bool tp_scheme_ok(const char *scheme)
{
	return find_provider(scheme);
}

static bool is_fault(const char *name)
{
	return !strncmp(name, FAULT_PREFIX, strlen(FAULT_PREFIX));
}

int tp_dev_open(const char *name, const struct tp_dev_attr *attr,
		struct tp_dev **dev)
{
	const struct tp_ops *ops = find_provider(name);
	int rc;

	if (ops && attr && attr->nth && !ops->several)
		return -ENOENT;
	if (ops || is_fault(name)) {
		rc = ops ? ops->dev_open(attr, dev)
			 : fault_dev_open(name + strlen(FAULT_PREFIX), attr,
					  dev);
		if (!rc)
			(*dev)->extra = (*dev)->ops->extra;
		return rc;
	}
	log_error(attr ? attr->log : NULL,
		  "%s%sno transport \"%s\" in this build; use " PROVIDERS,
		  attr && attr->where ? attr->where : "",
		  attr && attr->where ? ": " : "", name);
	return -EPROTONOSUPPORT;
}

void tp_dev_close(struct tp_dev *dev)
{
	OP(dev, dev_close)(dev);
}

const char *tp_dev_name(const struct tp_dev *dev)
{
	return dev->ops->name;
}

const char *tp_dev_unit(const struct tp_dev *dev)
{
	return dev->unit ? dev->unit : "";
}

bool tp_dev_pins(const struct tp_dev *dev)
{
	return dev->pins;
}

unsigned int tp_dev_serves(const struct tp_dev *dev)
{
	return dev->serves;
}

int tp_mr_reg(struct tp_dev *dev, void *addr, size_t len, unsigned int access,
	      struct tp_mr **mr)
{
	int rc = OP(dev, mr_reg)(dev, addr, len, access, mr);

	if (rc)
		return rc;
	atomic_fetch_add_explicit(&dev->mrs, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&dev->mr_bytes, len, memory_order_relaxed);
	return 0;
}

void tp_mr_dereg(struct tp_mr *mr)
{
	struct tp_dev *dev = mr->dev;

	atomic_fetch_sub_explicit(&dev->mrs, 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&dev->mr_bytes, mr->len,
				  memory_order_relaxed);
	OP(dev, mr_dereg)(mr);
}

int tp_mr_only(struct tp_mr *mr, struct tp_ep *ep)
{
	return OP(mr->dev, mr_only)(mr, ep);
}

void tp_dev_registered(const struct tp_dev *dev, unsigned int *mrs,
		       size_t *bytes)
{
	*mrs = atomic_load_explicit(&dev->mrs, memory_order_relaxed);
	*bytes = atomic_load_explicit(&dev->mr_bytes, memory_order_relaxed);
}

int tp_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq)
{
	return OP(dev, cq_open)(dev, depth, cq);
}

void tp_cq_abandon(struct tp_cq *cq)
{
	OP(cq->dev, cq_abandon)(cq);
}

void tp_cq_close(struct tp_cq *cq)
{
	OP(cq->dev, cq_close)(cq);
}

int tp_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n)
{
	return OP(cq->dev, cq_poll)(cq, wc, n);
}

int tp_cq_event(struct tp_cq *cq, struct tp_event *ev)
{
	return OP(cq->dev, cq_event)(cq, ev);
}

int tp_cq_wait(struct tp_cq *cq, uint64_t deadline)
{
	return OP(cq->dev, cq_wait)(cq, deadline);
}

void tp_cq_wake(struct tp_cq *cq)
{
	OP(cq->dev, cq_wake)(cq);
}

int tp_cq_fd(struct tp_cq *cq)
{
	return OP(cq->dev, cq_fd)(cq);
}

int tp_cq_arm(struct tp_cq *cq)
{
	return OP(cq->dev, cq_arm)(cq);
}

void tp_cq_hold(struct tp_cq *cq)
{
	EXTRA(cq->dev, cq_hold)(cq);
}

void tp_cq_release(struct tp_cq *cq)
{
	EXTRA(cq->dev, cq_release)(cq);
}

int tp_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
	      struct tp_listener **listener)
{
	return OP(cq->dev, listen)(cq, addr, backlog, listener);
}

void tp_listener_addr(const struct tp_listener *listener, struct addr *addr)
{
	OP(listener->dev, listener_addr)(listener, addr);
}

void tp_unlisten(struct tp_listener *listener)
{
	OP(listener->dev, unlisten)(listener);
}

const void *tp_req_private(const struct tp_conn_req *req, unsigned int *len)
{
	*len = req->priv_len;
	return req->priv;
}

const char *tp_req_peer(const struct tp_conn_req *req)
{
	return req->peer ? req->peer : "-";
}

int tp_req_identity(const struct tp_conn_req *req, struct tp_identity *id)
{
	return EXTRA(req->dev, req_identity)(req, id);
}

bool tp_req_scarce(const struct tp_conn_req *req)
{
	return req->scarce;
}

void tp_reject(struct tp_conn_req *req, const void *priv, unsigned int len)
{
	OP(req->dev, reject)(req, priv, len);
}

int tp_ep_open(struct tp_cq *cq, const struct tp_ep_attr *attr,
	       struct tp_ep **ep)
{
	int rc = OP(cq->dev, ep_open)(cq, attr, ep);

	if (!rc)
		(*ep)->serial = atomic_fetch_add(&cq->dev->eps, 1) + 1;
	return rc;
}

int tp_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
	      unsigned int len)
{
	return OP(ep->dev, accept)(ep, req, priv, len);
}

int tp_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
	       unsigned int len, uint64_t deadline)
{
	return OP(ep->dev, connect)(ep, addr, priv, len, deadline);
}

void tp_ep_hush(struct tp_ep *ep)
{
	ep->hushed = true;
}

void tp_ep_close(struct tp_ep *ep)
{
	OP(ep->dev, ep_close)(ep);
}

void *tp_ep_context(const struct tp_ep *ep)
{
	return ep->context;
}

const char *tp_ep_peer(const struct tp_ep *ep)
{
	return ep->peer ? ep->peer : "-";
}

int tp_ep_identity(const struct tp_ep *ep, struct tp_identity *id)
{
	return EXTRA(ep->dev, ep_identity)(ep, id);
}

int tp_ep_pass(struct tp_ep *ep, const int *fd, unsigned int n)
{
	return EXTRA(ep->dev, ep_pass)(ep, fd, n);
}

int tp_ep_take(struct tp_ep *ep, int *fd, unsigned int n)
{
	return EXTRA(ep->dev, ep_take)(ep, fd, n);
}

uint32_t tp_ep_carry_max(const struct tp_ep *ep)
{
	return EXTRA(ep->dev, ep_carry_max)(ep);
}

unsigned int tp_ep_quiet_ms(const struct tp_ep *ep)
{
	return EXTRA(ep->dev, ep_quiet_ms)(ep);
}

void tp_ep_join(struct tp_ep *ep)
{
	EXTRA(ep->dev, ep_join)(ep);
}

bool tp_dev_seals(const struct tp_dev *dev)
{
	return dev->flaws;
}

int tp_ep_seal(struct tp_ep *ep, struct sealer *sealer, unsigned int behind)
{
	return EXTRA(ep->dev, ep_seal)(ep, sealer, behind);
}

const char *tp_flaw_text(enum tp_flaw flaw)
{
	static const char *const text[TP_FLAWS] = {
		[TP_FLAW_FALSE] = "a record that was changed or made up",
		[TP_FLAW_ORDER] =
			"a record that was repeated, left out or moved",
		[TP_FLAW_LENGTH] = "a record of an invalid length",
		[TP_FLAW_BARE] = "data that is not sealed",
		[TP_FLAW_CUT] = "an end in the middle of a record",
	};

	return flaw < TP_FLAWS ? text[flaw] : "?";
}

void tp_dev_flaws(const struct tp_dev *dev, uint64_t count[TP_FLAWS])
{
	for (int i = 0; i < TP_FLAWS; i++)
		count[i] = dev->flaws ? atomic_load(&dev->flaws[i]) : 0;
}

int tp_srq_open(struct tp_cq *cq, unsigned int max_wr, void *context,
		struct tp_srq **srq)
{
	return EXTRA(cq->dev, srq_open)(cq, max_wr, context, srq);
}

void tp_srq_close(struct tp_srq *srq)
{
	EXTRA(srq->dev, srq_close)(srq);
}

void *tp_srq_context(const struct tp_srq *srq)
{
	return srq->context;
}

int tp_srq_post_recv(struct tp_srq *srq, const struct tp_recv_wr *wr)
{
	return EXTRA(srq->dev, srq_post_recv)(srq, wr);
}

int tp_srq_limit(struct tp_srq *srq, unsigned int limit)
{
	return EXTRA(srq->dev, srq_limit)(srq, limit);
}

int tp_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr)
{
	return OP(ep->dev, post_recv)(ep, wr);
}

int tp_post_send(struct tp_ep *ep, const struct tp_send_wr *wr)
{
	return OP(ep->dev, post_send)(ep, wr);
}
