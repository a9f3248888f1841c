/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_conf.h - the settings of one iod from the cluster's configuration. */
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
#define ZONES_TEXT 256u /* size of a buffer for iod_zones_format() */

/*
 * The setting "direct": to which programs of this host the iod lends objects (loan_table.h).  Own
 * programs are those of root and of the iod's own user.
 *
 *                          store in memory                   store on a disk
 *   OURS ("on")            own: read and write; others: read  own: read; others: nothing
 *   ALL ("all")            all programs: read and write       all programs: read
 *   READS ("read")         all programs: read                 own: read; others: nothing
 *   NOTHING ("off")        nothing                            nothing
 */
enum iod_lend { IOD_LEND_OURS, IOD_LEND_ALL, IOD_LEND_READS, IOD_LEND_NOTHING };

/*
 * The settings "words" and "ends": whether clients access counters, or sizes, by RDMA.  ON: over
 * devices that need no process for it.  ALL: over all devices.
 */
enum iod_words { IOD_WORDS_OFF, IOD_WORDS_ON, IOD_WORDS_ALL };

enum iod_engine { IOD_CACHED, IOD_DIRECT, IOD_AUTO };

struct iod_conf {
	uint64_t fsid;
	uint32_t index;
	struct addr addr;
	uint32_t niods; /* number of iods of the file system; 0: not known */
	struct addr *iods; /* their addresses; freed by iod_conf_free() */
	struct fabric_conf fabric;
	char path[PATH_MAX]; /* path of the configuration file */
	char storage[PATH_MAX];
	/* path of the file with the servers' keys; "": none */
	char key[PATH_MAX];
	struct networks allow; /* networks that may connect; none: all */
	struct server_auth auth;
	bool squash; /* the manager maps users of other hosts to nobody */
	char mgr_from[512]; /* without key: hosts of the manager: mgr_addresses.h */
	bool sync; /* every answered write is durable */
	enum log_level log_level;
	unsigned int threads; /* progress threads */
	unsigned int sync_threads; /* threads that wait for the disk */
	unsigned int slots; /* requests in flight per session */
	unsigned int max_sessions;
	unsigned int host_sessions; /* sessions of one host, 0: max_sessions */
	unsigned int session_ttl_ms;
	unsigned int group_lease_ms; /* of promises.h */
	size_t unit_size; /* most bytes of a chunk of a transfer */
	struct zones_attr zones; /* of each progress thread; rails is not set */
	struct sizes inline_max; /* bytes of data in a request */
	/* bytes in flight to and from clients; 0: no bound */
	uint64_t rdma_max;
	/* rendezvous = adaptive: a loaded worker lets clients move their data themselves */
	bool adaptive;
	/* bytes in flight from which on a worker is loaded; the workers share them */
	uint64_t rendezvous_above;
	uint64_t fast_size; /* bytes of Fast RDMA buffers for all clients */
	uint64_t map_size; /* bytes of objects that may be mapped as windows */
	uint64_t share; /* bytes of blocks that clients read by RDMA; 0: none */
	/* IOD_AUTO: direct if the file system supports it */
	enum iod_engine engine;
	enum iod_lend direct;
	enum iod_words words;
	enum iod_words ends;
	unsigned int max_open; /* object files kept open, approximately */
	/* ms; requests that take longer are logged; 0: none */
	unsigned int slow_ms;
	unsigned int poll_us; /* us of polling before a thread sleeps */
	bool new_store; /* --new-store: the earlier store is lost */
};

/* Defaults for all settings except fsid, index, addr and storage. */
void iod_conf_defaults(struct iod_conf *conf);
/* Frees what iod_conf_load() allocated. */
void iod_conf_free(struct iod_conf *conf);
/*
 * Reads the settings of iod `index` from the configuration file at path.  After 0 the caller calls
 * iod_conf_free().  -errno: err, of errlen bytes, gets one line with file, cause and remedy.
 */
int iod_conf_load(const char *path, uint32_t index, struct iod_conf *conf,
		  char *err, size_t errlen);

/*
 * Parses the setting "zones", such as "64K:16 1M:2" (size:number of buffers), into zones->n and
 * zones->zone.  Leaves zones->rails alone.  -EINVAL: not such a text, or a value out of range.
 */
int iod_zones_parse(const char *text, struct zones_attr *zones);
/* Writes the text that iod_zones_parse() reads to buf, of len bytes.  Returns buf. */
const char *iod_zones_format(const struct zones_attr *zones, char *buf,
			     size_t len);

#endif
