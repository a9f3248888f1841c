/* SPDX-License-Identifier: BSD-2-Clause */
/* server_conf.c - settings that all servers read from the configuration of the cluster. */
#include "common/comm/cluster/server_conf.h"

#include <stdlib.h>
#include <string.h>

#include "common/comm/fabric/fabric.h"

/* The transports: fabric_conf.h. */
#define KEYS_FABRIC(section)                                                   \
	section ".fabric", section ".rdma_device", section ".rdma_gid",        \
		section ".rdma_sl", section ".rdma_tc",                        \
		section ".rdma_bulk_sl", section ".rdma_bulk_tc",              \
		section ".dead_peer"

/* [iod] holds for all iods, [iod.N] for one. */
#define KEYS_IOD(section)                                                      \
	section ".log_level", section ".threads", section ".sync_threads",     \
		section ".sync", section ".slots", section ".max_sessions",    \
		section ".host_sessions", section ".unit_size",                \
		section ".zones", section ".map_size", section ".max_open",    \
		section ".poll_us", section ".engine", section ".inline_max",  \
		section ".fast_size", section ".rdma_max",                     \
		section ".rendezvous", section ".rendezvous_above",            \
		section ".direct", section ".words", section ".ends",          \
		section ".slow", section ".share", KEYS_FABRIC(section)

/* [mgr] holds for all managers, [mgr.N] for one. */
#define KEYS_MGR(section)                                                      \
	section ".address", section ".storage", section ".cache_size",         \
		section ".log_level", section ".slots",                        \
		section ".max_sessions", section ".host_sessions",             \
		section ".poll_us", section ".iod_calls", section ".slow",     \
		KEYS_FABRIC(section)

/*
 * All keys of the file.  Each server must accept the settings of the others, so add each new
 * setting here.
 */
static const char *const known[] = {
	"filesystem.id",
	"filesystem.stripe_size",
	"filesystem.stripe_count",
	"filesystem.key",
	"filesystem.allow",
	"filesystem.auth",
	"filesystem.key_user",
	"filesystem.munge_socket",
	"filesystem.ticket_life",
	"filesystem.capabilities",
	"filesystem.seal",
	"filesystem.copies",
	"filesystem.domain",
	"filesystem.group_lease",
	"mgr.from",
	"mgr.session_timeout",
	"mgr.lease",
	"mgr.squash",
	"mgr.squash_uid",
	"mgr.squash_gid",
	"mgr.read_only",
	"mgr.speakers",
	KEYS_MGR("mgr"),
	KEYS_MGR("mgr.*"),
	KEYS_IOD("iod"),
	KEYS_IOD("iod.*"),
	"iod.*.address",
	"iod.*.storage",
	"iod.*.host",
	"iod.*.rack",
	"iod.*.power",
	NULL,
};

int server_conf_load(const char *path, struct conf **file, char *err,
		     size_t errlen)
{
	struct conf *conf;
	int rc = conf_load(path, &conf, err, errlen);

	if (rc)
		return rc;
	rc = conf_only(conf, known, err, errlen);
	if (rc)
		conf_free(conf);
	else
		*file = conf;
	return rc;
}

int server_conf_fsid(const struct conf_section *in, uint64_t *fsid)
{
	const char *id = conf_get(in, "id");
	uint64_t n = 0;

	/* strtoull() also accepts blanks, a sign and 0x */
	if (id && strlen(id) == 16 &&
	    strspn(id, "0123456789abcdefABCDEF") == 16)
		n = strtoull(id, NULL, 16);
	if (!n)
		return conf_complain(in, "id",
				     "write 16 hex digits, not all zero");
	*fsid = n;
	return 0;
}

int server_conf_address(const struct conf_section *in, uint16_t port,
			struct addr *addr)
{
	const char *uri = conf_get(in, "address");

	if (!uri)
		return conf_complain(in, "address",
				     "missing; add address = pvfs://HOST:PORT");
	if (addr_parse(uri, port, addr) || !fabric_scheme_ok(addr->scheme))
		return conf_complain(in, "address",
				     "not an address that this build serves; "
				     "write pvfs://HOST:PORT");
	return 0;
}

int server_conf_storage(const struct conf_section *in, char dir[PATH_MAX])
{
	const char *storage = conf_get(in, "storage");

	if (!storage)
		return conf_complain(in, "storage",
				     "missing; add storage = DIRECTORY");
	if (storage[0] != '/' || strlen(storage) >= PATH_MAX)
		return conf_complain(in, "storage", "write an absolute path");
	strcpy(dir, storage);
	return 0;
}

int server_conf_key(const struct conf_section *in, char path[PATH_MAX])
{
	const char *key = conf_get(in, "key");

	path[0] = '\0';
	if (!key)
		return 0;
	if (key[0] != '/' || strlen(key) >= PATH_MAX)
		return conf_complain(in, "key", "write an absolute path");
	strcpy(path, key);
	return 0;
}

int server_conf_log_level(const struct conf_section *in, enum log_level *level)
{
	const char *name = conf_get(in, "log_level");

	if (!name || !log_level_parse(name, level))
		return 0;
	return conf_complain(in, "log_level",
			     "write error, warn, info or debug");
}

int server_conf_session_timeout(const struct conf_section *in, unsigned int *ms)
{
	unsigned int s = *ms / 1000;
	int rc = conf_uint(in, "session_timeout", 1, 86400, &s);

	*ms = s * 1000;
	return rc;
}

/*
 * Returns the maximum number of sessions that one host may have.  By default, an eighth of all
 * sessions is left for other hosts.
 */
unsigned int server_host_sessions(unsigned int asked, unsigned int max)
{
	return asked == SERVER_HOST_SESSIONS ? max - max / 8 : asked;
}
