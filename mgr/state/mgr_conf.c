/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_conf.c - the manager's settings from the configuration of the cluster. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/dist/copyset.h"
#include "mgr/state/mgr_conf.h"
#include "common/comm/cluster/server_conf.h"
#include "common/util/words.h"
#include "common/wire/wire.h"

/* Sets everything but fsid, addr, storage and the iods. */
static void set_defaults(struct mgr_conf *conf)
{
	memset(conf, 0, sizeof(*conf));
	exports_default(&conf->exports);
	conf->log_level = LOG_LV_INFO;
	conf->cache_size = 64 << 20;
	conf->slots = 16;
	conf->max_sessions = 4096;
	conf->host_sessions = SERVER_HOST_SESSIONS;
	conf->session_ttl_ms = 60000;
	conf->lease_s = 60;
	conf->poll_us = 30;
	conf->slow_ms = 1000;
	conf->iod_calls = 65536;
	conf->ssize = 65536;
}

/*
 * More than one copy is refused until all servers name WIRE_FT_COPIES.  Otherwise data would have
 * fewer copies than configured.
 */
static int read_copies(const struct conf_section *in)
{
	unsigned int copies = 1;
	int rc = conf_uint(in, "copies", 1, COPYSET_COPIES_MAX, &copies);

	if (rc || copies == 1)
		return rc;
	return conf_complain(in, "copies",
			     "this release stores one copy of data; write 1");
}

static int read_filesystem(const struct conf_section *in, struct mgr_conf *conf)
{
	int rc = server_conf_fsid(in, &conf->fsid);

	if (!rc)
		rc = conf_uint(in, "stripe_size", DIST_SSIZE_MIN,
			       DIST_SSIZE_MAX, &conf->ssize);
	if (!rc)
		rc = conf_uint(in, "stripe_count", 0, WIRE_IOD_MAX,
			       &conf->pcount);
	if (!rc)
		rc = read_copies(in);
	if (!rc)
		rc = networks_conf(in, "allow", &conf->allow);
	if (!rc)
		rc = server_conf_key(in, conf->key);
	return rc ? rc : server_conf_auth(in, conf->key, &conf->auth);
}

static int read_numbers(const struct conf_section *in, struct mgr_conf *conf)
{
	const struct {
		const char *key;
		unsigned int min, max, *val;
	} keys[] = {
		{ "slots", 1, 1024, &conf->slots },
		{ "max_sessions", SERVER_SESSIONS_MIN, 1 << 20,
		  &conf->max_sessions },
		{ "host_sessions", 0, 1 << 20, &conf->host_sessions },
		{ "poll_us", 0, 10000, &conf->poll_us },
		{ "slow", 0, 3600000, &conf->slow_ms },
		{ "lease", 1, 86400, &conf->lease_s },
		{ "iod_calls", 1, 1 << 24, &conf->iod_calls },
	};
	int rc = conf_size(in, "cache_size", 1 << 20, UINT64_C(1) << 40,
			   &conf->cache_size);

	for (size_t i = 0; !rc && i < sizeof(keys) / sizeof(keys[0]); i++)
		rc = conf_uint(in, keys[i].key, keys[i].min, keys[i].max,
			       keys[i].val);
	return rc;
}

/* Reads a section that may be of all managers or of one. */
static int read_section(const struct conf_section *in, struct mgr_conf *conf)
{
	int rc = server_conf_log_level(in, &conf->log_level);

	if (!rc)
		rc = server_conf_session_timeout(in, &conf->session_ttl_ms);
	if (!rc)
		rc = read_numbers(in, conf);
	if (!rc)
		rc = fabric_conf_read(in, &conf->fabric);
	return rc;
}

static int choose_manager(const struct conf_section *in, struct mgr_conf *conf)
{
	char what[96];

	if (conf->index == MGR_INDEX_NONE && conf->mgrs.n == 1)
		conf->index = 0;
	if (conf->index < conf->mgrs.n) {
		conf->addr = conf->mgrs.addr[conf->index];
		return 0;
	}
	if (conf->index == MGR_INDEX_NONE)
		snprintf(what, sizeof(what),
			 "there are managers 0 to %u: say which one with "
			 "--index N",
			 conf->mgrs.n - 1);
	else
		snprintf(what, sizeof(what),
			 "there is no manager %u; the managers are 0 to %u: see "
			 "--index",
			 conf->index, conf->mgrs.n - 1);
	return conf_complain(in, "address", what);
}

/* Reads the section of all managers, and then that of this one. */
static int read_mgr(struct conf_section *in, struct mgr_conf *conf)
{
	char own[24];
	int rc;

	in->name = "mgr";
	rc = server_conf_managers(in, &conf->mgrs);
	if (!rc)
		rc = choose_manager(in, conf);
	if (!rc)
		rc = read_section(in, conf);
	if (!rc)
		rc = exports_conf(in, &conf->exports);
	snprintf(own, sizeof(own), "mgr.%u", conf->index);
	if (conf->mgrs.numbered)
		in->name = own;
	if (!rc && conf->mgrs.numbered)
		rc = read_section(in, conf);
	if (!rc)
		rc = server_conf_storage(in, conf->storage);
	conf->host_sessions = server_host_sessions(conf->host_sessions,
						   conf->max_sessions);
	in->name = "mgr";
	return rc;
}

