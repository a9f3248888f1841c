/* SPDX-License-Identifier: BSD-2-Clause */
/* extent.h - the one place where offset + length is checked. */
#ifndef EXTENT_H
#define EXTENT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True and *end = off + len, if that is a valid file size (at most
 * INT64_MAX); false otherwise, *end untouched.
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
