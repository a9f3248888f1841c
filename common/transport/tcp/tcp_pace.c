/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_pace.c - disables pacing for connections within a host.
 *
 * If the system's congestion control is BBR, a timer paces what is sent. Within a host no network
 * needs this, and the timers and wake-ups cost a third of the throughput. A socket that ever used
 * BBR stays paced. So all sockets start without BBR. A socket whose peer is on another host
 * switches to BBR before it sends data. Other congestion controls are not changed: some take part
 * in the handshake.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/tcp/tcp.h"

#define UNPACED "reno" /* every kernel has it and allows it for all users */

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
static void control(struct tcp_dev *dev, int fd, const char *name)
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
		control(dev, fd, UNPACED);
}

/* A connection within a host has the same address at both ends. */
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
		control(dev, fd, dev->paced);
}
