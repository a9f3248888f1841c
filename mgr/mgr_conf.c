/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_conf.c - the mgr's settings out of the cluster's configuration. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist.h"
#include "mgr_conf.h"
#include "server_conf.h"
#include "wire.h"

/* All but fsid, addr, storage and the iods. */
static void defaults(struct mgr_conf *conf)
{
	memset(conf, 0, sizeof(*conf));
	conf->log_level = LOG_LV_INFO;
	conf->cache_size = 64 << 20;
	conf->slots = 16;
	conf->max_sessions = 4096;
	conf->session_ttl_ms = 60000;
	conf->poll_us = 30;
	conf->iod_calls = 65536;
	conf->ssize = 65536;
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
	return rc;
}

static int read_numbers(const struct conf_section *in, struct mgr_conf *conf)
{
	const struct {
		const char *key;
		unsigned int min, max, *val;
	} keys[] = {
		{ "slots", 1, 1024, &conf->slots },
		{ "max_sessions", 1, 1 << 20, &conf->max_sessions },
		{ "poll_us", 0, 10000, &conf->poll_us },
		{ "iod_calls", 1, 1 << 24, &conf->iod_calls },
	};
	int rc = conf_size(in, "cache_size", 1 << 20, UINT64_C(1) << 40,
			   &conf->cache_size);

	for (size_t i = 0; !rc && i < sizeof(keys) / sizeof(keys[0]); i++)
		rc = conf_uint(in, keys[i].key, keys[i].min, keys[i].max,
			       keys[i].val);
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
		rc = server_conf_address(in, 3000, &conf->addr);
	return rc ? rc : server_conf_storage(in, conf->storage);
}

static int count_iod(void *arg, const char *section)
{
	uint32_t *n = arg;

	*n += !strncmp(section, "iod.", 4);
	return *n > WIRE_IOD_MAX;
}

/* Clients get all addresses in one message. */
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

/* As many sections as there are; a gap shows as one that is missing. */
static int read_iods(struct conf_section *in, struct mgr_conf *conf)
{
	char section[24] = "iod.0";
	uint32_t n = 0;
	size_t len = 0;
	int rc = 0;

	in->name = section;
	conf_sections(in->conf, count_iod, &n);
	if (!n || n > WIRE_IOD_MAX)
		return conf_complain(
			in, "address",
			n ? "more than 1024 iods"
			  : "no iods; add sections [iod.0], [iod.1]");
	conf->iod = calloc(n, sizeof(conf->iod[0]));
	if (!conf->iod) {
		conf_complain(in, "address", "no memory for the iods");
		return -ENOMEM;
	}
	conf->niods = n;
	for (uint32_t i = 0; !rc && i < n; i++) {
		snprintf(section, sizeof(section), "iod.%u", i);
		rc = server_conf_address(in, 7000, &conf->iod[i]);
		if (!rc)
			rc = add_length(in, &conf->iod[i], &len);
	}
	in->name = "filesystem";
	if (!rc && conf->pcount > n)
		return conf_complain(in, "stripe_count",
				     "more than there are iods; 0 means all");
	return rc;
}

static int read_all(struct conf_section *in, struct mgr_conf *conf)
{
	int rc;

	in->name = "filesystem";
	rc = read_filesystem(in, conf);
	in->name = "mgr";
	if (!rc)
		rc = read_mgr(in, conf);
	return rc ? rc : read_iods(in, conf);
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
	defaults(&tmp);
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
