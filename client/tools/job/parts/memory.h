/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.h - a file system in memory without a name.  It exists as long as a process
 * has its descriptor, so nobody has to remove it, and its size is limited.
 */
#ifndef JOB_MEMORY_H
#define JOB_MEMORY_H

#include <stdint.h>

/*
 * Makes one of at most size bytes, for this user alone.  Returns its folder, which is
 * reached by /proc/self/fd/N.  -errno: it cannot be made here (no user name spaces, or
 * Linux before 5.2).
 */
int memory_make(uint64_t size);
/*
 * Moves this process into user and mount name spaces of its own, as the same user.  0
 * or -errno.
 */
int memory_space(void);
/* Half of the memory that this host has left, in bytes; 1 GiB if unknown. */
uint64_t memory_half(void);

#endif
