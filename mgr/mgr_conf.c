/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_conf.c - the mgr's settings out of the cluster's configuration. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "conf_keys.h"
#include "dist.h"
#include "mgr_conf.h"
#include "transport.h"
#include "wire.h"

struct reader {
	const struct conf *file;
	struct mgr_conf *conf;
	char *err;
	size_t errlen;
};

void mgr_conf_defaults(struct mgr_conf *conf)
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

/* The message "FILE:LINE: ..." about a key of the section; -EINVAL. */
static int complain(const struct reader *r, const char *section,
		    const char *key, const char *what)
{
	return conf_complain(r->file, section, key, what, r->err, r->errlen);
}

static int read_u32(const struct reader *r, const char *section,
		    const char *key, uint32_t min, uint32_t max, uint32_t *val)
{
	uint64_t n = *val;
	int rc = conf_size(r->file, section, key, min, max, &n, r->err,
			   r->errlen);

	*val = (uint32_t)n;
	return rc;
}

static int read_address(const struct reader *r, const char *section,
			uint16_t port, struct addr *addr)
{
	const char *uri = conf_get(r->file, section, "address");

	if (!uri)
		return complain(r, section, "address",
				"missing; add address = pvfs://HOST:PORT");
	if (addr_parse(uri, port, addr) || !fabric_scheme_ok(addr->scheme))
		return complain(r, section, "address",
				"not an address that this build serves; "
				"write pvfs://HOST:PORT");
	return 0;
}

static int read_filesystem(const struct reader *r)
{
	const char *id = conf_get(r->file, "filesystem", "id");
	char *end;
	int rc;

	if (!id || strlen(id) != 16)
		return complain(r, "filesystem", "id",
				"write 16 hex digits, not all zero");
	r->conf->fsid = strtoull(id, &end, 16);
	if (*end || !r->conf->fsid)
		return complain(r, "filesystem", "id",
				"write 16 hex digits, not all zero");
	rc = read_u32(r, "filesystem", "stripe_size", DIST_SSIZE_MIN,
		      DIST_SSIZE_MAX, &r->conf->ssize);
	if (rc)
		return rc;
	return read_u32(r, "filesystem", "stripe_count", 0, WIRE_IOD_MAX,
			&r->conf->pcount);
}

static int read_storage(const struct reader *r)
{
	const char *storage = conf_get(r->file, "mgr", "storage");

	if (!storage)
		return complain(r, "mgr", "storage",
				"missing; add storage = DIRECTORY");
	if (storage[0] != '/' || strlen(storage) >= sizeof(r->conf->storage))
		return complain(r, "mgr", "storage", "write an absolute path");
	strcpy(r->conf->storage, storage);
	return 0;
}

static int read_numbers(const struct reader *r)
{
	struct mgr_conf *conf = r->conf;
	unsigned int ttl_s = conf->session_ttl_ms / 1000;
	const struct {
		const char *key;
		unsigned int min, max, *val;
	} keys[] = {
		{ "session_timeout", 1, 86400, &ttl_s },
		{ "slots", 1, 1024, &conf->slots },
		{ "max_sessions", 1, 1 << 20, &conf->max_sessions },
		{ "poll_us", 0, 10000, &conf->poll_us },
		{ "iod_calls", 1, 1 << 24, &conf->iod_calls },
	};
	int rc;

	rc = conf_size(r->file, "mgr", "cache_size", 1 << 20, UINT64_C(1) << 40,
		       &conf->cache_size, r->err, r->errlen);
	for (size_t i = 0; !rc && i < sizeof(keys) / sizeof(keys[0]); i++)
		rc = read_u32(r, "mgr", keys[i].key, keys[i].min, keys[i].max,
			      keys[i].val);
	conf->session_ttl_ms = ttl_s * 1000;
	return rc;
}

static int read_mgr(const struct reader *r)
{
	const char *level = conf_get(r->file, "mgr", "log_level");
	int rc;

	if (level && log_level_parse(level, &r->conf->log_level))
		return complain(r, "mgr", "log_level",
				"write error, warn, info or debug");
	rc = read_numbers(r);
	if (!rc)
		rc = fabric_conf_read(r->file, "mgr", &r->conf->fabric, r->err,
				      r->errlen);
	if (!rc)
		rc = read_address(r, "mgr", 3000, &r->conf->addr);
	return rc ? rc : read_storage(r);
}

static int count_iod(void *arg, const char *section)
{
	uint32_t *n = arg;

	*n += !strncmp(section, "iod.", 4);
	return *n > WIRE_IOD_MAX;
}

/* Clients get all addresses in one message. */
static int add_length(const struct reader *r, const char *section,
		      const struct addr *addr, size_t *len)
{
	char uri[ADDR_STRLEN];

	*len += strlen(addr_format(addr, uri, sizeof(uri))) + 1;
	if (*len <= WIRE_URIS_MAX)
		return 0;
	return complain(r, section, "address",
			"all addresses up to here are longer than 16 KiB "
			"together; write shorter names of hosts");
}

/* As many sections as there are; a gap shows as one that is missing. */
static int read_iods(const struct reader *r)
{
	struct mgr_conf *conf = r->conf;
	char section[24] = "iod.0";
	uint32_t n = 0;
	size_t len = 0;
	int rc = 0;

	conf_sections(r->file, count_iod, &n);
	if (!n || n > WIRE_IOD_MAX)
		return complain(r, section, "address",
				n ? "more than 1024 iods"
				  : "no iods; add sections [iod.0], [iod.1]");
	conf->iod = calloc(n, sizeof(conf->iod[0]));
	if (!conf->iod)
		return -ENOMEM;
	conf->niods = n;
	for (uint32_t i = 0; !rc && i < n; i++) {
		snprintf(section, sizeof(section), "iod.%u", i);
		rc = read_address(r, section, 7000, &conf->iod[i]);
		if (!rc)
			rc = add_length(r, section, &conf->iod[i], &len);
	}
	if (!rc && conf->pcount > n)
		return complain(r, "filesystem", "stripe_count",
				"more than there are iods; 0 means all");
	return rc;
}

int mgr_conf_load(const char *path, struct mgr_conf *conf, char *err,
		  size_t errlen)
{
	static const char *const known[] = { CONF_KEYS, NULL };
	struct mgr_conf tmp;
	struct reader r = { .conf = &tmp, .err = err, .errlen = errlen };
	struct conf *file;
	int rc;

	rc = conf_load(path, &file, err, errlen);
	if (rc)
		return rc;
	r.file = file;
	mgr_conf_defaults(&tmp);
	rc = conf_only(file, known, err, errlen);
	if (!rc)
		rc = read_filesystem(&r);
	if (!rc)
		rc = read_mgr(&r);
	if (!rc)
		rc = read_iods(&r);
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
