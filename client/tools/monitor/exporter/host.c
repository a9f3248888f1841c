/* SPDX-License-Identifier: BSD-2-Clause */
/* host.c - see host.h. */
#include "client/tools/monitor/exporter/host.h"

#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/util/networks.h"

#define NAME_MAX_LEN 256

static bool parse_address(const char *text, struct in6_addr *out)
{
	return !networks_addr(text, out->s6_addr);
}

static bool is_loopback(const struct in6_addr *a)
{
	return IN6_IS_ADDR_LOOPBACK(a) ||
	       (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
}

static bool is_address(const char *name, const char *at)
{
	struct in6_addr asked, here;

	if (!parse_address(name, &asked))
		return false;
	return is_loopback(&asked) ||
	       (parse_address(at, &here) && IN6_ARE_ADDR_EQUAL(&asked, &here));
}

/* Whether name is the name of this host, with its domain ("head.example") or without ("head"). */
static bool is_host_name(const char *name)
{
	char own[NAME_MAX_LEN] = "";

	if (gethostname(own, sizeof(own) - 1) || !*own)
		return false;
	if (!strcasecmp(name, own))
		return true;
	own[strcspn(own, ".")] = '\0';
	return *own && !strcasecmp(name, own);
}

static bool is_configured(const struct host_names *hosts, const char *name)
{
	for (unsigned int i = 0; i < hosts->n; i++)
		if (!strcasecmp(name, hosts->name[i]))
			return true;
	return false;
}

static bool is_port(const char *s)
{
	return !*s || (*s == ':' && s[1 + strspn(s + 1, "0123456789")] == '\0');
}

/* Removes brackets, port, and the final dot of a name.  False: host is wrong. */
static bool cut_name(const char *host, char name[NAME_MAX_LEN])
{
	bool bracket = *host == '[';
	size_t len = strcspn(host += bracket, bracket ? "]" : ":");
	const char *end = host + len;

	if (!len || len >= NAME_MAX_LEN || (bracket && *end++ != ']') ||
	    !is_port(end))
		return false;
	memcpy(name, host, len);
	if (len > 1 && name[len - 1] == '.')
		len--;
	name[len] = '\0';
	return true;
}

bool host_is_ours(const struct host_names *hosts, const char *host,
		  const char *at)
{
	char name[NAME_MAX_LEN];

	return cut_name(host, name) &&
	       (!strcasecmp(name, "localhost") || is_address(name, at) ||
		is_host_name(name) || is_configured(hosts, name));
}
