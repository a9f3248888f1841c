/* SPDX-License-Identifier: BSD-2-Clause */
/* missing.c - default operations, used where a provider's table has NULL. */
#include <errno.h>

#include "common/transport/provider.h"

static int no_dev_open(const struct tp_dev_attr *attr, struct tp_dev **dev)
{
	return -EOPNOTSUPP;
}

static void no_dev_close(struct tp_dev *dev)
{
}

static int no_mr_reg(struct tp_dev *dev, void *addr, size_t len,
		     unsigned int access, struct tp_mr **mr)
{
	return -EOPNOTSUPP;
}

static void no_mr_dereg(struct tp_mr *mr)
{
}

static int no_mr_only(struct tp_mr *mr, struct tp_ep *ep)
{
	return -EOPNOTSUPP;
}

static int no_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq)
{
	return -EOPNOTSUPP;
}

static void no_cq_op(struct tp_cq *cq)
{
}

static int no_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n)
{
	return 0;
}

static int no_cq_event(struct tp_cq *cq, struct tp_event *ev)
{
	return 0;
}

static int no_cq_wait(struct tp_cq *cq, uint64_t deadline)
{
	return -EOPNOTSUPP;
}

static int no_cq_int(struct tp_cq *cq)
{
	return -EOPNOTSUPP;
}

static int no_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
		     struct tp_listener **listener)
{
	return -EOPNOTSUPP;
}

static void no_listener_addr(const struct tp_listener *l, struct addr *addr)
{
}

static void no_unlisten(struct tp_listener *listener)
{
}

static int no_req_identity(const struct tp_conn_req *req,
			   struct tp_identity *id)
{
	return -EOPNOTSUPP;
}

static void no_reject(struct tp_conn_req *req, const void *priv,
		      unsigned int len)
{
}

static int no_ep_open(struct tp_cq *cq, const struct tp_ep_attr *attr,
		      struct tp_ep **ep)
{
	return -EOPNOTSUPP;
}

static int no_accept(struct tp_ep *ep, struct tp_conn_req *req,
		     const void *priv, unsigned int len)
{
	return -EOPNOTSUPP;
}

static int no_connect(struct tp_ep *ep, const struct addr *addr,
		      const void *priv, unsigned int len, uint64_t deadline)
{
	return -EOPNOTSUPP;
}

static void no_ep_close(struct tp_ep *ep)
{
}

static int no_ep_identity(const struct tp_ep *ep, struct tp_identity *id)
{
	return -EOPNOTSUPP;
}

static int no_ep_pass(struct tp_ep *ep, const int *fd, unsigned int n)
{
	return -EOPNOTSUPP;
}

static int no_ep_take(struct tp_ep *ep, int *fd, unsigned int n)
{
	return -EOPNOTSUPP;
}

static uint32_t no_ep_carry_max(const struct tp_ep *ep)
{
	return UINT32_MAX;
}

static unsigned int no_ep_quiet_ms(const struct tp_ep *ep)
{
	return 0;
}

static void no_ep_join(struct tp_ep *ep)
{
}

static int no_ep_seal(struct tp_ep *ep, struct sealer *sealer,
		      unsigned int behind)
{
	sealer_free(sealer);
	return -EOPNOTSUPP;
}

static int no_srq_open(struct tp_cq *cq, unsigned int max_wr, void *context,
		       struct tp_srq **srq)
{
	return -EOPNOTSUPP;
}

static void no_srq_close(struct tp_srq *srq)
{
}

static int no_srq_post_recv(struct tp_srq *srq, const struct tp_recv_wr *wr)
{
	return -EOPNOTSUPP;
}

static int no_srq_limit(struct tp_srq *srq, unsigned int limit)
{
	return -EOPNOTSUPP;
}

static int no_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr)
{
	return -EOPNOTSUPP;
}

static int no_post_send(struct tp_ep *ep, const struct tp_send_wr *wr)
{
	return -EOPNOTSUPP;
}

const struct tp_ops tp_missing = {
	.name = "none",
	.dev_open = no_dev_open,
	.dev_close = no_dev_close,
	.mr_reg = no_mr_reg,
	.mr_dereg = no_mr_dereg,
	.mr_only = no_mr_only,
	.cq_open = no_cq_open,
	.cq_close = no_cq_op,
	.cq_abandon = no_cq_op,
	.cq_poll = no_cq_poll,
	.cq_event = no_cq_event,
	.cq_wait = no_cq_wait,
	.cq_wake = no_cq_op,
	.cq_fd = no_cq_int,
	.cq_arm = no_cq_int,
	.listen = no_listen,
	.listener_addr = no_listener_addr,
	.unlisten = no_unlisten,
	.reject = no_reject,
	.ep_open = no_ep_open,
	.accept = no_accept,
	.connect = no_connect,
	.ep_close = no_ep_close,
	.post_recv = no_post_recv,
	.post_send = no_post_send,
};

const struct tp_extra_ops tp_missing_extra = {
	.cq_hold = no_cq_op,
	.cq_release = no_cq_op,
	.req_identity = no_req_identity,
	.ep_identity = no_ep_identity,
	.ep_pass = no_ep_pass,
	.ep_take = no_ep_take,
	.ep_carry_max = no_ep_carry_max,
	.ep_quiet_ms = no_ep_quiet_ms,
	.ep_join = no_ep_join,
	.ep_seal = no_ep_seal,
	.srq_open = no_srq_open,
	.srq_close = no_srq_close,
	.srq_post_recv = no_srq_post_recv,
	.srq_limit = no_srq_limit,
};
