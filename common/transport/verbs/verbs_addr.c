/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_addr.c - socket addresses for the connection manager. No RDMA device has the loopback
 * address. Here it stands for the device's own address, so that a file system on one host has the
 * same configuration for every transport.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "common/transport/verbs/verbs.h"

static bool is_loopback(const struct sockaddr_storage *sa)
{
	const struct sockaddr_in *v4 = (const void *)sa;
	const struct sockaddr_in6 *v6 = (const void *)sa;

	if (sa->ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static void port_set(struct sockaddr_storage *sa, uint16_t port)
{
	struct sockaddr_in *v4 = (void *)sa;
	struct sockaddr_in6 *v6 = (void *)sa;

	if (sa->ss_family == AF_INET)
		v4->sin_port = htons(port);
	else
		v6->sin6_port = htons(port);
}

void vb_own(const struct vb_dev *d, uint16_t port, struct sockaddr_storage *sa)
{
	*sa = d->sa;
	port_set(sa, port);
}

int vb_resolve(const struct vb_dev *d, const struct log *log,
	       const struct addr *addr, struct sockaddr_storage *sa,
	       bool *local)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	int rc = getaddrinfo(addr->host, NULL, &hints, &found);

	if (rc) {
		log_error(log, "verbs: host \"%s\": %s", addr->host,
			  gai_strerror(rc));
		return -EHOSTUNREACH;
	}
	memset(sa, 0, sizeof(*sa));
	memcpy(sa, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	*local = is_loopback(sa) && d->sa.ss_family;
	if (*local)
		*sa = d->sa;
	port_set(sa, addr->port);
	return 0;
}

bool vb_is_own(const struct vb_dev *d, const struct sockaddr *sa)
{
	const struct sockaddr_in *a4 = (const void *)sa;
	const struct sockaddr_in *b4 = (const void *)&d->sa;
	const struct sockaddr_in6 *a6 = (const void *)sa;
	const struct sockaddr_in6 *b6 = (const void *)&d->sa;

	if (sa->sa_family != d->sa.ss_family)
		return false;
	if (sa->sa_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr);
}

void vb_peer_name(const struct vb_dev *d, const struct sockaddr *sa, bool local,
		  char *buf, size_t len)
{
	const struct sockaddr_in *v4 = (const void *)sa;
	const struct sockaddr_in6 *v6 = (const void *)sa;
	char host[INET6_ADDRSTRLEN] = "?";

	if (sa->sa_family == AF_INET)
		inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
	else
		inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
	if (local && vb_is_own(d, sa))
		snprintf(host, sizeof(host), "127.0.0.1");
	snprintf(buf, len,
		 sa->sa_family == AF_INET ? "verbs %s:%u" : "verbs [%s]:%u",
		 host, ntohs(v4->sin_port));
}
