/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.c - the buffers of small pieces. */
#include "pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void drop(struct pack *pack)
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
		drop(pack);
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
		drop(pack);
	}
	packs->nfree = 0;
}

/* The kernel copies: it answers where a copy of our own would die. */
int pack_copy(char *buf, const struct iovec *piece, unsigned int n)
{
	struct iovec to = { buf, 0 };
	unsigned int i;
	ssize_t got;

	for (i = 0; i < n; i++)
		to.iov_len += piece[i].iov_len;
	got = process_vm_readv(getpid(), &to, 1, piece, n, 0);
	if (got == (ssize_t)to.iov_len)
		return 0;
	if (got >= 0 || errno == EFAULT)
		return -EFAULT;
	/* not allowed here */
	for (i = 0; i < n; i++) {
		memcpy(buf, piece[i].iov_base, piece[i].iov_len);
		buf += piece[i].iov_len;
	}
	return 0;
}
