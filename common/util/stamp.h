/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stamp.h - a small text file (stamp) in a storage directory states which server owns the
 * directory. An exclusive lock on the directory keeps a second daemon out.
 */
#ifndef STAMP_H
#define STAMP_H

#include <stddef.h>
#include <stdint.h>

#include "common/util/log.h"

#define STAMP_FILE "pvfs-stamp" /* name of the stamp in the directory */
/* version of the directory's format; version 1 is upgraded */
#define STAMP_VERSION 2u

struct stamp {
	uint64_t fsid;
	const char *role; /* "iod" or "mgr" */
	uint32_t index; /* number of an iod; otherwise 0 */
	/* only in an iod's stamp; 0 if absent */
	uint64_t store; /* identifies this store; made once */
	uint64_t owner; /* the manager's database that the store belongs to */
	uint32_t version; /* as read from the stamp */
};

/*
 * Opens and locks the directory and checks its stamp. Creates and stamps an empty or missing
 * directory (its parent must exist). Returns the directory's descriptor, or -errno. The caller
 * closes it, which unlocks. -EBUSY: another daemon has the lock; -EINVAL: the directory belongs to
 * something else, or a later version wrote it. Logs the cause and the remedy. store goes into a new
 * stamp; afterwards store, owner and version are as in the stamp.
 */
int stamp_open(const char *dir, struct stamp *stamp, const struct log *log);
/*
 * Checks whether the stamp in the open directory has the filesystem, role and index of *stamp. Does
 * not lock, change or log anything. Returns 0 and sets store and owner from the stamp. Returns
 * -ENOENT if the directory is empty, -ENOTEMPTY if it has other files but no stamp, and -errno if
 * it cannot be read. Returns -EINVAL if the stamp differs, and writes the difference to why: "'role
 * iod' instead of 'role mgr'".
 */
int stamp_look(int dirfd, struct stamp *stamp, char *why, size_t len);
/*
 * Upgrades the stamp of an earlier version. Programs of that version then reject the directory.
 * Call it once the daemon is able to serve from the directory. Returns 0 or -errno; both are
 * logged.
 */
int stamp_step(int dirfd, const char *dir, struct stamp *stamp,
	       const struct log *log);
/* Writes the stamp again, durably, with this version. 0 or -errno, not logged. */
int stamp_write(int dirfd, const struct stamp *stamp);

/*
 * Replaces the file name in the directory by len bytes of text, durably and atomically. 0 or
 * -errno, not logged.
 */
int stamp_replace(int dirfd, const char *name, const char *text, size_t len);

#endif
