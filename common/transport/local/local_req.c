/* SPDX-License-Identifier: BSD-2-Clause */
/* local_req.c - connections that came in and are not accepted yet. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "local.h"

static struct local_req *to_req(const struct tp_conn_req *base)
{
	return container_of(base, struct local_req, req);
}

void local_req_free(struct local_req *req)
{
	if (req->fd >= 0)
		close(req->fd);
	if (req->table >= 0)
		close(req->table);
	free(req);
}

/* The cq has nothing to do with it any more. */
static void leave_half(struct local_req *req)
{
	struct local_listener *l = req->listener;

	local_timer_clear(l->cq, &req->timer);
	local_cq_del(l->cq, req->fd, &req->src);
	TAILQ_REMOVE(&l->half, req, link);
	l->nhalf--;
}

void local_req_drop(struct local_req *req)
{
	leave_half(req);
	local_req_free(req);
}

static void give_up(struct local_req *req, const char *why)
{
	log_warn(req->req.dev->log, "%s: dropped: %s", req->peer, why);
	local_req_drop(req);
}

static void req_late(struct local_timer *timer)
{
	give_up(container_of(timer, struct local_req, timer),
		"no hello in time");
}

int local_req_look(const struct local_req *req)
{
	char c;
	ssize_t n = recv(req->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n > 0)
		return -EPROTO;
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	return -ECONNRESET;
}

static void req_complete(struct local_req *req)
{
	struct local_listener *l = req->listener;

	leave_half(req);
	TAILQ_INSERT_TAIL(&l->queued, req, link);
	l->nqueued++;
	local_event_queue(l->cq, &req->ev, TP_EV_CONNECT_REQUEST, 0);
}

static void req_read(struct local_req *req)
{
	int fds[LOCAL_FDS], rc;
	const char *why = "it closed before its hello";

	rc = local_hello_recv(req->fd, &req->hello, fds, &why);
	if (rc == -EAGAIN)
		return;
	if (rc == 0 &&
	    (req->hello.type != LOCAL_CONNECT || req->hello.nfds > 1)) {
		why = "it does not begin with a connect";
		local_fds_close(fds, req->hello.nfds);
		rc = -EPROTO;
	}
	if (rc) {
		if (rc == -EPROTO) /* names our version to it */
			local_hello_send(req->fd, LOCAL_REJECT, NULL, 0, NULL,
					 0);
		give_up(req, why);
		return;
	}
	if (req->hello.nfds)
		req->table = fds[0];
	if (local_req_look(req))
		local_req_drop(req); /* it left again */
	else
		req_complete(req);
}

static void req_edge(struct local_src *src, uint32_t events)
{
	req_read(container_of(src, struct local_req, src));
}

void local_req_new(struct local_listener *l, int fd)
{
	struct local_dev *dev = local_dev(l->cq->cq.dev);
	struct local_req *req = calloc(1, sizeof(*req));
	struct tp_identity id = { 0 };

	if (!req || local_sock_peer(fd, &id) ||
	    local_cq_add(l->cq, fd, &req->src, EPOLLIN | EPOLLRDHUP)) {
		log_error(dev->dev.log, "local: no memory for a connection");
		free(req);
		close(fd);
		return;
	}
	if (l->nhalf >= LOCAL_HALF_OPEN)
		give_up(TAILQ_FIRST(&l->half),
			"too many connects without a hello");
	req->req.dev = l->cq->cq.dev;
	req->src.ready = req_edge;
	req->timer.fire = req_late;
	req->ev.req = req;
	req->listener = l;
	req->fd = fd;
	req->table = -1;
	req->id = id;
	snprintf(req->peer, sizeof(req->peer), "local pid %d uid %u at %s:%u",
		 id.pid, id.uid, l->addr.host, l->addr.port);
	TAILQ_INSERT_TAIL(&l->half, req, link);
	l->nhalf++;
	local_timer_set(l->cq, &req->timer, clock_after_ms(dev->handshake_ms));
}

void local_req_taken(struct local_req *req)
{
	struct local_listener *l = req->listener;

	TAILQ_REMOVE(&l->queued, req, link);
	l->nqueued--;
	local_listener_resume(l);
	req->listener = NULL;
}

const void *local_req_private(const struct tp_conn_req *base, unsigned int *len)
{
	struct local_req *req = to_req(base);

	*len = req->hello.priv_len;
	return req->hello.priv;
}

const char *local_req_peer(const struct tp_conn_req *base)
{
	return to_req(base)->peer;
}

int local_req_identity(const struct tp_conn_req *base, struct tp_identity *id)
{
	*id = to_req(base)->id;
	return 0;
}

void local_reject(struct tp_conn_req *base, const void *priv, unsigned int len)
{
	struct local_req *req = to_req(base);

	if (len > TP_PRIVATE_MAX)
		len = TP_PRIVATE_MAX;
	local_hello_send(req->fd, LOCAL_REJECT, priv, len, NULL, 0);
	local_req_free(req);
}
