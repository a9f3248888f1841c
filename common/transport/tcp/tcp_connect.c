/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_connect.c - how connections begin and are closed, and what happens on their sockets:
 *
 *	IDLE --connect--> CONNECTING --writable--> HELLO --ACCEPT--> UP
 *	IDLE --accept---------------------------------------------> UP
 *
 * and from each of them to BROKEN.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/tcp/tcp.h"

static bool has_to_send(const struct tcp_ep *ep)
{
	return !STAILQ_EMPTY(&ep->sq.out) || !STAILQ_EMPTY(&ep->sq.wait) ||
	       (ep->seal && records_out_left(&ep->seal->out));
}

static void socket_writable(struct tcp_ep *ep)
{
	ep->sq.full = false;
	if (has_to_send(ep))
		tcp_ep_mark_dirty(ep);
	else
		tcp_ep_set_mask(ep, ep->mask & ~(uint32_t)EPOLLOUT);
}

static int queue_hello(struct tcp_ep *ep, enum tcp_op op, uint32_t imm,
		       const void *priv, unsigned int len)
{
	uint8_t buf[TCP_SMALL_MAX];
	struct tcp_frame frame = { .op = op, .imm = imm };

	frame.len = tcp_hello_put(buf, priv, len);
	tcp_hello_seal(&frame, buf);
	return tcp_tx_small(ep, &frame, buf, frame.len);
}

/* connect(2) returns EINVAL or EACCES for blackhole and prohibit routes. */
static int connect_status(int err)
{
	return err == EINVAL || err == EACCES ? -ENETUNREACH : -err;
}

static void connect_step(struct tcp_ep *ep);

static void ep_edge(struct sock_src *src, uint32_t events)
{
	struct tcp_ep *ep = container_of(src, struct tcp_ep, src);

	if (ep->state == TCP_EP_CONNECTING) {
		connect_step(ep);
		return;
	}
	if (events & EPOLLOUT)
		socket_writable(ep);
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		ep->rx.hup = true;
	if (events & EPOLLERR)
		ep->rx.error = true;
	if (events & ~(uint32_t)EPOLLOUT) {
		ep->rx.readable = true;
		tcp_ep_mark_ready(ep);
	}
}

int tcp_ep_attach(struct tcp_ep *ep, int fd, uint32_t mask)
{
	int rc;

	ep->src.ready = ep_edge;
	rc = sock_cq_add(&ep->cq->sock, fd, &ep->src, mask);
	if (rc)
		return rc;
	ep->fd = fd;
	ep->mask = mask;
	TAILQ_INSERT_TAIL(&ep->cq->open, ep, open_link);
	tcp_pulse_resume(ep->cq);
	return 0;
}

/* Opens the socket of one address and starts its connect. -errno. */
static int connect_one(struct tcp_ep *ep, const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	tcp_sock_tune(tcp_ep_dev(ep), fd);
	tcp_pace_begin(tcp_ep_dev(ep), fd);
	tcp_sock_name(ai->ai_addr, ep->peer, sizeof(ep->peer));
	rc = connect(fd, ai->ai_addr, ai->ai_addrlen) && errno != EINPROGRESS
		     ? connect_status(errno)
		     : tcp_ep_attach(ep, fd, EPOLLIN | EPOLLRDHUP | EPOLLOUT);
	if (rc)
		close(fd);
	return rc;
}

/* Tries the addresses in turn until one connect is in progress. */
static void connect_next(struct tcp_ep *ep, int status)
{
	while (ep->addr_next) {
		const struct addrinfo *ai = ep->addr_next;

		ep->addr_next = ai->ai_next;
		status = connect_one(ep, ai);
		if (status == 0)
			return;
	}
	log_debug(ep->ep.dev->log, "%s: cannot connect: %s", ep->peer,
		  strerror(-status));
	tcp_ep_break(ep, status, 0);
}

/* The socket became writable or failed in state CONNECTING. */
static void connect_step(struct tcp_ep *ep)
{
	int err = 0;
	socklen_t len = sizeof(err);

	if (getsockopt(ep->fd, SOL_SOCKET, SO_ERROR, &err, &len))
		err = errno;
	if (err) {
		tcp_ep_detach(ep);
		connect_next(ep, -err);
		return;
	}
	tcp_pace_connected(tcp_ep_dev(ep), ep->fd);
	ep->state = TCP_EP_HELLO;
	tcp_ep_set_mask(ep, EPOLLIN | EPOLLRDHUP);
	if (queue_hello(ep, TCP_OP_CONNECT, TCP_CHECKS, ep->priv.data,
			ep->priv.len))
		tcp_ep_break(ep, -ENOMEM, 0);
}

