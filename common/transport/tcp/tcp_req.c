/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_req.c - reads the hello of a connector. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/tcp/tcp.h"

static struct tcp_req *to_req(struct sock_req *base)
{
	return container_of(base, struct tcp_req, sock);
}

void tcp_req_free(struct sock_req *base)
{
	if (base->fd >= 0)
		close(base->fd);
	free(to_req(base));
}

/* Sets *need to the bytes required before the next check. */
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

static int req_complete(struct tcp_req *req, const char **why)
{
	struct tcp_hello hello;
	int rc = tcp_hello_get(req->buf + TCP_HEAD_LEN,
			       req->have - TCP_HEAD_LEN, &hello, why);

	if (rc) { /* the REJECT tells the peer our version */
		tcp_sock_hello(req->sock.fd, TCP_OP_REJECT, NULL, 0);
		return rc;
	}
	tp_private_set(&req->sock.priv, hello.priv, hello.len);
	return 1;
}

int tcp_req_read(struct sock_req *base, const char **why)
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

struct sock_req *tcp_req_new(const struct sock_listener *l, int fd,
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
