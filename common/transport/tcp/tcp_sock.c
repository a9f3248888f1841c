/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_sock.c - names and options of sockets, the last frame on them, and their congestion control.
 *
 * Connections within a host must not be paced. If the system's congestion control is BBR, a timer
 * paces all data. Within a host this is useless, and the timers and wake-ups cost a third of the
 * throughput. A socket that ever used BBR stays paced, so all sockets start without BBR. If the
 * peer is on another host, the socket switches to BBR before it sends data. Other congestion
 * controls are not changed, because some take part in the handshake.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/tcp/tcp.h"

/* name of a congestion control that every kernel has and that all users may choose */
#define UNPACED "reno"

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

static void set_option(int fd, int level, int option, int val)
{
	setsockopt(fd, level, option, &val, sizeof(val));
}

/*
 * A peer that is silent for dead_peer_ms counts as dead. While nothing is in flight, keepalive
 * detects this; otherwise tcp_pulse.c does. TCP_USER_TIMEOUT is not used, because it would also end
 * a connection to a program that is too busy to read.
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

	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle > 0 ? idle : 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, intvl > 0 ? intvl : 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
	set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
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
	tcp_hello_seal(&frame, buf + TCP_HEAD_LEN);
	tcp_frame_put(buf, &frame);
	send(fd, buf, TCP_HEAD_LEN + frame.len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void tcp_pace_init(struct tcp_dev *dev)
{
	socklen_t len = sizeof(dev->paced) - 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, dev->paced, &len) ||
	    strncmp(dev->paced, "bbr", 3) != 0)
		dev->paced[0] = '\0';
	close(fd);
}

/* If this fails, the connection still works with another congestion control. */
static void set_control(struct tcp_dev *dev, int fd, const char *name)
{
	if (!setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name,
			(socklen_t)strlen(name)) ||
	    atomic_exchange(&dev->pace_failed, true))
		return;
	log_info(dev->dev.log,
		 "tcp: congestion control %s cannot be set: %s; look at sysctl "
		 "net.ipv4.tcp_allowed_congestion_control",
		 name, strerror(errno));
}

void tcp_pace_begin(struct tcp_dev *dev, int fd)
{
	if (dev->paced[0])
		set_control(dev, fd, UNPACED);
}

/* Whether both ends are on one host: then they have the same address. */
static bool within_host(int fd)
{
	struct sockaddr_storage a = { 0 }, b = { 0 };
	socklen_t alen = sizeof(a), blen = sizeof(b);

	if (getsockname(fd, (struct sockaddr *)&a, &alen) ||
	    getpeername(fd, (struct sockaddr *)&b, &blen) ||
	    a.ss_family != b.ss_family)
		return false;
	if (a.ss_family == AF_INET6)
		return !memcmp(&((struct sockaddr_in6 *)&a)->sin6_addr,
			       &((struct sockaddr_in6 *)&b)->sin6_addr,
			       sizeof(struct in6_addr));
	return ((struct sockaddr_in *)&a)->sin_addr.s_addr ==
	       ((struct sockaddr_in *)&b)->sin_addr.s_addr;
}

void tcp_pace_connected(struct tcp_dev *dev, int fd)
{
	if (dev->paced[0] && !within_host(fd))
		set_control(dev, fd, dev->paced);
}
