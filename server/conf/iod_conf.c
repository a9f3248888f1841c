/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_conf.c - reads the settings of one iod from the cluster's configuration. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/conf/iod_conf.h"
#include "common/util/conf.h"
#include "common/comm/fabric/rendezvous.h"
#include "common/comm/cluster/server_conf.h"
#include "common/util/words.h"

/* 16 MiB; a request takes two buffers of up to unit_size bytes. */
#define ZONES_DEFAULT "64K:16 128K:8 256K:32 512K:4 1M:2 2M:1"

/* ---- the setting `zones`, from and to text ---- */

#define SIZE_LEAST (16u << 10)
#define SIZE_MOST (16u << 20)
/* a transfer uses two, and a client at most half of all */
#define COUNT_LEAST 4u
#define COUNT_MOST (1u << 20)
#define BYTES_MOST (64ull << 30)

/* word: "SIZE:COUNT"; the colon is overwritten. */
static int parse_zone(char *word, struct zone_size *zone)
{
	char *colon = strchr(word, ':');
	uint64_t size, count;

	if (!colon)
		return -EINVAL;
	*colon = '\0';
	if (conf_parse_size(word, &size) || conf_parse_size(colon + 1, &count))
		return -EINVAL;
	if (size < SIZE_LEAST || size > SIZE_MOST || count > COUNT_MOST)
		return -EINVAL;
	zone->size = (size_t)size;
	zone->count = (unsigned int)count;
	return 0;
}

int iod_zones_parse(const char *text, struct zones_attr *zones)
{
	struct zones_attr got = { .n = 0 };
	char copy[ZONES_TEXT], *word, *next;
	unsigned int count = 0;

	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);
	for (word = strtok_r(copy, " \t,", &next); word;
	     word = strtok_r(NULL, " \t,", &next)) {
		if (got.n == ZONES_MAX || parse_zone(word, &got.zone[got.n]))
			return -EINVAL;
		count += got.zone[got.n++].count;
	}
	if (count < COUNT_LEAST || !zones_bytes(&got) ||
	    zones_bytes(&got) > BYTES_MOST)
		return -EINVAL;
	got.rails = zones->rails;
	*zones = got;
	return 0;
}

const char *iod_zones_format(const struct zones_attr *zones, char *buf,
			     size_t len)
{
	size_t at = 0;
	unsigned int i;
	int n;

	buf[0] = '\0';
	for (i = 0; i < zones->n; i++) {
		n = snprintf(buf + at, len - at, "%s%zuK:%u", i ? " " : "",
			     zones->zone[i].size / 1024, zones->zone[i].count);
		if (n < 0 || (size_t)n >= len - at)
			break;
		at += (size_t)n;
	}
	return buf;
}

/* ---- all settings ---- */

void iod_conf_defaults(struct iod_conf *conf)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	memset(conf, 0, sizeof(*conf));
	conf->log_level = LOG_LV_INFO;
	conf->threads = cpus < 1 ? 1 : cpus > 4 ? 4 : (unsigned int)cpus;
	conf->sync_threads = 4;
	conf->slots = 10; /* so a connection registers less than 1 MiB */
	conf->max_sessions = 4096;
	conf->host_sessions = SERVER_HOST_SESSIONS;
	conf->session_ttl_ms = 60000;
	conf->group_lease_ms = 2000;
	conf->unit_size = 256 * 1024;
	iod_zones_parse(ZONES_DEFAULT, &conf->zones);
	conf->rdma_max = 64ull << 20;
	conf->rendezvous_above = 8ull << 20;
	conf->fast_size = 64ull << 20;
	conf->map_size = 1ull << 30;
	conf->max_open = 1024;
	conf->poll_us = 30;
	conf->slow_ms = 1000;
	conf->ends = IOD_WORDS_ON;
}

static int read_unit_size(const struct conf_section *in, struct iod_conf *conf)
{
	unsigned int size = (unsigned int)conf->unit_size;
	int rc = conf_uint(in, "unit_size", 16384, 16 << 20, &size);

	if (!rc && size % 4096)
		return conf_complain(in, "unit_size", "write a multiple of 4K");
	conf->unit_size = size;
	return rc;
}

static int read_zones(const struct conf_section *in, struct iod_conf *conf)
{
	const char *text = conf_get(in, "zones");

	if (!text || !iod_zones_parse(text, &conf->zones))
		return 0;
	return conf_complain(
		in, "zones",
		"write SIZE:COUNT for each zone, from small to big; "
		"sizes are multiples of 4K from 16K to 16M, and all "
		"buffers together 4 at least and no more than 64G");
}