int tcp_connect(struct tp_ep *base, const struct addr *addr, const void *priv,
		unsigned int len, uint64_t deadline)
{
	struct tcp_ep *ep = container_of(base, struct tcp_ep, ep);
	int rc;

	if (ep->state != TCP_EP_IDLE || len > TP_PRIVATE_MAX)
		return -EINVAL;
	if (ep->cq->sock.lost)
		return -EBADFD;
	rc = tcp_resolve(base->hushed ? NULL : base->dev->log, addr, false,
			 &ep->addrs);
	if (rc)
		return rc;
	ep->state = TCP_EP_CONNECTING;
	ep->addr_next = ep->addrs;
	tp_private_set(&ep->priv, priv, len);
	if (deadline != CLOCK_NEVER)
		sock_timer_set(&ep->cq->sock, &ep->timer, deadline);
	connect_next(ep, -EHOSTUNREACH);
	return 0;
}

static void connection_up(struct tcp_ep *ep)
{
	ep->state = TCP_EP_UP;
	tp_pending_queue(&ep->cq->sock.events, &ep->started, TP_EV_ESTABLISHED,
			 0);
}

static void take_hello(struct tcp_ep *ep, const struct tcp_hello *hello)
{
	sock_timer_clear(&ep->cq->sock, &ep->timer);
	freeaddrinfo(ep->addrs);
	ep->addrs = NULL;
	tp_private_set(&ep->priv, hello->priv, hello->len);
}

/* As a break, but the event is REJECTED. */
static void connection_rejected(struct tcp_ep *ep)
{
	tcp_ep_break(ep, -ECONNREFUSED, 0);
	tp_pending_drop(&ep->cq->sock.events, &ep->ended);
	tp_pending_queue(&ep->cq->sock.events, &ep->started, TP_EV_REJECTED,
			 -ECONNREFUSED);
}

int tcp_connect_answer(struct tcp_ep *ep, const struct tcp_frame *frame,
		       const uint8_t *payload)
{
	struct tcp_hello hello;
	const char *why;
	int rc = tcp_hello_get(payload, frame->len, &hello, &why);

	if (rc == -EPROTOTYPE)
		return tcp_ep_not_pvfs(ep);
	if (rc)
		return tcp_rx_refuse(ep, rc, why);
	take_hello(ep, &hello);
	if (frame->op == TCP_OP_REJECT) {
		connection_rejected(ep);
		return -ECONNREFUSED;
	}
	if (frame->imm & TCP_CHECKS)
		ep->check_len = TCP_CHECK_LEN;
	connection_up(ep);
	return 0;
}

static int accept_socket(struct tcp_ep *ep, struct sock_req *req,
			 const void *priv, unsigned int len)
{
	int rc = tcp_ep_attach(ep, req->fd, EPOLLIN | EPOLLRDHUP);

	if (rc)
		return rc;
	ep->pulse.asks = true;
	req->fd = -1;
	tcp_sock_tune(tcp_ep_dev(ep), ep->fd);
	tcp_pace_connected(tcp_ep_dev(ep), ep->fd);
	connection_up(ep);
	rc = queue_hello(ep, TCP_OP_ACCEPT, req->offers & TCP_CHECKS, priv,
			 len);
	if (req->offers & TCP_CHECKS)
		ep->check_len = TCP_CHECK_LEN;
	if (rc)
		tcp_ep_break(ep, rc, 0);
	return 0;
}

int tcp_accept(struct tp_ep *base, struct tp_conn_req *base_req,
	       const void *priv, unsigned int len)
{
	struct tcp_ep *ep = container_of(base, struct tcp_ep, ep);
	struct sock_req *req = container_of(base_req, struct sock_req, req);
	int rc = -EINVAL, gone;

	if (ep->state != TCP_EP_IDLE || len > TP_PRIVATE_MAX)
		goto free_req;
	strcpy(ep->peer, req->peer);
	gone = sock_req_check(req);
	if (gone) {
		tcp_ep_break(ep, gone, 0);
		rc = 0;
	} else {
		rc = accept_socket(ep, req, priv, len);
	}
free_req:
	sock_req_free(req);
	return rc;
}

/* Sends no BYE if the endpoint is not established: the peer would not read it. */
static void send_bye(struct tcp_ep *ep)
{
	const struct tcp_frame bye = { .op = TCP_OP_BYE };

	if (ep->state != TCP_EP_UP || tcp_tx_small(ep, &bye, NULL, 0))
		return;
	if (!ep->sq.full)
		tcp_flush(ep);
}

void tcp_ep_close(struct tp_ep *base)
{
	struct tcp_ep *ep = container_of(base, struct tcp_ep, ep);

	send_bye(ep);
	tcp_ep_free(ep);
}
