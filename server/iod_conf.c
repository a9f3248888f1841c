/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_conf.c - the settings of one iod out of the cluster's configuration. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf.h"
#include "conf_keys.h"
#include "iod_conf.h"

/* 16 MiB; a request takes two buffers of up to unit_size bytes. */
#define ZONES_DEFAULT "64K:16 128K:8 256K:32 512K:4 1M:2 2M:1"

struct reader {
	const struct conf *conf;
	const char *section; /* "iod" or "iod.N" */
	char *err;
	size_t errlen;
};

void iod_conf_defaults(struct iod_conf *conf)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	memset(conf, 0, sizeof(*conf));
	conf->log_level = LOG_LV_INFO;
	conf->threads = cpus < 1 ? 1 : cpus > 4 ? 4 : (unsigned int)cpus;
	conf->sync_threads = 4;
	conf->slots = 10; /* a connection registers less than 1 MiB */
	conf->max_sessions = 4096;
	conf->session_ttl_ms = 60000;
	conf->unit_size = 256 * 1024;
	iod_zones_parse(ZONES_DEFAULT, &conf->zones);
	conf->rdma_max = 64ull << 20;
	conf->fast_size = 64ull << 20;
	conf->map_size = 1ull << 30;
	conf->max_open = 1024;
	conf->poll_us = 30;
}

/* The message "FILE:LINE: ..." about a key of the section; -EINVAL. */
static int complain(const struct reader *r, const char *key, const char *what)
{
	return conf_complain(r->conf, r->section, key, what, r->err, r->errlen);
}

static int read_uint(const struct reader *r, const char *key, unsigned int min,
		     unsigned int max, unsigned int *val)
{
	uint64_t n = *val;
	int rc = conf_size(r->conf, r->section, key, min, max, &n, r->err,
			   r->errlen);

	*val = (unsigned int)n;
	return rc;
}

static int read_level(const struct reader *r, enum log_level *level)
{
	const char *name = conf_get(r->conf, r->section, "log_level");

	if (!name || !log_level_parse(name, level))
		return 0;
	return complain(r, "log_level", "write error, warn, info or debug");
}

static int read_unit_size(const struct reader *r, struct iod_conf *conf)
{
	unsigned int size = (unsigned int)conf->unit_size;
	int rc = read_uint(r, "unit_size", 16384, 16 << 20, &size);

	if (!rc && size % 4096)
		return complain(r, "unit_size", "write a multiple of 4K");
	conf->unit_size = size;
	return rc;
}

static int read_zones(const struct reader *r, struct iod_conf *conf)
{
	const char *text = conf_get(r->conf, r->section, "zones");

	if (!text || !iod_zones_parse(text, &conf->zones))
		return 0;
	return complain(r, "zones",
			"write SIZE:COUNT for each zone, from small to big; "
			"sizes are multiples of 4K from 16K to 16M, and all "
			"buffers together 4 at least and no more than 64G");
}

static int read_engine(const struct reader *r, enum iod_engine *engine)
{
	const char *text = conf_get(r->conf, r->section, "engine");

	if (!text)
		return 0;
	if (!strcmp(text, "cached"))
		*engine = IOD_CACHED;
	else if (!strcmp(text, "direct"))
		*engine = IOD_DIRECT;
	else if (!strcmp(text, "auto"))
		*engine = IOD_AUTO;
	else
		return complain(r, "engine", "write cached, direct or auto");
	return 0;
}

static int read_inline_max(const struct reader *r, struct sizes *sizes)
{
	const char *text = conf_get(r->conf, r->section, "inline_max");

	if (!text || !sizes_parse(text, sizes))
		return 0;
	return complain(r, "inline_max", "write " SIZES_WANT);
}

static int read_bytes(const struct reader *r, struct iod_conf *conf)
{
	const struct {
		const char *key;
		uint64_t *val;
	} keys[] = {
		{ "map_size", &conf->map_size },
		{ "fast_size", &conf->fast_size },
		{ "rdma_max", &conf->rdma_max },
	};
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < sizeof(keys) / sizeof(keys[0]); i++)
		rc = conf_size(r->conf, r->section, keys[i].key, 0, 1ull << 40,
			       keys[i].val, r->err, r->errlen);
	return rc;
}

