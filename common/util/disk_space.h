/* SPDX-License-Identifier: BSD-2-Clause */
/* disk_space.h - the free space of a file system. */
#ifndef DISK_SPACE_H
#define DISK_SPACE_H

#include <stdint.h>
#include <sys/statvfs.h>

/*
 * Returns the free bytes. Returns UINT64_MAX if there is no limit, as on a tmpfs of size=0, which
 * reports only zeros.
 */
static inline uint64_t disk_space_left(const struct statvfs *fs)
{
	return fs->f_blocks ? (uint64_t)fs->f_bavail * fs->f_frsize
			    : UINT64_MAX;
}

#endif
