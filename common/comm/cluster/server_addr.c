/* SPDX-License-Identifier: BSD-2-Clause */
/* server_addr.c - the addresses of all servers of a file system. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/comm/fabric/fabric.h"
#include "common/comm/cluster/server_conf.h"
#include "common/wire/wire.h"

static int count_iod(void *arg, const char *section)
{
	uint32_t *n = arg;

	*n += !strncmp(section, "iod.", 4);
	return *n > WIRE_IOD_MAX;
}

static int is_section(void *arg, const char *section)
{
	return !strcmp(arg, section);
}

/*
 * The file has n sections of iods.  So if one of [iod.0] to [iod.n-1] is missing, the numbers have
 * a gap.
 */
static int check_there(const struct conf_section *in, char *section, uint32_t n)
{
	char what[96];

	if (conf_sections(in->conf, is_section, section))
		return 0;
	snprintf(what, sizeof(what),
		 "missing, with %u iods; number them from [iod.0] on "
		 "without a gap",
		 n);
	return conf_complain(in, "address", what);
}

/* Clients get all addresses in one message, which limits their total length. */
static int add_length(const struct conf_section *in, const struct addr *addr,
		      size_t *len)
{
	char uri[ADDR_STRLEN];

	*len += strlen(addr_format(addr, uri, sizeof(uri))) + 1;
	if (*len <= WIRE_URIS_MAX)
		return 0;
	return conf_complain(in, "address",
			     "all addresses up to here are longer than 16 KiB "
			     "together; write shorter names of hosts");
}

/*
 * Whether a and b would listen on the same port.  Ports of different transports are independent,
 * and port 0 means any port.
 */
static bool is_same_address(const struct addr *a, const struct addr *b)
{
	return a->port && a->port == b->port && !strcasecmp(a->host, b->host) &&
	       (fabric_any(a) || fabric_any(b) ||
		!strcmp(a->scheme, b->scheme));
}

static int check_unique(const struct conf_section *in,
			const struct server_addrs *all, uint32_t n)
{
	char what[64];
	uint32_t i;

	for (i = 0; i < all->mgrs.n; i++)
		if (is_same_address(&all->iod[n], &all->mgrs.addr[i]))
			return conf_complain(in, "address",
					     "is that of [mgr]; write another "
					     "port");
	for (i = 0; i < n && !is_same_address(&all->iod[n], &all->iod[i]); i++)
		;
	if (i == n)
		return 0;
	snprintf(what, sizeof(what), "is that of [iod.%u]; write another port",
		 i);
	return conf_complain(in, "address", what);
}

static int read_iods(const struct conf_section *where, struct server_addrs *all)
{
	char section[24];
	struct conf_section in = *where;
	size_t len = 0;
	int rc = 0;

	in.name = section;
	for (uint32_t i = 0; !rc && i < all->niods; i++) {
		snprintf(section, sizeof(section), "iod.%u", i);
		rc = check_there(&in, section, all->niods);
		if (!rc)
			rc = server_conf_address(&in, 7000, &all->iod[i]);
		if (!rc)
			rc = add_length(&in, &all->iod[i], &len);
		if (!rc)
			rc = check_unique(&in, all, i);
	}
	return rc;
}

static int alloc_iods(struct conf_section *in, struct server_addrs *all)
{
	uint32_t n = 0;

	in->name = "iod.0";
	conf_sections(in->conf, count_iod, &n);
	if (!n || n > WIRE_IOD_MAX)
		return conf_complain(
			in, "address",
			n ? "more than 1024 iods"
			  : "no iods; add sections [iod.0], [iod.1]");
	all->iod = calloc(n, sizeof(all->iod[0]));
	if (!all->iod) {
		conf_complain(in, "address", "no memory for the iods");
		return -ENOMEM;
	}
	all->niods = n;
	return 0;
}

int server_conf_addresses(const struct conf_section *where,
			  struct server_addrs *out)
{
	struct conf_section in = *where;
	struct server_addrs all = { 0 };
	int rc;

	rc = server_conf_managers(&in, &all.mgrs);
	if (!rc)
		rc = alloc_iods(&in, &all);
	if (!rc)
		rc = read_iods(&in, &all);
	if (rc)
		free(all.iod);
	else
		*out = all;
	return rc;
}
