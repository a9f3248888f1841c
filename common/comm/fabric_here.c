/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric_here.c - an address is this host's own exactly if one can bind to it
 * (in this network namespace, as local sockets are).
 */
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric.h"

static bool here(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok;

	if (fd < 0)
		return false;
	ok = !bind(fd, ai->ai_addr, ai->ai_addrlen);
	close(fd);
	return ok;
}

bool fabric_here(const char *host)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM }, *list, *ai;
	bool found = false;

	if (getaddrinfo(host, NULL, &hints, &list))
		return false;
	for (ai = list; ai && !found; ai = ai->ai_next)
		found = here(ai);
	freeaddrinfo(list);
	return found;
}