#define WORDS(list) ((unsigned int)(sizeof(list) / sizeof((list)[0])))

/* Reads a setting that is one of n words; *val is the index of the word. */
static int read_word(const struct conf_section *in, const char *key,
		     const char *const *word, unsigned int n, const char *want,
		     unsigned int *val)
{
	const char *text = conf_get(in, key);
	int i = text ? words_index(text, word, n) : (int)*val;

	if (i < 0)
		return conf_complain(in, key, want);
	*val = (unsigned int)i;
	return 0;
}

static int read_engine(const struct conf_section *in, struct iod_conf *conf)
{
	static const char *const word[] = {
		[IOD_CACHED] = "cached", [IOD_DIRECT] = "direct", [IOD_AUTO] = "auto"
	};
	unsigned int val = conf->engine;
	int rc = read_word(in, "engine", word, WORDS(word),
			   "write cached, direct or auto", &val);

	conf->engine = val;
	return rc;
}

static int read_direct(const struct conf_section *in, struct iod_conf *conf)
{
	static const char *const word[] = { [IOD_LEND_OURS] = "on",
					    [IOD_LEND_ALL] = "all",
					    [IOD_LEND_READS] = "read",
					    [IOD_LEND_NOTHING] = "off" };
	unsigned int val = conf->direct;
	int rc = read_word(in, "direct", word, WORDS(word),
			   "write on, all, read or off", &val);

	conf->direct = val;
	return rc;
}

static int read_lent(const struct conf_section *in, const char *key,
		     enum iod_words *words)
{
	static const char *const word[] = {
		[IOD_WORDS_OFF] = "off", [IOD_WORDS_ON] = "on", [IOD_WORDS_ALL] = "all"
	};
	unsigned int val = *words;
	int rc = read_word(in, key, word, WORDS(word), "write off, on or all",
			   &val);

	*words = val;
	return rc;
}

static int read_inline_max(const struct conf_section *in, struct sizes *sizes)
{
	const char *text = conf_get(in, "inline_max");

	if (!text || !sizes_parse(text, sizes))
		return 0;
	return conf_complain(in, "inline_max", "write " SIZES_WANT);
}

static int read_rendezvous(const struct conf_section *in, bool *adaptive)
{
	const char *text = conf_get(in, "rendezvous");

	if (!text || !rendezvous_parse(text, adaptive))
		return 0;
	return conf_complain(in, "rendezvous", "write " RENDEZVOUS_WANT);
}

static int read_bytes(const struct conf_section *in, struct iod_conf *conf)
{
	const struct {
		const char *key;
		uint64_t *val;
	} keys[] = {
		{ "map_size", &conf->map_size },
		{ "share", &conf->share },
		{ "fast_size", &conf->fast_size },
		{ "rdma_max", &conf->rdma_max },
		{ "rendezvous_above", &conf->rendezvous_above },
	};
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < sizeof(keys) / sizeof(keys[0]); i++)
		rc = conf_size(in, keys[i].key, 0, 1ull << 40, keys[i].val);
	return rc;
}

static int read_numbers(const struct conf_section *in, struct iod_conf *conf)
{
	const struct {
		const char *key;
		unsigned int min, max, *val;
	} keys[] = {
		{ "threads", 1, IOD_THREADS_MAX, &conf->threads },
		{ "sync_threads", 1, 64, &conf->sync_threads },
		{ "slots", 1, 1024, &conf->slots },
		{ "max_sessions", SERVER_SESSIONS_MIN, 1 << 20,
		  &conf->max_sessions },
		{ "host_sessions", 0, 1 << 20, &conf->host_sessions },
		{ "max_open", 16, 1 << 20, &conf->max_open },
		{ "poll_us", 0, 10000, &conf->poll_us },
		{ "slow", 0, 3600000, &conf->slow_ms },
	};
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < sizeof(keys) / sizeof(keys[0]); i++)
		rc = conf_uint(in, keys[i].key, keys[i].min, keys[i].max,
			       keys[i].val);
	conf->host_sessions = server_host_sessions(conf->host_sessions,
						   conf->max_sessions);
	return rc;
}

/* Reads the settings that [iod] and [iod.N] share. */
static int read_section(const struct conf_section *in, struct iod_conf *conf)
{
	int rc = conf_bool(in, "sync", &conf->sync);

	if (!rc)
		rc = server_conf_log_level(in, &conf->log_level);
	if (!rc)
		rc = fabric_conf_read(in, &conf->fabric);
	if (!rc)
		rc = read_unit_size(in, conf);
	if (!rc)
		rc = read_zones(in, conf);
	if (!rc)
		rc = read_bytes(in, conf);
	if (!rc)
		rc = read_inline_max(in, &conf->inline_max);
	if (!rc)
		rc = read_rendezvous(in, &conf->adaptive);
	if (!rc)
		rc = read_engine(in, conf);
	if (!rc)
		rc = read_direct(in, conf);
	if (!rc)
		rc = read_lent(in, "words", &conf->words);
	if (!rc)
		rc = read_lent(in, "ends", &conf->ends);
	return rc ? rc : read_numbers(in, conf);
}

