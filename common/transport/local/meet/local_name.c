/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_name.c - which abstract AF_UNIX name stands for host:port.
 *
 * The name has the numeric address and the port, so that both ends agree whichever host name they
 * use. If a server on this host listens at an address, no other host has this address. All loopback
 * addresses share one name. A server that listens at any address has the name "*"; connectors try
 * it for addresses of this host. A host name that does not resolve is used unchanged.
 *
 * Abstract names leave no files, and each network namespace has its own, as for ports. The
 * connector checks who listens there.
 */
#include <ctype.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/local/meet/local_conn.h"

#define PREFIX "pvfs-ib/"

static void name_set(struct local_name *name, const char *host)
{
	char *p = name->sun.sun_path;
	size_t max = sizeof(name->sun.sun_path) - sizeof("#65535"), i;

	memset(&name->sun, 0, sizeof(name->sun));
	name->sun.sun_family = AF_UNIX;
	snprintf(p + 1, max - 1, PREFIX "%.*s", (int)(max - sizeof(PREFIX) - 1),
		 host);
	for (i = 1; p[i]; i++)
		p[i] = (char)tolower((unsigned char)p[i]);
	name->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + i);
}

void local_name_port(struct local_name *name, uint16_t port)
{
	size_t base = offsetof(struct sockaddr_un, sun_path);
	char *p = name->sun.sun_path;
	size_t at = name->len - base;

	name->len += (socklen_t)snprintf(p + at,
					 sizeof(name->sun.sun_path) - at, "#%u",
					 port);
}

static bool is_loopback(const struct sockaddr *sa)
{
	const struct sockaddr_in *in = (const void *)sa;
	const struct sockaddr_in6 *in6 = (const void *)sa;

	if (sa->sa_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

static bool is_any(const struct sockaddr *sa)
{
	const struct sockaddr_in *in = (const void *)sa;
	const struct sockaddr_in6 *in6 = (const void *)sa;

	if (sa->sa_family == AF_INET)
		return in->sin_addr.s_addr == htonl(INADDR_ANY);
	return IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr);
}

/* Whether ai is an address of this host: only then bind() succeeds. */
static bool is_ours(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ours;

	if (fd < 0)
		return false;
	ours = bind(fd, ai->ai_addr, ai->ai_addrlen) == 0;
	close(fd);
	return ours;
}

static void numeric_host(const struct addrinfo *ai, char *host, size_t len)
{
	if (is_any(ai->ai_addr))
		snprintf(host, len, "*");
	else if (is_loopback(ai->ai_addr))
		snprintf(host, len, "127.0.0.1");
	else if (getnameinfo(ai->ai_addr, ai->ai_addrlen, host, (socklen_t)len,
			     NULL, 0, NI_NUMERICHOST))
		snprintf(host, len, "?");
}

/* Adds the name unless it is there already. Returns the new number. */
static int name_add(struct local_name *name, int n, const char *host)
{
	struct local_name new;
	int i;

	name_set(&new, host);
	for (i = 0; i < n; i++)
		if (name[i].len == new.len &&
		    !memcmp(&name[i].sun, &new.sun, new.len))
			return n;
	if (n < LOCAL_NAMES)
		name[n++] = new;
	return n;
}

static struct addrinfo *resolve_host(const char *host)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
				  .ai_socktype = SOCK_DGRAM,
				  .ai_flags = AI_NUMERICHOST };
	struct addrinfo *list = NULL;

	if (getaddrinfo(host, NULL, &hints, &list) == 0)
		return list;
	hints.ai_flags = 0;
	return getaddrinfo(host, NULL, &hints, &list) ? NULL : list;
}

int local_names(const struct addr *addr, bool listen, struct local_name *name)
{
	struct addrinfo *list = resolve_host(addr->host), *ai;
	bool ours = false;
	char host[64];
	int n = 0, i;

	if (!list)
		n = name_add(name, 0, addr->host);
	for (ai = list; ai && n < LOCAL_NAMES - 1; ai = ai->ai_next) {
		numeric_host(ai, host, sizeof(host));
		n = name_add(name, n, host);
		if (listen)
			break;
		ours = ours || is_ours(ai);
	}
	if (list)
		freeaddrinfo(list);
	if (ours)
		n = name_add(name, n, "*");
	for (i = 0; i < n && addr->port; i++)
		local_name_port(&name[i], addr->port);
	return n;
}
