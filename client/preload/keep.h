/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keep.h - descriptors that our own sessions have.  Programs believe that they know
 * all that they have open: they put files at numbers of their choice, and close all
 * others.  So ours are moved up, out of the way, and are not the program's to close.
 */
#ifndef KEEP_H
#define KEEP_H

#include <stdatomic.h>
#include <stdbool.h>

#define KEEP_MAX 4096u

extern atomic_uchar keep[KEEP_MAX];

static inline bool keep_has(unsigned int fd)
{
	return fd < KEEP_MAX &&
	       atomic_load_explicit(&keep[fd], memory_order_relaxed);
}

#endif
