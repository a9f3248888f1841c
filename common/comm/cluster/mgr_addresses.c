/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_addresses.c - the addresses that a manager may connect from. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/comm/cluster/mgr_addresses.h"

#define HOSTS_MAX 64u

struct mgr_addresses {
	bool here; /* one of them is an address of this host */
	unsigned int n;
	struct in6_addr host[HOSTS_MAX]; /* IPv4 addresses as ::ffff:a.b.c.d */
};

static void map_v4(const struct in_addr *v4, struct in6_addr *out)
{
	*out = (struct in6_addr){ 0 };
	out->s6_addr[10] = out->s6_addr[11] = 0xff;
	memcpy(out->s6_addr + 12, v4, 4);
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

static bool is_same_host(const struct in6_addr *a, const struct in6_addr *b)
{
	return !memcmp(a, b, sizeof(*a)) || (is_loopback(a) && is_loopback(b));
}

/* It is an address of this host. */
static bool is_ours(const struct in6_addr *a)
{
	struct sockaddr_in6 sa = { .sin6_family = AF_INET6, .sin6_addr = *a };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return false;
	rc = bind(fd, (struct sockaddr *)&sa, sizeof(sa));
	close(fd);
	return !rc;
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
	struct in6_addr *a;

	for (; ai; ai = ai->ai_next) {
		if (addresses->n == HOSTS_MAX)
			return too_many(host, log);
		a = &addresses->host[addresses->n];
		if (ai->ai_family == AF_INET)
			map_v4(&((struct sockaddr_in *)ai->ai_addr)->sin_addr,
			       a);
		else if (ai->ai_family == AF_INET6)
			*a = ((struct sockaddr_in6 *)ai->ai_addr)->sin6_addr;
		else
			continue;
		if (is_any(a)) {
			log_error(log,
				  "[mgr] address %s stands for any host: tell "
				  "where the manager connects from, "
				  "[mgr] from = HOST",
				  host);
			return -EINVAL;
		}
		addresses->here |= is_ours(a);
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

/* Parses "10.0.0.1:700" or "[fe80::1%eth0]:700". */
static bool parse_host(const char *text, struct in6_addr *a)
{
	char host[128];
	struct in_addr v4;
	size_t len;

	if (*text == '[') {
		len = strcspn(++text, "]%");
	} else {
		const char *colon = strrchr(text, ':');

		len = colon ? (size_t)(colon - text) : strlen(text);
	}
	if (len >= sizeof(host))
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	if (inet_pton(AF_INET6, host, a) == 1)
		return true;
	if (inet_pton(AF_INET, host, &v4) != 1)
		return false;
	map_v4(&v4, a);
	return true;
}

bool mgr_addresses_match(const struct mgr_addresses *addresses,
			 const char *peer)
{
	const char *where = strchr(peer, ' ');
	unsigned int pid, uid;
	struct in6_addr a;

	if (!where)
		return false;
	where++;
	if (sscanf(where, "pid %u uid %u", &pid, &uid) == 2)
		return uid == 0 || uid == geteuid();
	if (!parse_host(where, &a))
		return false;
	if (addresses->here && is_loopback(&a))
		return true;
	for (unsigned int i = 0; i < addresses->n; i++)
		if (is_same_host(&addresses->host[i], &a))
			return true;
	return false;
}
