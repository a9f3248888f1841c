/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copyset.h - which iods store a file. Pure functions.
 *
 * A copyset is a group of iods that store the same objects. A ring is a range of n copysets from
 * `first` on, and never changes. The layout of a file (dist.h) counts from position `base` of the
 * ring. Server k is copyset first + (base + k) % n:
 *
 *   ring     first 1024, n 5                        layout  base 3, pcount 4
 *   copyset  | 1024 | 1025 | 1026 | 1027 | 1028 |
 *   server   |  2   |  3   |      |  0   |  1   |
 *
 * Copyset i below COPYSET_FIRST has one member, iod i. These copysets are ring 0.
 */
#ifndef COPYSET_H
#define COPYSET_H

#include <errno.h>

#include "common/dist/dist.h"

/* copysets from this number on have rows at the manager */
#define COPYSET_FIRST 1024u
#define COPYSET_END (1u << 24) /* all copysets are below this number */
#define COPYSET_COPIES_MAX 3u
#define COPYSET_RING_MAX 16384u /* copysets of a ring */

enum copyset_state {
	COPYSET_SERVING, /* the member has all acknowledged data */
	/* the member gets all changes, and is being compared with the primary */
	COPYSET_SYNCING,
	COPYSET_OFFLINE, /* the member gets no changes */
	COPYSET_STATES
};

struct copyset {
	uint32_t id;
	uint32_t version; /* grows with each change of the members or their states */
	uint32_t losses; /* how often unflushed data may have been lost */
	uint32_t n; /* number of members */
	struct copyset_member {
		uint32_t iod;
		enum copyset_state state;
		/* the first SERVING member is the primary */
	} member[COPYSET_COPIES_MAX];
};

/* The iod that serves the copyset. UINT32_MAX: no member is SERVING. */
static inline uint32_t copyset_primary(const struct copyset *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (set->member[i].state == COPYSET_SERVING)
			return set->member[i].iod;
	return UINT32_MAX;
}

static inline bool copyset_has_member(const struct copyset *set, uint32_t iod)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (set->member[i].iod == iod)
			return true;
	return false;
}

struct ring {
	uint32_t id;
	/* members that each of its copysets had when the ring was made */
	uint32_t copies;
	uint32_t first;
	uint32_t n; /* number of copysets, at least 1 */
};

/* Returns ring 0 of a file system with niods iods. */
static inline struct ring ring_of_iods(uint32_t niods)
{
	return (struct ring){ .copies = 1, .n = niods };
}

/* Returns the copyset of the file's server k. */
static inline uint32_t copyset_of(const struct dist *d, const struct ring *ring,
				  uint32_t k)
{
	return ring->first + (uint32_t)(((uint64_t)d->base + k) % ring->n);
}

/*
 * Checks a layout without knowing its ring, if that is not ring 0. Returns 0 or -EINVAL. A file is
 * on each of the niods iods at most once.
 */
static inline int copyset_check_layout(const struct dist *d, uint32_t niods)
{
	if (d->pcount > niods)
		return -EINVAL;
	return dist_check(d, d->ring ? COPYSET_RING_MAX : niods);
}

/* Returns true if the copyset stores a part of the file. */
static inline bool copyset_has(uint32_t copyset, const struct dist *d,
			       const struct ring *ring)
{
	/* above n if copyset is below first */
	uint32_t at = copyset - ring->first;
	uint64_t from = (uint64_t)at + ring->n - d->base % ring->n;

	return at < ring->n && from % ring->n < d->pcount;
}

#endif
