/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.c - the buffers for small pieces. */
#include "client/lib/session/pack.h"

#include <stdlib.h>

static void pack_free(struct pack *pack)
{
	rail_mem_fini(&pack->mem);
	free(pack->buf);
	free(pack);
}

struct pack *pack_get(struct packs *packs)
{
	struct pack *pack = SLIST_FIRST(&packs->free);

	if (pack) {
		SLIST_REMOVE_HEAD(&packs->free, link);
		packs->nfree--;
		return pack;
	}
	pack = malloc(sizeof(*pack));
	if (!pack)
		return NULL;
	pack->buf = malloc(PACK_LEN);
	if (!pack->buf) {
		free(pack);
		return NULL;
	}
	rail_mem_init(&pack->mem, pack->buf, PACK_LEN,
		      TP_REMOTE_READ | TP_REMOTE_WRITE);
	pack->area = &pack->mem;
	return pack;
}

void pack_put(struct packs *packs, struct pack *pack, bool sound)
{
	if (!sound || packs->nfree == PACK_KEPT) {
		pack_free(pack);
		return;
	}
	SLIST_INSERT_HEAD(&packs->free, pack, link);
	packs->nfree++;
}

void packs_free(struct packs *packs)
{
	struct pack *pack;

	while ((pack = SLIST_FIRST(&packs->free))) {
		SLIST_REMOVE_HEAD(&packs->free, link);
		pack_free(pack);
	}
	packs->nfree = 0;
}
