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
 * Writes to path, of PATH_MAX bytes, a name that is unique among processes and calls:
 * dirname/prefix.HASH, or prefix.HASH if dirname is missing.  is_dir 1: appends a slash.
 */
void MPL_create_pathname(char *path, const char *dirname, const char *prefix,
			 const int is_dir);

/* Appends src to dest, which has n bytes.  Returns 0, or 1 if it was cut. */
int MPL_strnapp(char *dest, const char *src, size_t n);

#include "romio-adio/glue/unlocked.h"

#endif
