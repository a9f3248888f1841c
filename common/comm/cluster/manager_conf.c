/* SPDX-License-Identifier: BSD-2-Clause */
/* manager_conf.c - the managers of a file system: [mgr] alone, or [mgr.0], [mgr.1] ... */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/comm/cluster/server_conf.h"

#define PORT 3000

static int count_numbered(void *arg, const char *section)
{
	unsigned int *n = arg;

	*n += !strncmp(section, "mgr.", 4);
	return 0;
}

static int is_section(void *arg, const char *section)
{
	return !strcmp(arg, section);
}

/*
 * The file has n sections of managers.  So if one of [mgr.0] to [mgr.n-1] is missing, the numbers
 * have a gap.
 */
static int check_there(const struct conf_section *in, char *section,
		       unsigned int n)
{
	char what[96];

	if (conf_sections(in->conf, is_section, section))
		return 0;
	snprintf(what, sizeof(what),
		 "missing, with %u managers; number them from [mgr.0] on "
		 "without a gap",
		 n);
	return conf_complain(in, "address", what);
}

/* A majority needs an odd number: with two of two, each loss stops the file system. */
static int check_number(const struct conf_section *in, unsigned int n)
{
	char what[96];

	if (n % 2 && n <= WIRE_MGR_MAX)
		return 0;
	snprintf(what, sizeof(what),
		 "there are %u managers; write 3, or 5, or [mgr] with an "
		 "address for one",
		 n);
	return conf_complain(in, "address", what);
}

/* Each manager has its own address and folder, so these are no common settings. */
static int check_common(const struct conf_section *in)
{
	static const char *const own[] = { "address", "storage" };

	for (unsigned int i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (conf_get(in, own[i]))
			return conf_complain(
				in, own[i],
				"the managers have sections of their own: move "
				"it to [mgr.0], or take [mgr.0] and those "
				"after it out");
	return 0;
}

/* Clients connect to this address, because the manager sends it to them. */
static int check_reachable(const struct conf_section *in,
			   const struct addr *addr)
{
	char uri[ADDR_STRLEN];

	if (addr_is_any(addr))
		return conf_complain(in, "address",
				     "stands for any host: write the name or "
				     "the address of this one");
	if (strlen(addr_format(addr, uri, sizeof(uri))) > WIRE_LEADER_URI_MAX)
		return conf_complain(in, "address",
				     "longer than 96 characters: write a "
				     "shorter name of the host");
	return 0;
}

static bool has_same_storage(const struct conf_section *in, unsigned int other,
			     const char *storage)
{
	char section[24], dir[PATH_MAX], err[1];
	struct conf_section its = { in->conf, section, err, sizeof(err) };

	snprintf(section, sizeof(section), "mgr.%u", other);
	return !server_conf_storage(&its, dir) && !strcmp(dir, storage);
}

static int check_others(const struct conf_section *in,
			const struct server_mgrs *all, unsigned int n,
			const char *storage)
{
	char what[80];

	for (unsigned int i = 0; i < n; i++) {
		if (strcasecmp(all->addr[i].host, all->addr[n].host))
			continue;
		if (all->addr[i].port == all->addr[n].port) {
			snprintf(what, sizeof(what),
				 "is that of [mgr.%u]; write another host", i);
			return conf_complain(in, "address", what);
		}
		if (has_same_storage(in, i, storage)) {
			snprintf(what, sizeof(what),
				 "is that of [mgr.%u] on the same host; write "
				 "another folder",
				 i);
			return conf_complain(in, "storage", what);
		}
	}
	return 0;
}

static int read_one(const struct conf_section *in, struct server_mgrs *all,
		    unsigned int i)
{
	char storage[PATH_MAX];
	int rc = server_conf_address(in, PORT, &all->addr[i]);

	if (!rc)
		rc = check_reachable(in, &all->addr[i]);
	if (!rc)
		rc = server_conf_storage(in, storage);
	return rc ? rc : check_others(in, all, i, storage);
}

static int read_numbered(struct conf_section *in, unsigned int n,
			 struct server_mgrs *all)
{
	char section[24];
	int rc;

	in->name = "mgr";
	rc = check_common(in);
	in->name = "mgr.0";
	if (!rc)
		rc = check_number(in, n);
	in->name = section;
	for (unsigned int i = 0; !rc && i < n; i++) {
		snprintf(section, sizeof(section), "mgr.%u", i);
		rc = check_there(in, section, n);
		if (!rc)
			rc = read_one(in, all, i);
	}
	all->n = n;
	all->numbered = true;
	return rc;
}

int server_conf_managers(const struct conf_section *where,
			 struct server_mgrs *out)
{
	struct conf_section in = *where;
	struct server_mgrs all = { .n = 1 };
	unsigned int n = 0;
	int rc;

	conf_sections(in.conf, count_numbered, &n);
	in.name = "mgr";
	rc = n ? read_numbered(&in, n, &all)
	       : server_conf_address(&in, PORT, &all.addr[0]);
	if (!rc)
		*out = all;
	return rc;
}

int server_mgrs_hosts(const struct server_mgrs *mgrs, char *buf, size_t max)
{
	size_t len = 0;

	for (unsigned int i = 0; i < mgrs->n; i++) {
		len += (size_t)snprintf(buf + len, max - len, "%s%s",
					i ? "," : "", mgrs->addr[i].host);
		if (len >= max)
			return -ENAMETOOLONG;
	}
	return 0;
}
