/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seen.h - functions that programs find here instead of in libc.  Their sources are
 * compiled without _FILE_OFFSET_BITS, which would give a function the name of its 64-bit
 * form.
 */
#ifndef SEEN_H
#define SEEN_H

#include <sys/types.h>

_Static_assert(sizeof(off_t) == 8, "64 bit systems only");

struct next;

#define SEEN __attribute__((visibility("default")))
/*
 * A call, and its name for programs that require 64-bit offsets on all systems.  libc's
 * headers use other types for that.
 */
#define TWO_NAMES(type, name, name64, args)                                    \
	SEEN type name args;                                                   \
	SEEN type name##_second args __asm__(#name64)                          \
		__attribute__((alias(#name)))

/*
 * duplicates.c: puts its functions for creating and closing descriptors into next.h.  The
 * parameter has the previous functions.
 */
void numbers_behind(const struct next *behind);
/* refused.c: the same for POSIX asynchronous requests. */
void requests_behind(const struct next *behind);

#endif
