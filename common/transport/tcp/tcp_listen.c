/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_listen.c - the listening socket of a server. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/tcp/tcp.h"

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

static void say_reject(int fd, const void *priv, unsigned int len)
{
	tcp_sock_hello(fd, TCP_OP_REJECT, priv, len);
}

int tcp_listen(struct tp_cq *base, const struct addr *addr, int backlog,
	       struct tp_listener **out)
{
	static const struct sock_accept_ops ops = {
		.open = open_socket,
		.req_new = tcp_req_new,
		.req_read = tcp_req_read,
		.say_reject = say_reject,
		.req_free = tcp_req_free,
		.late = "no hello in time; not a PVFS client, or the network "
			"loses packets",
	};
	const struct tcp_dev *dev = container_of(base->dev, struct tcp_dev,
						 dev);

	return sock_listen(container_of(base, struct sock_cq, cq), &ops, addr,
			   backlog, dev->handshake_ms, out);
}
