/* SPDX-License-Identifier: BSD-2-Clause */
/* extent.h - the only place that checks offset + length. */
#ifndef EXTENT_H
#define EXTENT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True: off + len is a valid file size (at most INT64_MAX), and *end is set to it. False: it is
 * not, and *end is unchanged.
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
