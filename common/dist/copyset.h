/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copyset.h - which iods store a file. Pure functions.
 *
 * A copyset is a group of iods that store the same objects. A ring is a list of copysets. The
 * layout of a file (dist.h) counts from copyset `base` of the ring:
 *
 *   copyset  | 0 | 1 | 2 | 3 | 4 |       base 3, pcount 4: server k stores its objects at
 *   server   | 2 | 3 |   | 0 | 1 |       copyset (base + k) % n
 *
 * All files are in ring 0. Its copyset i has one member, iod i.
 */
#ifndef COPYSET_H
#define COPYSET_H

#include "common/dist/dist.h"

struct ring {
	uint32_t n; /* copysets, at least 1 */
};

/* The copyset of the file's server k. */
static inline uint32_t copyset_of(const struct dist *d, const struct ring *ring,
				  uint32_t k)
{
	return (uint32_t)(((uint64_t)d->base + k) % ring->n);
}

/* Returns true if the copyset stores a part of the file. */
static inline bool copyset_has(uint32_t copyset, const struct dist *d,
			       const struct ring *ring)
{
	uint64_t from = (uint64_t)copyset + ring->n - d->base % ring->n;

	return copyset < ring->n && from % ring->n < d->pcount;
}

#endif
