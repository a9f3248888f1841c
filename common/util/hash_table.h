/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash_table.h - uthash that does not end the process if memory is short. The entry passed to
 * HASH_ADD() is then in no table, and its hh.tbl is NULL. hh.tbl is also NULL after calloc().
 */
#ifndef HASH_TABLE_H
#define HASH_TABLE_H

#define HASH_NONFATAL_OOM 1
#include <stdint.h>
#include <uthash.h>

/* A hash for short texts and lists, not safe against chosen input (Fowler, Noll, Vo: 1a). */
#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static inline uint64_t fnv_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * FNV_PRIME;
	return hash;
}

static inline uint64_t fnv_words(uint64_t hash, const uint32_t *word,
				 uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		hash = (hash ^ word[i]) * FNV_PRIME;
	return hash;
}

#endif
