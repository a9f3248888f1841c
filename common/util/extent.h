/* SPDX-License-Identifier: BSD-2-Clause */
/* extent.h - the only place that checks offset + length. */
#ifndef EXTENT_H
#define EXTENT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sets *end to off + len.  Returns false, and leaves *end unchanged, if the sum is no valid file
 * size (at most INT64_MAX).
 */
static inline bool extent_end(uint64_t off, uint64_t len, uint64_t *end)
{
	uint64_t sum;

	if (__builtin_add_overflow(off, len, &sum) || sum > INT64_MAX)
		return false;
	*end = sum;
	return true;
}

#endif
