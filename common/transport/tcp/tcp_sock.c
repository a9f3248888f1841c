/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_sock.c - names and options of sockets, and the last frame on them. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#include "common/transport/tcp/tcp.h"

int tcp_resolve(const struct log *log, const struct addr *addr, bool passive,
		struct addrinfo **list)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV | AI_NUMERICHOST |
			    (passive ? AI_PASSIVE : 0),
	};
	char port[8];
	int rc;

	snprintf(port, sizeof(port), "%u", addr->port);
	rc = getaddrinfo(addr->host, port, &hints, list);
	if (rc == EAI_NONAME) {
		hints.ai_flags &= ~AI_NUMERICHOST;
		rc = getaddrinfo(addr->host, port, &hints, list);
	}
	if (rc == 0)
		return 0;
	log_error(log, "tcp: host \"%s\": %s; correct the name or the resolver",
		  addr->host, gai_strerror(rc));
	return -EHOSTUNREACH;
}

static void set(int fd, int level, int option, int val)
{
	setsockopt(fd, level, option, &val, sizeof(val));
}

/*
 * A silent peer is gone after dead_peer_ms. Keepalive detects it when nothing is in flight, else
 * tcp_pulse.c does. TCP_USER_TIMEOUT would also end a connection to a program that is too busy to
 * read.
 *
 * The kernel chooses the buffer sizes. With transfers of 4 MiB over loopback, SO_SNDBUF of 4 MiB
 * helped only in the first 0.1 s of a connection. 1 MiB, and SO_RCVBUF, had no clear effect.
 * Setting a size also disables the kernel's tuning permanently, and limits the buffer to wmem_max
 * or rmem_max (208 KiB by default).
 */
void tcp_sock_tune(const struct tcp_dev *dev, int fd)
{
	int idle = (int)(dev->dead_peer_ms / 3000);
	int intvl = (int)(dev->dead_peer_ms / 6000);

	set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle > 0 ? idle : 1);
	set(fd, IPPROTO_TCP, TCP_KEEPINTVL, intvl > 0 ? intvl : 1);
	set(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
	set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

void tcp_sock_name(const struct sockaddr *sa, char *buf, size_t len)
{
	char host[INET6_ADDRSTRLEN + 20], port[8];
	socklen_t sa_len = sa->sa_family == AF_INET6
				   ? sizeof(struct sockaddr_in6)
				   : sizeof(struct sockaddr_in);
	bool v6 = sa->sa_family == AF_INET6;

	if (getnameinfo(sa, sa_len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV)) {
		snprintf(buf, len, "tcp ?");
		return;
	}
	snprintf(buf, len, "tcp %s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "",
		 port);
}

void tcp_sock_reset_on_close(int fd)
{
	const struct linger now = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

void tcp_sock_hello(int fd, enum tcp_op op, const void *priv, unsigned int len)
{
	uint8_t buf[TCP_HEAD_LEN + TCP_SMALL_MAX];
	struct tcp_frame frame = { .op = op };

	frame.len = tcp_hello_put(buf + TCP_HEAD_LEN, priv, len);
	tcp_frame_put(buf, &frame);
	send(fd, buf, TCP_HEAD_LEN + frame.len, MSG_DONTWAIT | MSG_NOSIGNAL);
}
