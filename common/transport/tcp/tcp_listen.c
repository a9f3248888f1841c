/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_listen.c - the listening socket of a server, and the hello of a connector. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/tcp/tcp.h"

struct tcp_req {
	struct sock_req sock;
	unsigned int have;
	struct tcp_frame frame; /* its head, once that has arrived */
	uint8_t buf[TCP_HEAD_LEN + TCP_SMALL_MAX];
};

static struct tcp_req *to_req(struct sock_req *base)
{
	return container_of(base, struct tcp_req, sock);
}

static void req_free(struct sock_req *base)
{
	if (base->fd >= 0)
		close(base->fd);
	free(to_req(base));
}

/* Sets *need to the bytes required before the next check. */
static int req_need(struct tcp_req *req, unsigned int *need, const char **why)
{
	int rc;

	*need = TCP_HEAD_LEN;
	if (req->have < TCP_HEAD_LEN)
		return 0;
	rc = tcp_frame_get(req->buf, &req->frame, why);
	if (rc)
		return rc;
	if (req->frame.op != TCP_OP_CONNECT) {
		*why = "it does not begin with CONNECT";
		return -EPROTO;
	}
	req->sock.offers = req->frame.imm;
	*need = (unsigned int)tcp_frame_need(&req->frame);
	return 0;
}

static int req_complete(struct tcp_req *req, const char **why)
{
	const uint8_t *payload = req->buf + TCP_HEAD_LEN;
	struct tcp_hello hello;
	int rc;

	if (!tcp_hello_is_intact(&req->frame, payload)) {
		*why = TCP_CHANGED;
		return -EBADMSG;
	}
	rc = tcp_hello_get(payload, req->have - TCP_HEAD_LEN, &hello, why);
	if (rc) { /* the REJECT tells the peer our version */
		tcp_sock_hello(req->sock.fd, TCP_OP_REJECT, NULL, 0);
		return rc;
	}
	tp_private_set(&req->sock.priv, hello.priv, hello.len);
	return 1;
}

static int req_read(struct sock_req *base, const char **why)
{
	struct tcp_req *req = to_req(base);
	unsigned int need;
	ssize_t n;
	int rc;

	for (;;) {
		rc = req_need(req, &need, why);
		if (rc)
			return rc;
		if (req->have >= need && need > TCP_HEAD_LEN)
			return req_complete(req, why);
		n = recv(base->fd, req->buf + req->have, need - req->have, 0);
		if (n > 0)
			req->have += (unsigned int)n;
		else if (n == 0 || errno != EINTR)
			break;
	}
	if (n < 0 && errno == EAGAIN)
		return 0;
	*why = n ? strerror(errno) : "it closed before its hello";
	return -ECONNRESET;
}

static struct sock_req *req_new(const struct sock_listener *l, int fd,
				const struct sockaddr *sa)
{
	struct tcp_req *req = calloc(1, sizeof(*req));

	if (!req) {
		close(fd);
		return NULL;
	}
	tcp_sock_name(sa, req->sock.peer, sizeof(req->sock.peer));
	return &req->sock;
}

static int bind_one(struct tcp_dev *dev, const struct addrinfo *ai, int backlog)
{
	const int on = 1;
	int fd = socket(ai->ai_family,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	tcp_pace_begin(dev, fd);
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 &&
	    listen(fd, backlog) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
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

static int open_socket(struct tp_dev *dev, struct addr *addr, int backlog)
{
	struct addrinfo *list, *ai;
	int fd = tcp_resolve(dev->log, addr, true, &list);

	if (fd < 0)
		return fd;
	fd = -EADDRNOTAVAIL;
	for (ai = list; ai && fd < 0; ai = ai->ai_next)
		fd = bind_one(container_of(dev, struct tcp_dev, dev), ai,
			      backlog);
	freeaddrinfo(list);
	if (fd < 0)
		log_error(dev->log, "tcp: cannot listen on %s:%u: %s%s",
			  addr->host, addr->port, strerror(-fd),
			  sock_listen_fix(fd));
	else
		addr->port = local_port(fd);
	return fd;
}

static void send_reject(int fd, const void *priv, unsigned int len)
{
	tcp_sock_hello(fd, TCP_OP_REJECT, priv, len);
}

int tcp_listen(struct tp_cq *base, const struct addr *addr, int backlog,
	       struct tp_listener **out)
{
	static const struct sock_accept_ops ops = {
		.open = open_socket,
		.req_new = req_new,
		.req_read = req_read,
		.send_reject = send_reject,
		.req_free = req_free,
		.late = "no hello in time; not a PVFS client, or the network "
			"loses packets",
	};
	const struct tcp_dev *dev = container_of(base->dev, struct tcp_dev,
						 dev);

	return sock_listen(container_of(base, struct sock_cq, cq), &ops, addr,
			   backlog, dev->handshake_ms, out);
}
