/* SPDX-License-Identifier: BSD-2-Clause */
/* listen.c - see listen.h. */
#include "client/tools/monitor/exporter/listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 64

/* Splits text into host and port.  0 or -EINVAL. */
static int split_address(const char *text, char host[64], char port[8])
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;

	if (!len || len >= 64 || strlen(colon + 1) >= 8 || !colon[1])
		return -EINVAL;
	if (*text == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	} else if (memchr(text, ':', len)) {
		return -EINVAL;
	}
	memcpy(host, text, len);
	host[len] = '\0';
	strcpy(port, colon + 1);
	return len && strtoul(port, NULL, 10) <= 65535 ? 0 : -EINVAL;
}

static int listen_on(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1,
	    rc;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!bind(fd, ai->ai_addr, ai->ai_addrlen) && !listen(fd, BACKLOG))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int listen_at(const char *text)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST |
						    AI_NUMERICSERV };
	struct addrinfo *ai;
	char host[64], port[8];
	int rc = split_address(text, host, port);

	if (rc || getaddrinfo(host, port, &hints, &ai))
		return -EINVAL;
	rc = listen_on(ai);
	freeaddrinfo(ai);
	return rc;
}

int listen_name(int fd, char *buf, size_t len)
{
	struct sockaddr_storage ss;
	socklen_t size = sizeof(ss);
	char host[64], port[8];

	if (getsockname(fd, (struct sockaddr *)&ss, &size))
		return -errno;
	if (getnameinfo((struct sockaddr *)&ss, size, host, sizeof(host), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		return -EINVAL;
	snprintf(buf, len, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
	return 0;
}
