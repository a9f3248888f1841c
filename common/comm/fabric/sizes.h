/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sizes.h - a size for each transport: "16K" holds for all of them,
 * "verbs:4K/local:64K" for those that it names, each once; "16K/verbs:4K" for
 * the one and for the others.
 */
#ifndef SIZES_H
#define SIZES_H

#include <stdint.h>

#define SIZES_WANT                                                             \
	"SIZE, or NAME:SIZE for each transport once, with / between them, of " \
	"at most 64K"
#define SIZES_MAX (64u << 10)

enum sizes_of { SIZES_LOCAL, SIZES_VERBS, SIZES_TCP, SIZES_OTHER, SIZES_N };

/* All zero: nothing is said. */
struct sizes {
	unsigned int said; /* bit k: of[k] counts */
	uint32_t of[SIZES_N];
};

/* What text says goes before what is there.  -EINVAL, and nothing changes. */
int sizes_parse(const char *text, struct sizes *sizes);
/* Of the transport with that name ("fault+tcp" is tcp; one without a place of
 * its own is bound by what holds for all). */
uint32_t sizes_get(const struct sizes *sizes, const char *transport,
		   uint32_t otherwise);
struct sizes sizes_all(uint32_t size);

#endif
