/* SPDX-License-Identifier: BSD-2-Clause */
/* fnv.h - a hash of short texts that nobody makes up to meet (Fowler, Noll, Vo: 1a). */
#ifndef FNV_H
#define FNV_H

#include <stdint.h>

#define FNV_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t fnv_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
