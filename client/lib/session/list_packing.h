/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_packing.h - the memory of list requests: the client copies small pieces into registered
 * buffers, and registers large pieces in place.
 */
#ifndef LIST_PACKING_H
#define LIST_PACKING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "common/buffer/rail.h"

struct log;

struct list_conf {
	/* If pieces of memory have at least this many bytes on average, they stay in place.
	 * Otherwise they are packed. */
	uint64_t place;
	bool group; /* adjacent pieces are registered together */
};

/* Counters of a session, updated from any thread. */
struct list_count {
	atomic_ulong requests, packed, placed, registrations;
	atomic_ulong borrowed; /* shares of calls that needed no request */
};

/*
 * Sets *conf to the values for the transport provider.  The environment variables
 * PVFS_LIST_PLACE and PVFS_LIST_GROUP override them.  Logs invalid values if log is not NULL.
 */
void list_conf_get(struct list_conf *conf, const char *provider,
		   const struct log *log);

/* ---- buffers: registered once, kept by the session, used by the driving thread only ---- */

#define PACK_LEN (256u << 10) /* the transfer unit of the iods */
#define PACK_KEPT 32u

struct pack {
	char *buf; /* PACK_LEN bytes */
	struct rail_mem mem;
	struct rail_mem *area; /* pointer to mem, for rpc_call */
	SLIST_ENTRY(pack) link;
};

struct packs {
	SLIST_HEAD(, pack) free;
	unsigned int nfree;
};

/* NULL: no memory. */
struct pack *pack_get(struct packs *packs);
/* Returns a buffer for reuse.  sound false: a server may still write to it, so it is freed. */
void pack_put(struct packs *packs, struct pack *pack, bool sound);
void packs_free(struct packs *packs);

#endif
