/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mounted.h - the same st_dev for a file through any path.
 *
 * The kernel chooses a device number for each mount of a file system.  So stat(2) through a
 * mount and pvfs_stat() return the same st_ino for a file, but different st_dev.  Programs
 * compare both to identify a file.  This module replaces the kernel's st_dev with that of
 * libpvfs.  It reads the id of the file system from an extended attribute, which each file of
 * a mount has.
 */
#ifndef MOUNTED_H
#define MOUNTED_H

#include <stdint.h>
#include <sys/types.h>

/* Not listed; readable for any user that can see the file. */
#define MOUNTED_XATTR "system.pvfs_handle"
struct mounted_handle {
	uint64_t fsid, handle; /* in host byte order */
};

/* Returns the st_dev of all files of a file system. */
static inline dev_t mounted_dev(uint64_t fsid)
{
	return (dev_t)(uint32_t)(fsid ^ fsid >> 32);
}

/*
 * Returns the st_dev for a file: dev, or the number of the PVFS that is mounted there.  path
 * starts at the descriptor dir; NULL or "": the file is dir itself.  flags are those of
 * fstatat(2); dev and ino are the results of stat(2).  Asks the kernel at each call, because
 * the kernel reuses the number of an ended mount.  Keeps errno.
 */
dev_t mounted_find(int dir, const char *path, int flags, dev_t dev, ino_t ino);

#endif
