/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_conf.c - the manager's settings from the configuration of the cluster. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/dist/dist.h"
#include "mgr/state/mgr_conf.h"
#include "common/comm/cluster/server_conf.h"
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
	conf->grouped = secure_getenv("PVFS_MGR_GROUPED") != NULL;
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
	conf->host_sessions = server_host_sessions(conf->host_sessions,
						   conf->max_sessions);
	return rc;
}

static int read_mgr(const struct conf_section *in, struct mgr_conf *conf)
{
	int rc = server_conf_log_level(in, &conf->log_level);

	if (!rc)
		rc = server_conf_session_timeout(in, &conf->session_ttl_ms);
	if (!rc)
		rc = read_numbers(in, conf);
	if (!rc)
		rc = fabric_conf_read(in, &conf->fabric);
	if (!rc)
		rc = exports_conf(in, &conf->exports);
	return rc ? rc : server_conf_storage(in, conf->storage);
}

static int read_addresses(struct conf_section *in, struct mgr_conf *conf)
{
	struct server_addrs all;
	int rc = server_conf_addresses(in, &all);

	if (rc)
		return rc;
	conf->addr = all.mgrs.addr[0];
	conf->iod = all.iod;
	conf->niods = all.niods;
	in->name = "filesystem";
	if (conf->pcount > conf->niods)
		return conf_complain(in, "stripe_count",
				     "more than there are iods; 0 means all");
	return 0;
}

static int read_all(struct conf_section *in, struct mgr_conf *conf)
{
	int rc;

	in->name = "filesystem";
	rc = read_filesystem(in, conf);
	in->name = "mgr";
	if (!rc)
		rc = read_mgr(in, conf);
	return rc ? rc : read_addresses(in, conf);
}

int mgr_conf_load(const char *path, struct mgr_conf *conf, char *err,
		  size_t errlen)
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
	uint32_t i;

	for (i = 0; i < conf->niods; i++) {
		if (strcmp(conf->iod[i].scheme, conf->addr.scheme) != 0)
			return FABRIC_ANY;
	}
	return conf->addr.scheme;
}

int mgr_conf_copy(struct mgr_conf *dst, const struct mgr_conf *src)
{
	struct addr *iod = calloc(src->niods, sizeof(*iod));

	if (!iod)
		return -ENOMEM;
	memcpy(iod, src->iod, src->niods * sizeof(*iod));
	*dst = *src;
	dst->iod = iod;
	return 0;
}

void mgr_conf_free(struct mgr_conf *conf)
{
	free(conf->iod);
	conf->iod = NULL;
}
