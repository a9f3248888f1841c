/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_conf.h - the manager's settings from the configuration of the cluster. */
#ifndef MGR_CONF_H
#define MGR_CONF_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/addr.h"
#include "mgr/exports/exports.h"
#include "common/comm/fabric/fabric_conf.h"
#include "common/util/log.h"
#include "common/comm/cluster/server_conf.h"

struct mgr_conf {
	uint64_t fsid;
	/* all managers; mgrs.numbered: they have a log, and one of them leads */
	struct server_mgrs mgrs;
	unsigned int index; /* index of this manager in mgrs */
	struct addr addr; /* its address */
	struct fabric_conf fabric;
	char storage[PATH_MAX];
	char key[PATH_MAX]; /* file with the servers' keys; "": none */
	struct networks allow; /* allowed networks; none: all */
	struct exports exports;
	struct server_auth auth;
	enum log_level log_level;
	uint64_t cache_size; /* bytes */
	unsigned int slots; /* requests in flight per session */
	unsigned int max_sessions;
	unsigned int host_sessions; /* sessions per host; 0: max_sessions */
	unsigned int session_ttl_ms;
	/* time for which an iod without contact to the manager accepts changes */
	unsigned int lease_s;
	unsigned int slow_ms; /* slower requests are logged; 0: none */
	unsigned int poll_us; /* poll this long before sleeping */
	unsigned int iod_calls; /* concurrent calls for truncations and sizes */
	uint32_t ssize; /* default stripe size of a new file, bytes */
	uint32_t pcount; /* default number of iods of a new file; 0: all */
	uint32_t niods;
	struct addr *iod; /* niods */
	/*
	 * The domain of each iod: the lowest iod of its host, rack or power supply.  Not used yet:
	 * copyset_design.h.
	 */
	uint32_t *domain;
};

/*
 * Reads the file at path for the manager with this index.  MGR_INDEX_NONE: the only manager.
 * Call mgr_conf_free() to free the iods.  -errno, with a line in err that has the file, the cause
 * and the fix.
 */
#define MGR_INDEX_NONE UINT_MAX
int mgr_conf_load(const char *path, unsigned int index, struct mgr_conf *conf,
		  char *err, size_t errlen);
/* The scheme of the addresses of all servers if it is the same for all; else FABRIC_ANY. */
const char *mgr_conf_scheme(const struct mgr_conf *conf);
/* dst gets copies of what src points to. */
int mgr_conf_copy(struct mgr_conf *dst, const struct mgr_conf *src);
void mgr_conf_free(struct mgr_conf *conf);

#endif
