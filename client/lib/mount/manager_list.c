/* SPDX-License-Identifier: BSD-2-Clause */
/* manager_list.c - see manager_list_int.h. */
#include "client/lib/mount/manager_list_int.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char no_manager[] =
	"names no manager: write HOST:/, and the port as an option";

static bool is_there_before(const struct mount *mount, const struct addr *addr)
{
	for (unsigned int i = 0; i < mount->nmgrs; i++)
		if (mount->mgr[i].port == addr->port &&
		    !strcasecmp(mount->mgr[i].host, addr->host))
			return true;
	return false;
}

/* A host of a list, of len characters. */
static const char *add_host(const char *host, size_t len,
			    const struct mount_opt *opt, struct mount *mount)
{
	char uri[ADDR_STRLEN];
	struct addr addr;
	int n;

	if (mount->nmgrs == WIRE_MGR_MAX)
		return "names more than 5 managers: write at most 5";
	if (!len)
		return "has a comma without a host: write HOST,HOST,HOST:/";
	n = snprintf(uri, sizeof(uri), "%s://%.*s", opt->transport, (int)len,
		     host);
	if (n >= (int)sizeof(uri) ||
	    addr_parse(uri, (uint16_t)opt->port, &addr) || !addr.port)
		return "has a host that is none: write HOST,HOST:PORT,[IPV6]:/";
	if (is_there_before(mount, &addr))
		return "names a manager twice: take one of the two out";
	mount->mgr[mount->nmgrs++] = addr;
	return NULL;
}

static const char *read_hosts(const char *name, const char *end,
			      const struct mount_opt *opt, struct mount *mount)
{
	const char *flaw = NULL;

	for (;;) {
		size_t left = (size_t)(end - name), len = strcspn(name, ",");

		if (len >= left)
			return add_host(name, left, opt, mount);
		flaw = add_host(name, len, opt, mount);
		if (flaw)
			return flaw;
		name += len + 1;
	}
}

/* Without a list, the port is an option only. */
static bool read_one(const char *name, int len, const struct mount_opt *opt,
		     struct mount *mount)
{
	char uri[ADDR_STRLEN];
	int n = snprintf(uri, sizeof(uri), "%s://%.*s:%lu", opt->transport, len,
			 name, opt->port);

	mount->nmgrs = 1;
	return n < (int)sizeof(uri) && !addr_parse(uri, 0, &mount->mgr[0]);
}

const char *manager_list_read(const char *name, const struct mount_opt *opt,
			      struct mount *mount)
{
	const char *end = strstr(name, ":/");

	mount->nmgrs = 0;
	if (!end)
		return no_manager;
	if (memchr(name, ',', (size_t)(end - name)))
		return read_hosts(name, end, opt, mount);
	return read_one(name, (int)(end - name), opt, mount) ? NULL
							     : no_manager;
}