/* Reads where managers connect from: "from", or the hosts of their addresses. */
static int read_mgr_from(const struct conf_section *in,
			 const struct server_mgrs *mgrs, struct iod_conf *conf)
{
	const char *from = conf_get(in, "from");
	int rc = 0;

	if (!from)
		rc = server_mgrs_hosts(mgrs, conf->mgr_from,
				       sizeof(conf->mgr_from));
	else if (strlen(from) >= sizeof(conf->mgr_from))
		rc = -ENAMETOOLONG;
	else
		strcpy(conf->mgr_from, from);
	return rc ? conf_complain(in, "from", "longer than 511 bytes") : 0;
}

/* The manager checks this setting and reports errors in it. */
static bool read_squash(const struct conf_section *in)
{
	const char *text = conf_get(in, "squash");

	return text && strcmp(text, "none");
}

static int read_group_lease(const struct conf_section *in, unsigned int *ms)
{
	unsigned int s = *ms / 1000;
	int rc = conf_uint(in, "group_lease", 1, 60, &s);

	*ms = s * 1000;
	return rc;
}

/* Reads the settings of the whole cluster. */
static int read_cluster(struct conf_section *in, struct iod_conf *conf)
{
	int rc;

	in->name = "filesystem";
	rc = server_conf_fsid(in, &conf->fsid);
	if (!rc)
		rc = server_conf_key(in, conf->key);
	if (!rc)
		rc = networks_conf(in, "allow", &conf->allow);
	if (!rc)
		rc = server_conf_auth(in, conf->key, &conf->auth);
	if (!rc)
		rc = read_group_lease(in, &conf->group_lease_ms);
	in->name = "mgr";
	conf->squash = read_squash(in);
	if (!rc)
		rc = server_conf_session_timeout(in, &conf->session_ttl_ms);
	return rc;
}

/* in: this iod's section. */
static int read_own_address(const struct conf_section *in,
			    const struct server_addrs *all,
			    struct iod_conf *conf)
{
	char what[64];

	if (conf->index < all->niods) {
		conf->addr = all->iod[conf->index];
		return 0;
	}
	snprintf(what, sizeof(what),
		 "missing; there are iods 0 to %u: see --index",
		 all->niods - 1);
	return conf_complain(in, "address", what);
}

static int read_addresses(const struct conf_section *in, struct iod_conf *conf)
{
	struct conf_section mgr = *in;
	struct server_addrs all;
	int rc = server_conf_addresses(in, &all);

	if (rc)
		return rc;
	mgr.name = "mgr";
	rc = read_own_address(in, &all, conf);
	if (!rc)
		rc = read_mgr_from(&mgr, &all.mgrs, conf);
	if (rc) {
		free(all.iod);
		return rc;
	}
	conf->niods = all.niods;
	conf->iods = all.iod;
	return 0;
}

static int read_all(struct conf_section *in, struct iod_conf *conf)
{
	char name[24];
	int rc = read_cluster(in, conf);

	in->name = "iod";
	if (!rc)
		rc = read_section(in, conf);
	snprintf(name, sizeof(name), "iod.%u", conf->index);
	in->name = name;
	if (!rc)
		rc = read_section(in, conf);
	if (!rc)
		rc = read_addresses(in, conf);
	return rc ? rc : server_conf_storage(in, conf->storage);
}

int iod_conf_load(const char *path, uint32_t index, struct iod_conf *conf,
		  char *err, size_t errlen)
{
	struct conf_section in = { .err = err, .errlen = errlen };
	struct iod_conf tmp;
	struct conf *file;
	int rc;

	rc = server_conf_load(path, &file, err, errlen);
	if (rc)
		return rc;
	in.conf = file;
	iod_conf_defaults(&tmp);
	tmp.index = index;
	snprintf(tmp.path, sizeof(tmp.path), "%s", path);
	rc = read_all(&in, &tmp);
	conf_free(file);
	if (!rc)
		*conf = tmp;
	else
		iod_conf_free(&tmp);
	return rc;
}

void iod_conf_free(struct iod_conf *conf)
{
	free(conf->iods);
	conf->iods = NULL;
	conf->niods = 0;
}
