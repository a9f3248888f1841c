/* SPDX-License-Identifier: BSD-2-Clause */
/* fast.c - Fast RDMA buffers: one block of memory, one registration. */
#include "common/buffer/fast.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define BLOCK ((size_t)FAST_COUNT * FAST_SIZE)

_Static_assert(FAST_SIZE % 4096 == 0, "buffers begin on pages");
_Static_assert(FAST_COUNT <= 32, "bits of busy");

struct fast {
	struct fast_budget *budget;
	struct rail_mem mem;
	unsigned int rail;
};

/* ---- budgets ---- */

static int budget_take(struct fast_budget *budget)
{
	if (!budget)
		return 0;
	if (atomic_fetch_add(&budget->used, BLOCK) + BLOCK <= budget->max)
		return 0;
	atomic_fetch_sub(&budget->used, BLOCK);
	atomic_fetch_add(&budget->refused, 1);
	return -ENOBUFS;
}

static void budget_give(struct fast_budget *budget)
{
	if (budget)
		atomic_fetch_sub(&budget->used, BLOCK);
}

/* ---- our own buffers ---- */

/*
 * Allocates new zeroed pages: the other end may write less than it reports, and must not see old
 * data.
 */
static int fast_alloc(struct fast *f, const struct rails *rails,
		      struct tp_ep *only)
{
	void *block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (block == MAP_FAILED)
		return -ENOMEM;
	rail_mem_init(&f->mem, block, BLOCK,
		      TP_REMOTE_WRITE | (only ? TP_OWNED : 0));
	rc = rail_mem_on(&f->mem, rails, f->rail);
	if (rc)
		munmap(block, BLOCK);
	return rc;
}

/* If the rail cannot reserve the memory, every holder of the key can write to it. */
static int restrict_access(struct fast *f, struct tp_ep *only)
{
	int rc = only ? tp_mr_only(f->mem.mr[f->rail], only) : 0;

	return rc == -EOPNOTSUPP ? 0 : rc;
}

int fast_open(const struct rails *rails, unsigned int rail,
	      struct fast_budget *budget, struct tp_ep *only, struct fast **out)
{
	struct fast *f;
	int rc = budget_take(budget);

	if (rc)
		return rc;
	f = calloc(1, sizeof(*f));
	rc = -ENOMEM;
	if (!f)
		goto give;
	f->budget = budget;
	f->rail = rail;
	rc = fast_alloc(f, rails, only);
	if (rc)
		goto free_fast;
	rc = restrict_access(f, only);
	if (rc)
		goto free_mem;
	*out = f;
	return 0;
free_mem:
	rail_mem_fini(&f->mem);
	munmap(f->mem.addr, BLOCK);
free_fast:
	free(f);
give:
	budget_give(budget);
	return rc;
}

void fast_close(struct fast *f)
{
	if (!f)
		return;
	rail_mem_fini(&f->mem);
	munmap(f->mem.addr, BLOCK);
	budget_give(f->budget);
	free(f);
}

void fast_place(const struct fast *f, struct fast_place *place)
{
	*place = (struct fast_place){ .addr = (uintptr_t)f->mem.addr,
				      .rkey = fast_rkey(f),
				      .size = FAST_SIZE,
				      .count = FAST_COUNT };
}

void *fast_buf(const struct fast *f, unsigned int i)
{
	return (char *)f->mem.addr + (size_t)i * FAST_SIZE;
}

uint32_t fast_lkey(const struct fast *f)
{
	return f->mem.mr[f->rail]->lkey;
}

uint32_t fast_rkey(const struct fast *f)
{
	return f->mem.mr[f->rail]->rkey;
}

/* ---- the other end's buffers ---- */

/* The sizes are fixed by this protocol version; the address may be anything. */
int fast_peer_set(struct fast_peer *peer, const struct fast_place *place)
{
	if (!place->count || place->count > FAST_COUNT ||
	    place->size != FAST_SIZE || place->addr > UINT64_MAX - BLOCK)
		return -EINVAL;
	peer->place = *place;
	return 0;
}

uint64_t fast_peer_addr(const struct fast_peer *peer, unsigned int i)
{
	return peer->place.addr + (uint64_t)i * peer->place.size;
}

int fast_take(uint32_t *busy, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (*busy >> i & 1)
			continue;
		*busy |= 1u << i;
		return (int)i;
	}
	return -1;
}

void fast_give(uint32_t *busy, unsigned int i)
{
	*busy &= ~(1u << i);
}
