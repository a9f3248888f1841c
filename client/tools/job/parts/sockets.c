/* SPDX-License-Identifier: BSD-2-Clause */
/* sockets.c - see sockets.h. */
#include "client/tools/job/parts/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/number.h"
#include "common/util/random_id.h"

static int sockaddr_of(const char *ip, unsigned int port,
		       struct sockaddr_in *sa)
{
	*sa = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port) };
	return inet_pton(AF_INET, ip, &sa->sin_addr) == 1 && port < 65536
		       ? 0
		       : -EINVAL;
}

static int finish_connect(int fd, uint64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int err = 0;
	socklen_t len = sizeof(err);

	while (poll(&p, 1, clock_left_ms(deadline)) < 0)
		if (errno != EINTR)
			return -errno;
	if (!p.revents)
		return -ETIMEDOUT;
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	return -err;
}

int job_connect(const char *ip, unsigned int port, uint64_t deadline)
{
	struct sockaddr_in sa;
	int fd, rc = sockaddr_of(ip, port, &sa);

	if (rc)
		return rc;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		rc = errno == EINPROGRESS ? finish_connect(fd, deadline)
					  : -errno;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int job_listen(const char *ip, unsigned int *port)
{
	struct sockaddr_in sa;
	socklen_t len = sizeof(sa);
	int fd, rc = sockaddr_of(ip, *port, &sa);

	if (rc)
		return rc;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ||
	    listen(fd, SOMAXCONN) ||
	    getsockname(fd, (struct sockaddr *)&sa, &len)) {
		rc = -errno;
		close(fd);
		return rc;
	}
	*port = ntohs(sa.sin_port);
	return fd;
}

int job_parse_addr(const char *text, struct job_addr *addr)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	struct sockaddr_in sa;
	struct job_addr a;
	uint64_t port;

	if (!len || len >= sizeof(a.ip) ||
	    number_parse(colon + 1, 65535, &port) || !port)
		return -EINVAL;
	memcpy(a.ip, text, len);
	a.ip[len] = '\0';
	a.port = (unsigned int)port;
	if (sockaddr_of(a.ip, a.port, &sa))
		return -EINVAL;
	*addr = a;
	return 0;
}

/* ---- ports that stay reserved ---- */

/* Below 32768, where the ports begin that Linux assigns. */
#define PORT_FIRST 10000u
#define PORT_COUNT 22000u

static int bind_to(int fd, const char *ip, unsigned int port)
{
	struct sockaddr_in sa;
	int on = 1, rc = sockaddr_of(ip, port, &sa);

	if (rc)
		return rc;
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)))
		return -errno;
	/* after bind(), so that others who bind without the option are refused */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return 0;
}

int port_reserve(const char *ip, unsigned int *port)
{
	int fd, rc = -EADDRINUSE;

	for (int try = 0; rc == -EADDRINUSE && try < 200; try++) {
		uint32_t r;
		unsigned int p;

		if (random_bytes(&r, sizeof(r)))
			return -EIO;
		p = PORT_FIRST + r % PORT_COUNT;
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return -errno;
		rc = bind_to(fd, ip, p);
		if (!rc) {
			*port = p;
			return fd;
		}
		close(fd);
	}
	return rc;
}

bool sockets_are_short(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOBUFS ||
	       err == ENOMEM;
}
