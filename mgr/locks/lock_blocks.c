/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_blocks.c - see lock_blocks.h. */
#include "mgr/locks/lock_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"

/* Identifies a lock. */
struct lock_key {
	uint64_t handle, session, owner, space, start;
};

struct lock_block {
	UT_hash_handle hh;
	struct lock_key key;
	TAILQ_HEAD(, lock_link) links; /* never empty between two calls */
	bool gone; /* in the list `gone`, not in the table */
	TAILQ_ENTRY(lock_block) next;
};

struct lock_link {
	struct lock_wait_place *at;
	struct lock_block *block;
	TAILQ_ENTRY(lock_link) next;
};

struct lock_blocks {
	struct lock_block *table;
	TAILQ_HEAD(, lock_block) gone;
};

int lock_blocks_open(struct lock_blocks **out)
{
	struct lock_blocks *blocks = calloc(1, sizeof(*blocks));

	if (!blocks)
		return -ENOMEM;
	TAILQ_INIT(&blocks->gone);
	*out = blocks;
	return 0;
}

static struct lock_block *find_block(struct lock_blocks *blocks,
				     const struct lock_rec *rec)
{
	const struct lock_key key = { rec->handle, rec->session, rec->owner,
				      rec->space, rec->start };
	struct lock_block *block;

	HASH_FIND(hh, blocks->table, &key, sizeof(key), block);
	return block;
}

static struct lock_block *find_or_make_block(struct lock_blocks *blocks,
					     const struct lock_rec *rec)
{
	struct lock_block *block = find_block(blocks, rec);

	if (block || !(block = calloc(1, sizeof(*block))))
		return block;
	block->key = (struct lock_key){ rec->handle, rec->session, rec->owner,
					rec->space, rec->start };
	TAILQ_INIT(&block->links);
	HASH_ADD(hh, blocks->table, key, sizeof(block->key), block);
	if (block->hh.tbl)
		return block;
	free(block);
	return NULL;
}

static void link_remove(struct lock_blocks *blocks, struct lock_link *link)
{
	struct lock_block *block = link->block;

	TAILQ_REMOVE(&block->links, link, next);
	if (!TAILQ_EMPTY(&block->links))
		return;
	if (block->gone)
		TAILQ_REMOVE(&blocks->gone, block, next);
	else
		HASH_DEL(blocks->table, block);
	free(block);
}

void lock_blocks_leave(struct lock_blocks *blocks, struct lock_wait_place *at)
{
	while (at->n)
		link_remove(blocks, &at->links[--at->n]);
	free(at->links);
	at->links = NULL;
}

int lock_blocks_enter(struct lock_blocks *blocks, struct lock_wait_place *at,
		      const struct lock_rec *rec, unsigned int n)
{
	struct lock_block *block;

	at->links = calloc(n, sizeof(*at->links));
	if (!at->links)
		return -ENOMEM;
	for (at->n = 0; at->n < n; at->n++) {
		block = find_or_make_block(blocks, &rec[at->n]);
		if (!block) {
			lock_blocks_leave(blocks, at);
			return -ENOMEM;
		}
		at->links[at->n] = (struct lock_link){ .at = at,
						       .block = block };
		TAILQ_INSERT_TAIL(&block->links, &at->links[at->n], next);
	}
	return 0;
}

void lock_blocks_removed(struct lock_blocks *blocks, const struct lock_rec *rec)
{
	struct lock_block *block = find_block(blocks, rec);

	if (!block)
		return;
	HASH_DEL(blocks->table, block);
	block->gone = true;
	TAILQ_INSERT_TAIL(&blocks->gone, block, next);
}

bool lock_blocks_may_have_ended(const struct lock_wait_place *at)
{
	for (unsigned int i = 0; i < at->n; i++)
		if (at->links[i].block->gone)
			return true;
	return !at->n;
}

struct lock_wait_place *lock_blocks_take(struct lock_blocks *blocks)
{
	struct lock_block *block = TAILQ_FIRST(&blocks->gone);
	struct lock_wait_place *at;

	if (!block)
		return NULL;
	at = TAILQ_FIRST(&block->links)->at;
	lock_blocks_leave(blocks, at);
	return at;
}

void lock_blocks_close(struct lock_blocks *blocks)
{
	free(blocks);
}
