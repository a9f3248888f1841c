/* SPDX-License-Identifier: BSD-2-Clause */
/* words.c - the words of lines, and sockets for lines. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "client/tools/job/parts/job.h"
#include "client/tools/job/parts/link.h"

void link_escape(const char *text, char *out)
{
	static const char hex[] = "0123456789abcdef";

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c > ' ' && c != '%' && c != 0x7f) {
			*out++ = (char)c;
			continue;
		}
		*out++ = '%';
		*out++ = hex[c >> 4];
		*out++ = hex[c & 15];
	}
	*out = '\0';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int link_unescape(char *text)
{
	char *out = text;

	for (; *text; text++) {
		int high, low;

		if (*text != '%') {
			*out++ = *text;
			continue;
		}
		high = hex_digit(text[1]);
		low = high < 0 ? -1 : hex_digit(text[2]);
		if (low < 0 || (!high && !low))
			return -EINVAL;
		*out++ = (char)(high << 4 | low);
		text += 2;
	}
	*out = '\0';
	return 0;
}

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

int link_connect(const char *ip, unsigned int port, uint64_t deadline)
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

int link_listen(const char *ip, unsigned int *port)
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
	char *end;
	unsigned long port;

	if (!len || len >= sizeof(a.ip))
		return -EINVAL;
	memcpy(a.ip, text, len);
	a.ip[len] = '\0';
	port = strtoul(colon + 1, &end, 10);
	if (*end || !port || port > 65535 || colon[1] < '0' || colon[1] > '9')
		return -EINVAL;
	a.port = (unsigned int)port;
	if (sockaddr_of(a.ip, a.port, &sa))
		return -EINVAL;
	*addr = a;
	return 0;
}
