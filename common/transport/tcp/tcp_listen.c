/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_listen.c - listening, and accepting no faster than can be handled. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tcp.h"

#define ACCEPT_TURN 16
#define STARVED_MS 100 /* until the next try when descriptors ran out */

static struct tcp_listener *to_listener(const struct tp_listener *base)
{
	return container_of(base, struct tcp_listener, listener);
}

void tcp_listener_wait(struct tcp_listener *l)
{
	if (!l->more)
		return;
	l->more = false;
	TAILQ_REMOVE(&l->cq->listeners, l, more_link);
}

void tcp_listener_resume(struct tcp_listener *l)
{
	if (l->more)
		return;
	l->more = true;
	TAILQ_INSERT_TAIL(&l->cq->listeners, l, more_link);
}

static void listener_edge(struct tcp_src *src, uint32_t events)
{
	tcp_listener_resume(container_of(src, struct tcp_listener, src));
}

static void listener_retry(struct tcp_timer *timer)
{
	tcp_listener_resume(container_of(timer, struct tcp_listener, retry));
}

static void starved(struct tcp_listener *l, int err)
{
	if (!l->starved)
		log_error(l->cq->cq.dev->log,
			  "tcp: cannot accept on %s:%u: %s; raise the open "
			  "files limit",
			  l->addr.host, l->addr.port, strerror(err));
	l->starved = true;
	tcp_listener_wait(l);
	tcp_timer_set(l->cq, &l->retry, clock_after_ms(STARVED_MS));
}

/* False: no more now. */
static bool accept_one(struct tcp_listener *l)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int fd = accept4(l->fd, (struct sockaddr *)&sa, &len,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0) {
		l->starved = false;
		tcp_req_new(l, fd, (struct sockaddr *)&sa);
		return true;
	}
	switch (errno) {
	case EAGAIN:
		tcp_listener_wait(l);
		return false;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		starved(l, errno);
		return false;
	default: /* that one connection failed */
		return true;
	}
}

void tcp_listener_more(struct tcp_listener *l)
{
	int turn;

	for (turn = 0; turn < ACCEPT_TURN; turn++) {
		if (l->nqueued >= TCP_HALF_OPEN) {
			tcp_listener_wait(l);
			return;
		}
		if (!accept_one(l))
			return;
	}
}

static int bind_one(const struct addrinfo *ai, int backlog)
{
	const int on = 1;
	int fd = socket(ai->ai_family,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 &&
	    listen(fd, backlog > 0 ? backlog : SOMAXCONN) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

static int open_socket(const struct tp_dev *dev, const struct addr *addr,
		       int backlog)
{
	struct addrinfo *list, *ai;
	int fd = tcp_resolve(dev, addr, true, &list);

	if (fd < 0)
		return fd;
	fd = -EADDRNOTAVAIL;
	for (ai = list; ai && fd < 0; ai = ai->ai_next)
		fd = bind_one(ai, backlog);
	freeaddrinfo(list);
	if (fd < 0)
		log_error(dev->log, "tcp: cannot listen on %s:%u: %s",
			  addr->host, addr->port, strerror(-fd));
	return fd;
}

static uint16_t local_port(int fd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	if (getsockname(fd, (struct sockaddr *)&sa, &len))
		return 0;
	return ntohs(sa.ss_family == AF_INET6
			     ? ((struct sockaddr_in6 *)&sa)->sin6_port
			     : ((struct sockaddr_in *)&sa)->sin_port);
}

int tcp_listen(struct tp_cq *base, const struct addr *addr, int backlog,
	       struct tp_listener **out)
{
	struct tcp_cq *cq = container_of(base, struct tcp_cq, cq);
	struct tcp_listener *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return -ENOMEM;
	l->listener.dev = base->dev;
	l->src.ready = listener_edge;
	l->retry.fire = listener_retry;
	l->cq = cq;
	TAILQ_INIT(&l->half);
	TAILQ_INIT(&l->queued);
	rc = l->fd = open_socket(base->dev, addr, backlog);
	if (rc < 0)
		goto free_l;
	l->addr = *addr;
	l->addr.port = local_port(l->fd);
	rc = tcp_cq_add(cq, l->fd, &l->src, EPOLLIN);
	if (rc)
		goto close_fd;
	*out = &l->listener;
	return 0;
close_fd:
	close(l->fd);
free_l:
	free(l);
	return rc;
}

void tcp_listener_addr(const struct tp_listener *base, struct addr *addr)
{
	*addr = to_listener(base)->addr;
}

void tcp_unlisten(struct tp_listener *base)
{
	struct tcp_listener *l = to_listener(base);
	struct tcp_req *req;

	while ((req = TAILQ_FIRST(&l->half)))
		tcp_req_drop(req);
	while ((req = TAILQ_FIRST(&l->queued))) {
		tcp_event_drop(l->cq, &req->ev);
		tcp_req_taken(req);
		tcp_reject(&req->req, NULL, 0);
	}
	tcp_listener_wait(l);
	tcp_timer_clear(l->cq, &l->retry);
	tcp_cq_del(l->cq, l->fd, &l->src);
	close(l->fd);
	free(l);
}
