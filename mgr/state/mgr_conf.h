/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_conf.h - the mgr's settings out of the cluster's configuration. */
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
	struct addr addr;
	struct fabric_conf fabric;
	char storage[PATH_MAX];
	char key[PATH_MAX]; /* file of the servers' keys; "": none */
	struct networks allow; /* none: all */
	struct exports exports;
	struct server_auth auth;
	enum log_level log_level;
	uint64_t cache_size; /* bytes */
	unsigned int slots; /* requests in flight per session */
	unsigned int max_sessions;
	unsigned int host_sessions; /* 0: as many */
	unsigned int session_ttl_ms;
	unsigned int
		lease_s; /* of an iod without us: clients may change so long */
	unsigned int slow_ms; /* leaves a line in the log; 0: nothing does */
	unsigned int poll_us; /* poll this long before sleeping */
	unsigned int iod_calls; /* of truncations and sizes, at a time */
	uint32_t ssize; /* default stripes of a new file: bytes */
	uint32_t pcount; /* ... and iods, 0: all */
	uint32_t niods;
	struct addr *iod; /* niods */
};

/*
 * Reads the file at path; mgr_conf_free() releases the iods.  -errno, and a
 * line with the file, the cause and the fix in err.
 */
int mgr_conf_load(const char *path, struct mgr_conf *conf, char *err,
		  size_t errlen);
/* Of the addresses of all servers, if it is one; else FABRIC_ANY. */
const char *mgr_conf_scheme(const struct mgr_conf *conf);
/* dst is made independent of src. */
int mgr_conf_copy(struct mgr_conf *dst, const struct mgr_conf *src);
void mgr_conf_free(struct mgr_conf *conf);

#endif
