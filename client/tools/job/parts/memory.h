/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.h - a file system in memory that has no path in the system.  It exists as long as a
 * process has a descriptor of it, so it need not be removed.  Its size is limited.
 */
#ifndef JOB_MEMORY_H
#define JOB_MEMORY_H

#include <stdint.h>

/*
 * Creates a tmpfs of at most size bytes, which only this user can access.  Returns a descriptor
 * N of its root, which has the path /proc/self/fd/N.  Or -errno: the host has a Linux before
 * 5.2, or this user is not root and the host permits no user name spaces.
 */
int memory_make(uint64_t size);
/* Moves this process into new user and mount namespaces, with the same uid. 0 or -errno. */
int memory_space(void);
/* Returns half of the memory that this host has available, in bytes; 1 GiB if that is unknown. */
uint64_t memory_half(void);

#endif
