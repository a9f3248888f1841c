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

/* Of a number: not of this library, an eventfd of it, or any other descriptor of it. */
enum own_fd { OWN_FD_NONE, OWN_FD_ANY, OWN_FD_EVENT };

extern struct own_fds {
	atomic_uchar kind[OWN_FDS_MAX]; /* an enum own_fd */
	/* Results of fstat() on an eventfd: all share one inode, which no file has. */
	_Atomic dev_t event_dev;
	_Atomic ino_t event_ino;
} own_fds;

/* True: fd is a descriptor of this library. */
static inline bool own_fds_has(unsigned int fd)
{
	return fd < OWN_FDS_MAX &&
	       atomic_load_explicit(&own_fds.kind[fd], memory_order_relaxed);
}

#endif
