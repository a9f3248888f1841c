/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.h - a file system in memory that has no name: it is there as long as somebody
 * has its descriptor, so nobody has to take it away, and it has a size.
 */
#ifndef JOB_MEMORY_H
#define JOB_MEMORY_H

#include <stdint.h>

/* Of at most size bytes, for this user alone.  Its folder, which is reached by
 * /proc/self/fd/N; -errno: not here (no user name spaces, or Linux before 5.2). */
int memory_make(uint64_t size);
/* From now on this process is in spaces of users and of mounts of its own, as the
 * same user.  0, or -errno. */
int memory_space(void);
/* Half of what this host has left. */
uint64_t memory_half(void);

#endif
