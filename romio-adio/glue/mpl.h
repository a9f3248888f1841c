/* SPDX-License-Identifier: BSD-2-Clause */
/* mpl.h - the few helpers of MPICH's portability layer that ROMIO uses. */
#ifndef MPL_H
#define MPL_H

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MPL_MEM_IO 0
#define MPL_MIN(a, b) ((a) < (b) ? (a) : (b))
#define MPL_MAX(a, b) ((a) > (b) ? (a) : (b))
#define MPL_UNREFERENCED_ARG(a) ((void)(a))
#define MPL_VG_MEM_INIT(addr, len) ((void)(addr), (void)(len))
#define MPL_snprintf snprintf
#define MPL_thread_yield() sched_yield()

#define MPL_malloc(size, class) malloc(size)
#define MPL_calloc(n, size, class) calloc(n, size)
#define MPL_realloc(p, size, class) realloc(p, size)
#define MPL_free(p) free(p)

/*
 * Makes a name that no other process or call makes: dirname/prefix.HASH, or
 * without dirname prefix.HASH.
 * @param path	out: PATH_MAX bytes
 * @param is_dir	1: a slash is added at the end
 */
void MPL_create_pathname(char *path, const char *dirname, const char *prefix,
			 const int is_dir);

/* Appends src to dest, which has n bytes; 0, or 1 when it was cut. */
int MPL_strnapp(char *dest, const char *src, size_t n);

#include "romio-adio/glue/unlocked.h"

#endif
