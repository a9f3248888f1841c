/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_addresses.c - the addresses that a manager may connect from. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/comm/cluster/mgr_addresses.h"

#define HOSTS_MAX 64u

struct peer_host {
	struct in6_addr addr; /* IPv4 addresses as ::ffff:a.b.c.d */
	uint32_t scope; /* link-local addresses: index of the interface; 0: any */
};

struct mgr_addresses {
	bool here; /* one of them is an address of this host */
	unsigned int n;
	struct peer_host host[HOSTS_MAX];
};

static void map_v4(const struct in_addr *v4, struct in6_addr *out)
{
	*out = (struct in6_addr){ 0 };
	out->s6_addr[10] = out->s6_addr[11] = 0xff;
	memcpy(out->s6_addr + 12, v4, 4);
}

/* Sets *host to the address of sa.  Returns false if it is neither an IPv4 nor an IPv6 address. */
static bool host_from_sockaddr(const struct sockaddr *sa,
			       struct peer_host *host)
{
	const struct sockaddr_in *in = (const void *)sa;
	const struct sockaddr_in6 *in6 = (const void *)sa;

	*host = (struct peer_host){ 0 };
	if (sa->sa_family == AF_INET) {
		map_v4(&in->sin_addr, &host->addr);
	} else if (sa->sa_family == AF_INET6) {
		host->addr = in6->sin6_addr;
		host->scope = in6->sin6_scope_id;
	} else {
		return false;
	}
	return true;
}

static bool is_any(const struct in6_addr *a)
{
	struct in6_addr any4;

	map_v4(&(struct in_addr){ INADDR_ANY }, &any4);
	return IN6_IS_ADDR_UNSPECIFIED(a) || !memcmp(a, &any4, sizeof(any4));
}

static bool is_loopback(const struct in6_addr *a)
{
	return IN6_IS_ADDR_LOOPBACK(a) ||
	       (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
}

static bool is_same_host(const struct peer_host *a, const struct peer_host *b)
{
	if (is_loopback(&a->addr) && is_loopback(&b->addr))
		return true;
	return !memcmp(&a->addr, &b->addr, sizeof(a->addr)) &&
	       (!a->scope || !b->scope || a->scope == b->scope);
}

/*
 * Whether this is an address of this host.  bind() cannot answer this: with ip_nonlocal_bind it
 * accepts the address of any host, and with bindv6only it rejects an IPv4 address as an IPv6 one.
 */
static bool is_ours(const struct peer_host *host)
{
	struct ifaddrs *list, *ia;
	struct peer_host own;
	bool ours = is_loopback(&host->addr);

	if (ours || getifaddrs(&list))
		return ours;
	for (ia = list; ia && !ours; ia = ia->ifa_next)
		ours = ia->ifa_addr && host_from_sockaddr(ia->ifa_addr, &own) &&
		       is_same_host(host, &own);
	freeifaddrs(list);
	return ours;
}

static int too_many(const char *host, const struct log *log)
{
	log_error(log,
		  "%s: the manager may connect from %u addresses and no more: "
		  "name fewer in [mgr] from",
		  host, HOSTS_MAX);
	return -EINVAL;
}

static int add_all(struct mgr_addresses *addresses, const struct addrinfo *ai,
		   const char *host, const struct log *log)
{
	struct peer_host *h;

	for (; ai; ai = ai->ai_next) {
		if (addresses->n == HOSTS_MAX)
			return too_many(host, log);
		h = &addresses->host[addresses->n];
		if (!host_from_sockaddr(ai->ai_addr, h))
			continue;
		if (is_any(&h->addr)) {
			log_error(log,
				  "[mgr] address %s stands for any host: tell "
				  "where the manager connects from, "
				  "[mgr] from = HOST",
				  host);
			return -EINVAL;
		}
		addresses->here |= is_ours(h);
		addresses->n++;
	}
	return 0;
}

static int add_host(struct mgr_addresses *addresses, const char *host,
		    const struct log *log)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *ai;
	int rc = getaddrinfo(host, NULL, &hints, &ai);

	if (rc) {
		log_error(log,
			  "%s, where the manager connects from: %s; correct "
			  "[mgr] address or from",
			  host, gai_strerror(rc));
		return -EHOSTUNREACH;
	}
	rc = add_all(addresses, ai, host, log);
	freeaddrinfo(ai);
	return rc;
}

int mgr_addresses_open(const char *hosts, const struct log *log,
		       struct mgr_addresses **out)
{
	struct mgr_addresses *addresses = calloc(1, sizeof(*addresses));
	char *copy = strdup(hosts), *at = NULL, *host;
	int rc = addresses && copy ? 0 : -ENOMEM;

	if (rc)
		log_error(log, "no memory for the list of [mgr] from");
	host = copy ? strtok_r(copy, ", \t", &at) : NULL;
	for (; !rc && host; host = strtok_r(NULL, ", \t", &at))
		rc = add_host(addresses, host, log);
	free(copy);
	if (rc)
		free(addresses);
	else
		*out = addresses;
	return rc;
}

void mgr_addresses_close(struct mgr_addresses *addresses)
{
	free(addresses);
}

/* "fe80::1%eth0"; cuts the interface off and returns its index.  UINT32_MAX: none of this host */
static uint32_t cut_scope(char *host)
{
	char *name = strchr(host, '%');
	uint32_t scope;

	if (!name)
		return 0;
	*name++ = '\0';
	scope = if_nametoindex(name);
	return scope ? scope : UINT32_MAX;
}

/* Parses "10.0.0.1:700" or "[fe80::1%eth0]:700".  The port is not used. */
static bool parse_host(const char *text, struct peer_host *out)
{
	char host[128];
	struct in_addr v4;
	size_t len;

	if (*text == '[') {
		len = strcspn(++text, "]");
	} else {
		const char *colon = strrchr(text, ':');

		len = colon ? (size_t)(colon - text) : strlen(text);
	}
	if (len >= sizeof(host))
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	out->scope = cut_scope(host);
	if (inet_pton(AF_INET6, host, &out->addr) == 1)
		return true;
	if (inet_pton(AF_INET, host, &v4) != 1)
		return false;
	map_v4(&v4, &out->addr);
	return true;
}

bool mgr_addresses_match(const struct mgr_addresses *addresses,
			 const char *peer)
{
	const char *where = strchr(peer, ' ');
	unsigned int pid, uid;
	struct peer_host h;

	if (!where)
		return false;
	where++;
	if (sscanf(where, "pid %u uid %u", &pid, &uid) == 2)
		return uid == 0 || uid == geteuid();
	if (!parse_host(where, &h))
		return false;
	if (addresses->here && is_loopback(&h.addr))
		return true;
	for (unsigned int i = 0; i < addresses->n; i++)
		if (is_same_host(&addresses->host[i], &h))
			return true;
	return false;
}
