/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pack.h - buffers into which small pieces of memory are packed.  They are registered
 * once and kept by the session.  Only the driving thread uses them (drive.h).
 */
#ifndef PACK_H
#define PACK_H

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "common/buffer/rail.h"

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
/* sound false: a server may still access the buffer, so it is freed. */
void pack_put(struct packs *packs, struct pack *pack, bool sound);
void packs_free(struct packs *packs);

#endif