/* What [iod] and [iod.N] have in common. */
static int read_section(const struct reader *r, struct iod_conf *conf)
{
	const struct {
		const char *key;
		unsigned int min, max, *val;
	} keys[] = {
		{ "threads", 1, IOD_THREADS_MAX, &conf->threads },
		{ "sync_threads", 1, 64, &conf->sync_threads },
		{ "slots", 1, 1024, &conf->slots },
		{ "max_sessions", 1, 1 << 20, &conf->max_sessions },
		{ "max_open", 16, 1 << 20, &conf->max_open },
		{ "poll_us", 0, 10000, &conf->poll_us },
	};
	unsigned int i;
	int rc;

	rc = conf_bool(r->conf, r->section, "sync", &conf->sync, r->err,
		       r->errlen);
	if (!rc)
		rc = read_level(r, &conf->log_level);
	if (!rc)
		rc = fabric_conf_read(r->conf, r->section, &conf->fabric,
				      r->err, r->errlen);
	if (!rc)
		rc = read_unit_size(r, conf);
	if (!rc)
		rc = read_zones(r, conf);
	if (!rc)
		rc = read_bytes(r, conf);
	if (!rc)
		rc = read_inline_max(r, &conf->inline_max);
	if (!rc)
		rc = read_engine(r, &conf->engine);
	for (i = 0; !rc && i < sizeof(keys) / sizeof(keys[0]); i++)
		rc = read_uint(r, keys[i].key, keys[i].min, keys[i].max,
			       keys[i].val);
	return rc;
}

static int read_place(const struct reader *r, struct iod_conf *conf)
{
	const char *address = conf_get(r->conf, r->section, "address");
	const char *storage = conf_get(r->conf, r->section, "storage");

	if (!address)
		return complain(r, "address",
				"missing; add address = pvfs://HOST:PORT");
	if (addr_parse(address, 7000, &conf->addr) ||
	    !fabric_scheme_ok(conf->addr.scheme))
		return complain(r, "address",
				"not an address that this build serves; "
				"write pvfs://HOST:PORT");
	if (!storage)
		return complain(r, "storage",
				"missing; add storage = DIRECTORY");
	if (storage[0] != '/' || strlen(storage) >= sizeof(conf->storage))
		return complain(r, "storage", "write an absolute path");
	strcpy(conf->storage, storage);
	return 0;
}

/* Where the manager connects from: what "from" says, else its address. */
static int read_mgr_from(const struct reader *r, struct iod_conf *conf)
{
	const char *address = conf_get(r->conf, "mgr", "address");
	const char *from = conf_get(r->conf, "mgr", "from");
	struct addr addr = { 0 };

	if (!from && address && addr_parse(address, 3000, &addr))
		return complain(r, "address",
				"not an address; write pvfs://HOST:PORT");
	if (!from)
		from = addr.host;
	if (strlen(from) >= sizeof(conf->mgr_from))
		return complain(r, "from", "longer than 511 bytes");
	strcpy(conf->mgr_from, from);
	return 0;
}

/* What concerns the whole cluster. */
static int read_cluster(struct reader *r, struct iod_conf *conf)
{
	unsigned int ttl_s = conf->session_ttl_ms / 1000;
	const char *id;
	char *end;
	int rc;

	r->section = "filesystem";
	id = conf_get(r->conf, "filesystem", "id");
	if (!id || strlen(id) != 16)
		return complain(r, "id", "write 16 hex digits, not all zero");
	conf->fsid = strtoull(id, &end, 16);
	if (*end || !conf->fsid)
		return complain(r, "id", "write 16 hex digits, not all zero");
	r->section = "mgr";
	rc = read_uint(r, "session_timeout", 1, 86400, &ttl_s);
	conf->session_ttl_ms = ttl_s * 1000;
	return rc ? rc : read_mgr_from(r, conf);
}

static int read_all(struct reader *r, struct iod_conf *conf)
{
	static const char *const known[] = { CONF_KEYS, NULL };
	char section[24];
	int rc;

	rc = conf_only(r->conf, known, r->err, r->errlen);
	if (!rc)
		rc = read_cluster(r, conf);
	r->section = "iod";
	if (!rc)
		rc = read_section(r, conf);
	snprintf(section, sizeof(section), "iod.%u", conf->index);
	r->section = section;
	if (!rc)
		rc = read_section(r, conf);
	if (!rc)
		rc = read_place(r, conf);
	return rc;
}

int iod_conf_load(const char *path, uint32_t index, struct iod_conf *conf,
		  char *err, size_t errlen)
{
	struct reader r = { .err = err, .errlen = errlen };
	struct iod_conf tmp;
	struct conf *file;
	int rc;

	rc = conf_load(path, &file, err, errlen);
	if (rc)
		return rc;
	r.conf = file;
	iod_conf_defaults(&tmp);
	tmp.index = index;
	rc = read_all(&r, &tmp);
	conf_free(file);
	if (!rc)
		*conf = tmp;
	return rc;
}
