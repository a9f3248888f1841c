/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_cq.c - the progress context: polling, sleeping, completions. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/transport/tcp/tcp.h"

/* polls that skip epoll after a wait; another wait follows them anyway */
#define LAZY_POLLS 2

static struct tcp_cq *to_cq(struct tp_cq *base)
{
	return container_of(base, struct tcp_cq, sock.cq);
}

int tcp_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **out)
{
	struct sock_cq *base;
	struct tcp_cq *cq;
	int rc = sock_cq_new(dev, depth, sizeof(*cq), &base);

	if (rc)
		return rc;
	cq = to_cq(&base->cq);
	TAILQ_INIT(&cq->dirty);
	TAILQ_INIT(&cq->ready);
	TAILQ_INIT(&cq->done);
	STAILQ_INIT(&cq->spare);
	tcp_pulse_init(cq);
	*out = &cq->sock.cq;
	return 0;
}

static void spare_free(struct tcp_cq *cq)
{
	struct tcp_tx *tx;

	while ((tx = STAILQ_FIRST(&cq->spare))) {
		STAILQ_REMOVE_HEAD(&cq->spare, link);
		free(tx);
	}
}

void tcp_cq_close(struct tp_cq *base)
{
	struct tcp_cq *cq = to_cq(base);

	sock_cq_fini(&cq->sock);
	spare_free(cq);
	free(cq);
}

/* Does not change the epoll set: the child shares it with the parent. */
void tcp_cq_abandon(struct tp_cq *base)
{
	struct tcp_dev *dev = container_of(base->dev, struct tcp_dev, dev);
	struct tcp_cq *cq = to_cq(base);
	struct tcp_ep *ep;

	if (dev->zero_fd >= 0)
		close(dev->zero_fd);
	dev->zero_fd = -1;
	TAILQ_FOREACH(ep, &cq->open, open_link)
		close(ep->fd);
	sock_cq_fini(&cq->sock);
}

/* One turn per endpoint: those that become dirty again wait for the next call. */
static void flush_dirty(struct tcp_cq *cq)
{
	struct tcp_ep *last = TAILQ_LAST(&cq->dirty, tcp_eps), *ep;

	if (!last)
		return;
	do {
		ep = TAILQ_FIRST(&cq->dirty);
		TAILQ_REMOVE(&cq->dirty, ep, dirty_link);
		ep->dirty = false;
		tcp_flush(ep);
	} while (ep != last);
}

static void recv_ready(struct tcp_cq *cq)
{
	struct tcp_ep *last = TAILQ_LAST(&cq->ready, tcp_eps), *ep;

	if (!last)
		return;
	do {
		ep = TAILQ_FIRST(&cq->ready);
		TAILQ_REMOVE(&cq->ready, ep, ready_link);
		ep->ready = false;
		tcp_recv(ep);
	} while (ep != last);
}

static int take_completions(struct tcp_cq *cq, struct tp_wc *wc, int n)
{
	struct tcp_ep *ep;
	int total = 0;

	while (total < n && (ep = TAILQ_FIRST(&cq->done))) {
		total += tcp_completions_take(ep, wc + total, n - total);
		TAILQ_REMOVE(&cq->done, ep, done_link);
		ep->done = false;
		tcp_ep_list_completions(ep);
	}
	return total;
}

static void check_epoll(struct tcp_cq *cq)
{
	struct tcp_ep *ep;

	sock_cq_fetch(&cq->sock, 0);
	while (cq->sock.lost && (ep = TAILQ_FIRST(&cq->open)))
		tcp_ep_break(ep, -EBADFD, 0);
}

int tcp_cq_poll(struct tp_cq *base, struct tp_wc *wc, int n)
{
	struct tcp_cq *cq = to_cq(base);

	sock_cq_awake(&cq->sock);
	flush_dirty(cq);
	if (cq->sock.nsaved == 0) {
		if (cq->lazy)
			cq->lazy--;
		else
			check_epoll(cq);
	}
	sock_cq_edges(&cq->sock);
	recv_ready(cq);
	flush_dirty(cq);
	return take_completions(cq, wc, n);
}

static bool has_work(const struct tcp_cq *cq)
{
	return sock_cq_has_work(&cq->sock) || !TAILQ_EMPTY(&cq->done) ||
	       !TAILQ_EMPTY(&cq->ready) || !TAILQ_EMPTY(&cq->dirty);
}

int tcp_cq_wait(struct tp_cq *base, uint64_t deadline)
{
	struct tcp_cq *cq = to_cq(base);
	int rc;

	flush_dirty(cq);
	if (has_work(cq))
		return 0;
	rc = sock_cq_sleep(&cq->sock, deadline);
	if (cq->sock.nsaved)
		cq->lazy = LAZY_POLLS;
	return rc;
}

int tcp_cq_arm(struct tp_cq *base)
{
	struct tcp_cq *cq = to_cq(base);

	flush_dirty(cq);
	cq->lazy = 0;
	return has_work(cq) || !sock_cq_may_sleep(&cq->sock);
}
