/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mounted.h - one st_dev for a file, whichever name it is reached by.
 *
 * The kernel chooses a device number for each mount of a file system, so a file of PVFS has
 * another st_dev through a mount than through libpvfs, and the same st_ino.  Programs compare
 * both to recognise a file.  Here the mount's number is replaced by libpvfs' own.  A file of a
 * mount tells the id of its file system as an extended attribute.
 */
#ifndef MOUNTED_H
#define MOUNTED_H

#include <stdint.h>
#include <sys/types.h>

/* Not listed; everybody who sees the file may read it. */
#define MOUNTED_XATTR "system.pvfs_handle"
struct mounted_handle {
	uint64_t fsid, handle; /* of this host's byte order */
};

/* st_dev of all files of a file system. */
static inline dev_t mounted_dev(uint64_t fsid)
{
	return (dev_t)(uint32_t)(fsid ^ fsid >> 32);
}

/*
 * What stat(2) gave for path at dir (NULL or "": for dir itself, a descriptor), with flags
 * as of fstatat(2): dev, or the number of the PVFS that is mounted there.  It asks each time,
 * because the kernel gives the number of an ended mount to the next one.  errno stays.
 */
dev_t mounted_find(int dir, const char *path, int flags, dev_t dev, ino_t ino);

#endif
