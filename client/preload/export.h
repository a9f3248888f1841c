/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export.h - functions that programs find here instead of in libc.  Their sources are
 * compiled without _FILE_OFFSET_BITS, which would give a function the name of its 64-bit
 * form.
 */
#ifndef EXPORT_H
#define EXPORT_H

#include <sys/types.h>

_Static_assert(sizeof(off_t) == 8, "64 bit systems only");

#define EXPORT __attribute__((visibility("default")))
/*
 * A call, and its name for programs that require 64-bit offsets on all systems.  libc's
 * headers may declare that name with other types, so here it has a different one in C.
 */
#define EXPORT_TWICE(type, name, name64, args)                                 \
	EXPORT type name args;                                                 \
	EXPORT type name##_second args __asm__(#name64)                        \
		__attribute__((alias(#name)))

#endif
