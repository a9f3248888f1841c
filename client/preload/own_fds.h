/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own_fds.h - the descriptors of this library's sessions.  Programs assume that they know all
 * their descriptors: they open files at chosen numbers, and close all other numbers.  So this
 * library moves its descriptors to high numbers, and does not let the program close them.
 */
#ifndef OWN_FDS_H
#define OWN_FDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#define OWN_FDS_MAX 4096u /* higher numbers are not recorded */

/*
 * What a descriptor number is: none of this library's, one of its eventfds, or another of its
 * descriptors.
 */
enum own_fd { OWN_FD_NONE, OWN_FD_ANY, OWN_FD_EVENT };

extern struct own_fds {
	atomic_uchar kind[OWN_FDS_MAX]; /* an enum own_fd */
	/* Results of fstat() on an eventfd: all share one inode, which no file has. */
	_Atomic dev_t event_dev;
	_Atomic ino_t event_ino;
} own_fds;

/* Whether fd is a descriptor that this library uses itself. */
static inline bool own_fds_has(unsigned int fd)
{
	return fd < OWN_FDS_MAX &&
	       atomic_load_explicit(&own_fds.kind[fd], memory_order_relaxed);
}

#endif
