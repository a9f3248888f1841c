/* SPDX-License-Identifier: BSD-2-Clause */
/* intent_blocks.c - the entries of the intent log in memory. */
#include <stdlib.h>
#include <string.h>

#include "server/copyset/intent_log_int.h"

struct intent_group *intent_group_find(const struct intent_log *log,
				       uint64_t copyset)
{
	struct intent_group *group;

	HASH_FIND(hh, log->groups, &copyset, sizeof(copyset), group);
	return group;
}

struct intent_group *intent_group_get(struct intent_log *log, uint64_t copyset)
{
	struct intent_group *group = intent_group_find(log, copyset);

	if (group)
		return group;
	group = calloc(1, sizeof(*group));
	if (!group)
		return NULL;
	group->copyset = copyset;
	TAILQ_INIT(&group->blocks);
	HASH_ADD(hh, log->groups, copyset, sizeof(copyset), group);
	if (group->hh.tbl)
		return group;
	free(group);
	return NULL;
}

struct intent_block *intent_block_find(const struct intent_log *log,
				       const struct intent_block_key *key)
{
	struct intent_block *block;

	HASH_FIND(hh, log->blocks, key, sizeof(*key), block);
	return block;
}

struct intent_block *intent_block_get(struct intent_log *log,
				      struct intent_group *group,
				      uint64_t handle, uint64_t block)
{
	const struct intent_block_key key = { handle, group->copyset, block };
	struct intent_block *found = intent_block_find(log, &key);

	if (found)
		return found;
	found = calloc(1, sizeof(*found));
	if (!found)
		return NULL;
	found->key = key;
	found->group = group;
	HASH_ADD(hh, log->blocks, key, sizeof(key), found);
	if (!found->hh.tbl) {
		free(found);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&group->blocks, found, in_group);
	group->n_blocks++;
	if (group->state != INTENT_ALL_IN_FORCE)
		log->n_blocks++;
	return found;
}

uint64_t intent_block_unqueue(struct intent_log *log,
			      struct intent_block *block)
{
	uint64_t bits = block->queued;

	TAILQ_REMOVE(&log->queue, block, queue);
	log->n_queued--;
	block->queued = 0;
	return bits;
}

void intent_block_free(struct intent_log *log, struct intent_block *block)
{
	struct intent_group *group = block->group;

	if (block->queued)
		intent_block_unqueue(log, block);
	HASH_DEL(log->blocks, block);
	TAILQ_REMOVE(&group->blocks, block, in_group);
	group->n_blocks--;
	if (group->state != INTENT_ALL_IN_FORCE)
		log->n_blocks--;
	free(block);
}

void intent_blocks_free(struct intent_log *log)
{
	struct intent_block *block, *next_block;
	struct intent_group *group, *next_group;

	HASH_ITER(hh, log->blocks, block, next_block)
		intent_block_free(log, block);
	HASH_ITER(hh, log->groups, group, next_group) {
		HASH_DEL(log->groups, group);
		free(group);
	}
}

bool intent_block_is_covered(const struct intent_log *log,
			     const struct intent_block *block)
{
	return block->number >= log->horizon ||
	       block->group->state == INTENT_ALL_ENDING;
}

void intent_block_touch(const struct intent_log *log,
			struct intent_block *block, uint64_t bits)
{
	if (block->epoch != log->epoch) {
		block->stale |= block->recent;
		block->recent = 0;
		block->epoch = log->epoch;
	}
	block->recent |= bits;
}

uint64_t intent_block_counts(const struct intent_block *block)
{
	return block->recent | block->stale;
}

/* ---- the queue ---- */

/* The highest bits of word that are ones, without a zero between them. */
static unsigned int leading_ones(uint64_t word)
{
	return ~word ? (unsigned int)__builtin_clzll(~word) : 64;
}

static uint64_t known_bits(const struct intent_block *block)
{
	return block->filed | block->queued;
}

/* How many regions directly before the first one of bits have entries, in two blocks. */
static unsigned int run_before(const struct intent_log *log,
			       const struct intent_block *block,
			       unsigned int first)
{
	struct intent_block_key key = block->key;
	unsigned int run = 0;

	if (first) {
		run = leading_ones(known_bits(block) << (64 - first));
		if (run < first)
			return run;
		run = first;
	}
	if (!key.block--)
		return run;
	block = intent_block_find(log, &key);
	return run + (block ? leading_ones(known_bits(block)) : 0);
}

static uint64_t bits_after(unsigned int last, unsigned int n)
{
	uint64_t all = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;

	return last < 63 ? all << (last + 1) : 0;
}

void intent_block_queue(struct intent_log *log, struct intent_block *block,
			uint64_t bits)
{
	unsigned int first = (unsigned int)__builtin_ctzll(bits);
	unsigned int last = 63 - (unsigned int)__builtin_clzll(bits);

	if (block->key.handle && block->key.block != INTENT_LOG_WHOLE)
		bits |= bits_after(last, run_before(log, block, first));
	if (!block->queued) {
		TAILQ_INSERT_TAIL(&log->queue, block, queue);
		log->n_queued++;
	}
	block->queued |= bits & ~block->filed;
}

/* ---- the limit ---- */

void intent_group_set_state(struct intent_log *log, struct intent_group *group,
			    enum intent_all state)
{
	if (group->state == INTENT_ALL_IN_FORCE)
		log->n_blocks += group->n_blocks;
	if (state == INTENT_ALL_IN_FORCE)
		log->n_blocks -= group->n_blocks;
	group->state = state;
}

int intent_blocks_limit(struct intent_log *log)
{
	struct intent_group *largest = NULL, *group;

	if (log->n_blocks < log->attr.blocks_max)
		return 0;
	for (group = log->groups; group; group = group->hh.next)
		if ((group->state == INTENT_ALL_NONE ||
		     group->state == INTENT_ALL_ENDING) &&
		    (!largest || group->n_blocks > largest->n_blocks))
			largest = group;
	if (!largest)
		return 0;
	if (!largest->all)
		largest->all = intent_block_get(log, largest, 0, 0);
	if (!largest->all)
		return -ENOMEM;
	intent_group_set_state(log, largest, INTENT_ALL_IN_FORCE);
	intent_block_touch(log, largest->all, 1);
	if (!largest->all->filed)
		intent_block_queue(log, largest->all, 1);
	return 0;
}
