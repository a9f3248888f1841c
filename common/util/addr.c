/* SPDX-License-Identifier: BSD-2-Clause */
/* addr.c - parses a server address strictly, and formats it. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/util/addr.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGIT "0123456789"

/* Copies n bytes of an allowed alphabet into dst and adds a NUL. */
static bool copy_allowed(char *dst, size_t cap, const char *src, size_t n,
			 const char *alphabet)
{
	if (n == 0 || n >= cap || strspn(src, alphabet) < n)
		return false;
	memcpy(dst, src, n);
	dst[n] = '\0';
	return true;
}

static const char *parse_scheme(const char *s, struct addr *addr)
{
	const char *sep = strstr(s, "://");

	if (!sep || !strchr(LOWER, *s) ||
	    !copy_allowed(addr->scheme, sizeof(addr->scheme), s,
			  (size_t)(sep - s), LOWER DIGIT "+"))
		return NULL;
	return sep + 3;
}

/* Whether host, without its zone ("%eth0"), is a numeric address. */
static bool is_ipv6(const char *host)
{
	char num[INET6_ADDRSTRLEN];
	unsigned char bin[16];
	size_t n = strcspn(host, "%");

	if (n >= sizeof(num) || (host[n] && !host[n + 1]))
		return false;
	memcpy(num, host, n);
	num[n] = '\0';
	return inet_pton(AF_INET6, num, bin) == 1;
}

static const char *parse_bracketed(const char *s, struct addr *addr)
{
	size_t n = strcspn(s, "]");

	if (s[n] != ']' || !copy_allowed(addr->host, sizeof(addr->host), s, n,
					 LOWER UPPER DIGIT ":.%_-"))
		return NULL;
	return is_ipv6(addr->host) ? s + n + 1 : NULL;
}

static const char *parse_host(const char *s, struct addr *addr)
{
	size_t n;

	if (*s == '[')
		return parse_bracketed(s + 1, addr);
	n = strcspn(s, ":");
	if (*s == '-' || !copy_allowed(addr->host, sizeof(addr->host), s, n,
				       LOWER UPPER DIGIT "._-"))
		return NULL;
	return s + n;
}

/* s is "" or ":PORT". Returns the error, or NULL. */
static const char *parse_port(const char *s, uint16_t default_port,
			      uint16_t *port)
{
	unsigned long val = 0;
	size_t n;

	*port = default_port;
	if (!*s)
		return default_port ? NULL : "it has no port";
	if (*s++ != ':')
		return "something other than a port follows the host";
	n = strspn(s, DIGIT);
	if (n == 0 || n > 5 || s[n])
		return "its port is not a number up to 65535";
	for (; *s; s++)
		val = val * 10 + (unsigned long)(*s - '0');
	*port = (uint16_t)val;
	return val <= UINT16_MAX ? NULL
				 : "its port is not a number up to 65535";
}

/* Returns the error, or NULL. */
static const char *parse_uri(const char *uri, uint16_t default_port,
			     struct addr *addr)
{
	const char *s = parse_scheme(uri, addr);

	if (!s)
		return "it does not begin with the name of a transport and ://";
	s = parse_host(s, addr);
	if (!s)
		return "it has no host, or one that is neither a name nor an "
		       "IP address (IPv6 in brackets)";
	return parse_port(s, default_port, &addr->port);
}

int addr_parse(const char *uri, uint16_t default_port, struct addr *addr)
{
	struct addr a;

	if (parse_uri(uri, default_port, &a))
		return -EINVAL;
	*addr = a;
	return 0;
}

const char *addr_flaw(const char *uri, uint16_t default_port)
{
	struct addr a;

	return parse_uri(uri, default_port, &a);
}

const char *addr_format(const struct addr *addr, char *buf, size_t len)
{
	bool v6 = strchr(addr->host, ':');

	snprintf(buf, len, "%s://%s%s%s:%u", addr->scheme, v6 ? "[" : "",
		 addr->host, v6 ? "]" : "", addr->port);
	return buf;
}

bool addr_is_any(const struct addr *addr)
{
	struct in6_addr six;
	struct in_addr four;

	return (inet_pton(AF_INET, addr->host, &four) == 1 && !four.s_addr) ||
	       (inet_pton(AF_INET6, addr->host, &six) == 1 &&
		IN6_IS_ADDR_UNSPECIFIED(&six));
}

bool addr_is_loopback(const struct addr *addr)
{
	return !strcmp(addr->host, "localhost") || !strcmp(addr->host, "::1") ||
	       !strncmp(addr->host, "127.", 4);
}
