/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keep.h - the descriptors of our own sessions.  Programs assume that they know all their
 * descriptors: they open files at chosen numbers, and close all others.  So ours are
 * moved to high numbers, and the program cannot close them.
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
