/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mounted.h - the same st_dev for a file through any path.
 *
 * The kernel chooses a device number for each mount of a file system.  So through a
 * mount, a PVFS file has another st_dev than through libpvfs, but the same st_ino.
 * Programs compare both to identify a file.  This module replaces the mount's number with
 * that of libpvfs.  A file of a mount has the id of its file system as an extended
 * attribute.
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
 * Input: path at dir (NULL or "": dir itself, a descriptor), the flags of fstatat(2), and
 * the results of stat(2).  Returns dev, or the number of the PVFS that is mounted there.
 * Asks each time, because the kernel reuses the number of an ended mount.  Keeps errno.
 */
dev_t mounted_find(int dir, const char *path, int flags, dev_t dev, ino_t ino);

#endif
