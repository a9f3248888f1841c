/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export.h - for functions that this library exports under the names of libc.  Their sources are
 * compiled without _FILE_OFFSET_BITS, which would rename them to their 64-bit forms.
 */
#ifndef EXPORT_H
#define EXPORT_H

#include <sys/types.h>

_Static_assert(sizeof(off_t) == 8, "64 bit systems only");

#define EXPORT __attribute__((visibility("default")))
/*
 * Exports a function under two names: name, and name64 for programs that require 64-bit offsets.
 * libc's headers may declare name64 with other types, so the C code uses a different name for it.
 */
#define EXPORT_TWICE(type, name, name64, args)                                 \
	EXPORT type name args;                                                 \
	EXPORT type name##_second args __asm__(#name64)                        \
		__attribute__((alias(#name)))

#endif
