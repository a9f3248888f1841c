/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric_here.c - finds whether an address belongs to this host: a socket can bind to it in this
 * network namespace.  (The sockets of the local transport are confined to the namespace, too.)
 */
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/comm/fabric/fabric.h"

static bool can_bind(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok;

	if (fd < 0)
		return false;
	ok = !bind(fd, ai->ai_addr, ai->ai_addrlen);
	close(fd);
	return ok;
}

static bool host_here(const char *host)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM,
				  .ai_flags = AI_NUMERICHOST };
	struct addrinfo *ai;
	bool found;

	if (getaddrinfo(host, NULL, &hints, &ai))
		return false;
	found = can_bind(ai);
	freeaddrinfo(ai);
	return found;
}

bool fabric_here(const struct host_addrs *hosts)
{
	unsigned int i;

	for (i = 0; i < hosts->n; i++)
		if (host_here(hosts->host[i]))
			return true;
	return false;
}
