/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_req.c - an accepted socket until the application accepts or rejects. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tcp.h"

static struct tcp_req *to_req(const struct tp_conn_req *base)
{
	return container_of(base, struct tcp_req, req);
}

void tcp_req_free(struct tcp_req *req)
{
	if (req->fd >= 0)
		close(req->fd);
	free(req);
}

/* Out of the listener's lists, timers and epoll set. */
static void leave_half(struct tcp_req *req)
{
	struct tcp_listener *l = req->listener;

	TAILQ_REMOVE(&l->half, req, link);
	l->nhalf--;
	tcp_timer_clear(l->cq, &req->timer);
	tcp_cq_del(l->cq, req->fd, &req->src);
}

void tcp_req_drop(struct tcp_req *req)
{
	leave_half(req);
	tcp_req_free(req);
}

static void give_up(struct tcp_req *req, const char *why)
{
	log_warn(req->req.dev->log, "%s: connect dropped: %s", req->peer, why);
	tcp_req_drop(req);
}

static void req_late(struct tcp_timer *timer)
{
	give_up(container_of(timer, struct tcp_req, timer),
		"no hello in time; a stranger, or the network loses packets");
}

/* Bytes to have before the next look. */
static int req_need(const struct tcp_req *req, unsigned int *need,
		    const char **why)
{
	struct tcp_frame frame;
	int rc;

	*need = TCP_HEAD_LEN;
	if (req->have < TCP_HEAD_LEN)
		return 0;
	rc = tcp_frame_get(req->buf, &frame, why);
	if (rc)
		return rc;
	if (frame.op != TCP_OP_CONNECT) {
		*why = "it does not begin with CONNECT";
		return -EPROTO;
	}
	*need = (unsigned int)tcp_frame_need(&frame);
	return 0;
}

static void req_complete(struct tcp_req *req)
{
	struct tcp_listener *l = req->listener;
	const char *why;
	int rc = tcp_hello_get(req->buf + TCP_HEAD_LEN,
			       req->have - TCP_HEAD_LEN, &req->hello, &why);

	if (rc) {
		/* names our version to it */
		tcp_sock_hello(req->fd, TCP_OP_REJECT, NULL, 0);
		give_up(req, why);
		return;
	}
	leave_half(req);
	TAILQ_INSERT_TAIL(&l->queued, req, link);
	l->nqueued++;
	tcp_event_queue(l->cq, &req->ev, TP_EV_CONNECT_REQUEST, 0);
}

/* 1: complete; 0: more to come; -1: dropped. */
static int req_read(struct tcp_req *req)
{
	const char *why = NULL;
	unsigned int need;
	ssize_t n;

	if (req_need(req, &need, &why)) {
		give_up(req, why);
		return -1;
	}
	if (req->have >= need && need > TCP_HEAD_LEN)
		return 1;
	n = recv(req->fd, req->buf + req->have, need - req->have, 0);
	if (n > 0) {
		req->have += (unsigned int)n;
		return req_read(req);
	}
	if (n < 0 && errno == EINTR)
		return req_read(req);
	if (n < 0 && errno == EAGAIN)
		return 0;
	give_up(req, n ? strerror(errno) : "it closed before its hello");
	return -1;
}

static void req_edge(struct tcp_src *src, uint32_t events)
{
	struct tcp_req *req = container_of(src, struct tcp_req, src);

	if (req_read(req) > 0)
		req_complete(req);
}

void tcp_req_new(struct tcp_listener *l, int fd, const struct sockaddr *sa)
{
	struct tcp_dev *dev = container_of(l->cq->cq.dev, struct tcp_dev, dev);
	struct tcp_req *req = calloc(1, sizeof(*req));

	if (!req || tcp_cq_add(l->cq, fd, &req->src, EPOLLIN | EPOLLRDHUP)) {
		log_error(dev->dev.log, "tcp: no memory for a connection");
		free(req);
		close(fd);
		return;
	}
	if (l->nhalf >= TCP_HALF_OPEN)
		give_up(TAILQ_FIRST(&l->half),
			"too many connects without a hello");
	req->req.dev = l->cq->cq.dev;
	req->src.ready = req_edge;
	req->timer.fire = req_late;
	req->ev.req = req;
	req->listener = l;
	req->fd = fd;
	tcp_sock_name(sa, req->peer, sizeof(req->peer));
	TAILQ_INSERT_TAIL(&l->half, req, link);
	l->nhalf++;
	tcp_timer_set(l->cq, &req->timer, clock_after_ms(dev->handshake_ms));
}

void tcp_req_taken(struct tcp_req *req)
{
	struct tcp_listener *l = req->listener;

	TAILQ_REMOVE(&l->queued, req, link);
	l->nqueued--;
	tcp_listener_resume(l);
	req->listener = NULL;
}

const void *tcp_req_private(const struct tp_conn_req *base, unsigned int *len)
{
	struct tcp_req *req = to_req(base);

	*len = req->hello.len;
	return req->hello.priv;
}

const char *tcp_req_peer(const struct tp_conn_req *base)
{
	return to_req(base)->peer;
}

void tcp_reject(struct tp_conn_req *base, const void *priv, unsigned int len)
{
	struct tcp_req *req = to_req(base);

	if (len > TP_PRIVATE_MAX)
		len = TP_PRIVATE_MAX;
	tcp_sock_hello(req->fd, TCP_OP_REJECT, priv, len);
	tcp_req_free(req);
}
