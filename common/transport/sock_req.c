/* SPDX-License-Identifier: BSD-2-Clause */
/* sock_req.c - an accepted socket, until the application accepts or rejects the connection. */
#include <errno.h>

#include "common/transport/sock.h"

static struct sock_req *to_req(const struct tp_conn_req *base)
{
	return container_of(base, struct sock_req, req);
}

void sock_req_free(struct sock_req *req)
{
	req->ops->req_free(req);
}

/* Removes req from the half-open list, the timers and the epoll set. */
static void leave_half(struct sock_req *req)
{
	struct sock_listener *l = req->listener;

	sock_timer_clear(l->cq, &req->timer);
	sock_cq_del(l->cq, req->fd, &req->src);
	TAILQ_REMOVE(&l->half, req, link);
	l->nhalf--;
}

void sock_req_drop(struct sock_req *req)
{
	leave_half(req);
	sock_req_free(req);
}

static void give_up(struct sock_req *req, const char *why)
{
	if (why)
		log_warn(req->req.dev->log, "%s: connect dropped: %s",
			 req->peer, why);
	sock_req_drop(req);
}

static void req_late(struct sock_timer *timer)
{
	struct sock_req *req = container_of(timer, struct sock_req, timer);

	give_up(req, req->ops->late);
}

static void req_complete(struct sock_req *req)
{
	struct sock_listener *l = req->listener;

	leave_half(req);
	req->req.scarce = sock_listener_scarce(l);
	TAILQ_INSERT_TAIL(&l->queued, req, link);
	l->nqueued++;
	tp_pending_queue(&l->cq->events, &req->ev, TP_EV_CONNECT_REQUEST, 0);
}

static void req_edge(struct sock_src *src, uint32_t events)
{
	struct sock_req *req = container_of(src, struct sock_req, src);
	const char *why = NULL;
	int rc = req->ops->req_read(req, &why);

	if (rc > 0)
		req_complete(req);
	else if (rc < 0)
		give_up(req, why);
}

/* The hello of the oldest request may have arrived unnoticed: read it first. */
static void make_room(struct sock_listener *l, unsigned int most)
{
	req_edge(&TAILQ_FIRST(&l->half)->src, 0);
	if (l->nhalf >= most)
		give_up(TAILQ_FIRST(&l->half),
			"too many connects without a hello");
}

static void join_half(struct sock_listener *l, struct sock_req *req)
{
	unsigned int most = sock_listener_half(l);

	while (l->nhalf >= most)
		make_room(l, most);
	TAILQ_INSERT_TAIL(&l->half, req, link);
	l->nhalf++;
	sock_timer_set(l->cq, &req->timer, clock_after_ms(l->handshake_ms));
}

static void no_memory(const struct sock_listener *l)
{
	const struct tp_dev *dev = l->listener.dev;

	log_error(dev->log, "%s: no memory for a connection", dev->ops->name);
}

void sock_req_new(struct sock_listener *l, int fd, const struct sockaddr *sa)
{
	struct sock_req *req = l->ops->req_new(l, fd, sa);

	if (!req) {
		no_memory(l);
		return;
	}
	req->req.dev = l->listener.dev;
	req->ops = l->ops;
	req->fd = fd;
	req->src.ready = req_edge;
	if (sock_cq_add(l->cq, fd, &req->src, EPOLLIN | EPOLLRDHUP)) {
		no_memory(l);
		sock_req_free(req);
		return;
	}
	req->timer.fire = req_late;
	req->ev.req = &req->req;
	req->ev.listener = &l->listener;
	req->ev.priv = &req->priv;
	req->listener = l;
	join_half(l, req);
}

void sock_req_taken(struct sock_req *req)
{
	struct sock_listener *l = req->listener;

	TAILQ_REMOVE(&l->queued, req, link);
	l->nqueued--;
	sock_listener_resume(l);
	req->listener = NULL;
}

int sock_req_look(const struct sock_req *req)
{
	char c;
	ssize_t n = recv(req->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n > 0)
		return -EPROTO;
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	return -ECONNRESET;
}

const void *sock_req_private(const struct tp_conn_req *base, unsigned int *len)
{
	const struct sock_req *req = to_req(base);

	*len = req->priv.len;
	return req->priv.data;
}

const char *sock_req_peer(const struct tp_conn_req *base)
{
	return to_req(base)->peer;
}

void sock_reject(struct tp_conn_req *base, const void *priv, unsigned int len)
{
	struct sock_req *req = to_req(base);

	req->ops->say_reject(req->fd, priv,
			     len < TP_PRIVATE_MAX ? len : TP_PRIVATE_MAX);
	sock_req_free(req);
}
