/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_conf.h - the settings of one iod out of the cluster's configuration. */
#ifndef IOD_CONF_H
#define IOD_CONF_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/addr.h"
#include "common/comm/fabric/fabric_conf.h"
#include "common/util/log.h"
#include "common/util/networks.h"
#include "common/comm/cluster/server_conf.h"
#include "common/comm/fabric/sizes.h"
#include "common/buffer/zone.h"

#define IOD_THREADS_MAX 64u
#define ZONES_TEXT 256u /* room for iod_zones_format() */

/* What clients of this host may have of objects: loan_table.h. */
/* OURS: to programs of root and of the iod's own user; to others for reading alone. */
enum iod_lend { IOD_LEND_OURS, IOD_LEND_ALL, IOD_LEND_READS, IOD_LEND_NOTHING };

/* Counters that clients change by RDMA: where no process wakes up; everywhere; not. */
enum iod_words { IOD_WORDS_OFF, IOD_WORDS_ON, IOD_WORDS_ALL };

enum iod_engine { IOD_CACHED, IOD_DIRECT, IOD_AUTO };

struct iod_conf {
	uint64_t fsid;
	uint32_t index;
	struct addr addr;
	uint32_t niods; /* of the file system; 0: not known */
	struct addr *iods; /* where they are: whose the settings are frees it */
	struct fabric_conf fabric;
	char path[PATH_MAX]; /* of the file that says all this */
	char storage[PATH_MAX];
	char key[PATH_MAX]; /* file of the servers' keys; "": none */
	struct networks allow; /* who may connect; none: all */
	struct server_auth auth;
	bool squash; /* root of other hosts is nobody to the manager */
	char mgr_from[512]; /* without: hosts of the manager: trust.h */
	bool sync; /* writes are durable when answered */
	enum log_level log_level;
	unsigned int threads; /* progress threads */
	unsigned int sync_threads; /* threads that wait for the disk */
	unsigned int slots; /* requests in flight per session */
	unsigned int max_sessions;
	unsigned int host_sessions; /* 0: as many */
	unsigned int session_ttl_ms;
	size_t unit_size; /* most bytes of a chunk of a transfer */
	struct zones_attr zones; /* of each progress thread; rails unset */
	struct sizes inline_max; /* room for data in a request */
	uint64_t rdma_max; /* bytes under way to or from clients; 0: no bound */
	bool adaptive; /* rendezvous: clients move what is more under way */
	uint64_t rendezvous_above; /* than so many bytes */
	uint64_t fast_size; /* bytes of Fast RDMA buffers, of all clients */
	uint64_t map_size; /* bytes of objects mapped for reading */
	uint64_t share; /* bytes of blocks that clients read by RDMA; 0: none */
	enum iod_engine engine; /* auto: direct where that can be */
	enum iod_lend direct;
	enum iod_words words;
	enum iod_words ends; /* sizes are shown; by the same devices */
	unsigned int max_open; /* object files kept open */
	unsigned int slow_ms; /* leaves a line in the log; 0: nothing does */
	unsigned int poll_us; /* poll this long before sleeping */
	bool new_store; /* what was stored before is lost */
};

/* All but fsid, index, addr and storage. */
void iod_conf_defaults(struct iod_conf *conf);
/* What iod_conf_load() took for them. */
void iod_conf_free(struct iod_conf *conf);
/*
 * Reads the settings of iod `index` from the file at path.  -errno, and a
 * line with the file, the cause and the fix in err.
 */
int iod_conf_load(const char *path, uint32_t index, struct iod_conf *conf,
		  char *err, size_t errlen);

/* "64K:16 1M:2" into n and zone; -EINVAL. */
int iod_zones_parse(const char *text, struct zones_attr *zones);
/* The reverse: buf, for messages. */
const char *iod_zones_format(const struct zones_attr *zones, char *buf,
			     size_t len);

#endif
