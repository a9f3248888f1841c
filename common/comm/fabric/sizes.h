/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sizes.h - a size in bytes for each transport.  The text "16K" sets all of them;
 * "verbs:4K/local:64K" sets only these two; "16K/verbs:4K" sets verbs to 4K and the others to 16K.
 */
#ifndef SIZES_H
#define SIZES_H

#include <stdint.h>

#define SIZES_WANT                                                             \
	"SIZE, or NAME:SIZE for each transport once, with / between them, of " \
	"at most 64K"
#define SIZES_MAX (64u << 10)

enum sizes_of { SIZES_LOCAL, SIZES_VERBS, SIZES_TCP, SIZES_OTHER, SIZES_N };

/* All zero: no size is set. */
struct sizes {
	unsigned int said; /* bit k: of[k] is set */
	uint32_t of[SIZES_N];
};

/* Sizes in text replace those already set.  Returns 0, or -EINVAL and changes nothing. */
int sizes_parse(const char *text, struct sizes *sizes);
/*
 * Returns the size of the transport with that name ("fault+tcp" is tcp): its own, or the one that
 * was set for all.  If neither is set, returns the parameter otherwise.
 */
uint32_t sizes_get(const struct sizes *sizes, const char *transport,
		   uint32_t otherwise);
struct sizes sizes_all(uint32_t size);

#endif