static int read_addresses(struct conf_section *in, struct mgr_conf *conf)
{
	struct server_addrs all;
	int rc = server_conf_addresses(in, &all);

	if (rc)
		return rc;
	conf->iod = all.iod;
	conf->niods = all.niods;
	in->name = "filesystem";
	if (conf->pcount > conf->niods)
		return conf_complain(in, "stripe_count",
				     "more than there are iods; 0 means all");
	return 0;
}

/* ---- the domains of the iods ---- */

enum { DOMAIN_IOD, DOMAIN_HOST, DOMAIN_RACK, DOMAIN_POWER, DOMAIN_KINDS };
static const char *const domain_kind[] = { [DOMAIN_IOD] = "iod",
					   [DOMAIN_HOST] = "host",
					   [DOMAIN_RACK] = "rack",
					   [DOMAIN_POWER] = "power" };

/* The name of the domain of iod i.  NULL: missing. */
static const char *domain_name(const struct conf_section *in,
			       const struct mgr_conf *conf, int kind,
			       uint32_t i)
{
	struct conf_section iod = *in;
	char section[24];
	const char *name;

	snprintf(section, sizeof(section), "iod.%u", i);
	iod.name = section;
	name = conf_get(&iod, domain_kind[kind]);
	if (name && *name)
		return name;
	if (kind == DOMAIN_HOST)
		return conf->iod[i].host;
	conf_complain(&iod, domain_kind[kind],
		      "missing; [filesystem] domain requires it for each iod");
	return NULL;
}

/* name has room for the names of all iods. */
static int number_domains(const struct conf_section *in, struct mgr_conf *conf,
			  int kind, const char **name)
{
	for (uint32_t i = 0, k; i < conf->niods; i++) {
		name[i] = domain_name(in, conf, kind, i);
		if (!name[i])
			return -EINVAL;
		for (k = 0; strcasecmp(name[k], name[i]) != 0; k++)
			;
		conf->domain[i] = k;
	}
	return 0;
}

static int read_domains(const struct conf_section *in, struct mgr_conf *conf)
{
	const char *text = conf_get(in, "domain");
	int kind = text ? words_index(text, domain_kind, DOMAIN_KINDS)
			: DOMAIN_HOST;
	const char **name;
	int rc;

	if (kind < 0)
		return conf_complain(in, "domain",
				     "write iod, host, rack or power");
	conf->domain = calloc(conf->niods, sizeof(*conf->domain));
	name = calloc(conf->niods, sizeof(*name));
	if (!conf->domain || !name) {
		free(name);
		conf_complain(in, "domain", "no memory for the domains");
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < conf->niods; i++)
		conf->domain[i] = i;
	rc = kind == DOMAIN_IOD ? 0 : number_domains(in, conf, kind, name);
	free(name);
	return rc;
}

/* ---- all settings ---- */

static int read_all(struct conf_section *in, struct mgr_conf *conf)
{
	int rc;

	in->name = "filesystem";
	rc = read_filesystem(in, conf);
	if (!rc)
		rc = read_mgr(in, conf);
	if (!rc)
		rc = read_addresses(in, conf);
	return rc ? rc : read_domains(in, conf);
}

int mgr_conf_load(const char *path, unsigned int index, struct mgr_conf *conf,
		  char *err, size_t errlen)
{
	struct conf_section in = { .err = err, .errlen = errlen };
	struct mgr_conf tmp;
	struct conf *file;
	int rc;

	rc = server_conf_load(path, &file, err, errlen);
	if (rc)
		return rc;
	in.conf = file;
	set_defaults(&tmp);
	tmp.index = index;
	rc = read_all(&in, &tmp);
	conf_free(file);
	if (rc)
		mgr_conf_free(&tmp);
	else
		*conf = tmp;
	return rc;
}

const char *mgr_conf_scheme(const struct mgr_conf *conf)
{
	for (uint32_t i = 0; i < conf->niods; i++)
		if (strcmp(conf->iod[i].scheme, conf->addr.scheme) != 0)
			return FABRIC_ANY;
	for (unsigned int i = 0; i < conf->mgrs.n; i++)
		if (strcmp(conf->mgrs.addr[i].scheme, conf->addr.scheme) != 0)
			return FABRIC_ANY;
	return conf->addr.scheme;
}

int mgr_conf_copy(struct mgr_conf *dst, const struct mgr_conf *src)
{
	struct addr *iod = calloc(src->niods, sizeof(*iod));
	uint32_t *domain = calloc(src->niods, sizeof(*domain));

	if (!iod || !domain) {
		free(iod);
		free(domain);
		return -ENOMEM;
	}
	memcpy(iod, src->iod, src->niods * sizeof(*iod));
	memcpy(domain, src->domain, src->niods * sizeof(*domain));
	*dst = *src;
	dst->iod = iod;
	dst->domain = domain;
	return 0;
}

void mgr_conf_free(struct mgr_conf *conf)
{
	free(conf->iod);
	free(conf->domain);
	conf->iod = NULL;
	conf->domain = NULL;
}
