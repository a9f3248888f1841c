/* SPDX-License-Identifier: BSD-2-Clause */
/* block.c - whether a block was read by RDMA without a concurrent change. */
#include "common/wire/block.h"

#define XXH_INLINE_ALL /* header only, no library for programs */
#include <xxhash.h>

_Static_assert(sizeof(struct wire_block) == 64 + WIRE_BLOCK, "no padding");

uint64_t wire_block_check(const struct wire_block *block)
{
	uint64_t seed = XXH3_64bits(block, offsetof(struct wire_block, check));

	return XXH3_64bits_withSeed(block->data, le32toh(block->len), seed);
}

bool wire_block_holds(const struct wire_block *block, uint64_t handle,
		      uint64_t number, uint32_t upto)
{
	uint32_t len = le32toh(block->len);

	return le64toh(block->handle) == handle &&
	       le64toh(block->number) == number && len <= WIRE_BLOCK &&
	       upto <= len && le64toh(block->check) == wire_block_check(block);
}
