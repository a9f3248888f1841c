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

#define STAMP_FILE "pvfs-stamp" /* in the directory */
/* version of the directory's format; version 1 is upgraded */
#define STAMP_VERSION 2u

struct stamp {
	uint64_t fsid;
	const char *role; /* "iod", "mgr" */
	uint32_t index; /* of an iod; else 0 */
	/* in an iod's stamp only; 0: absent */
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
 * Checks whether the stamp in the open directory is of stamp's filesystem, role and index. Does not
 * lock, change or log anything. 0: store and owner are as in the stamp; -ENOENT: the directory is
 * empty; -ENOTEMPTY: other files, but no stamp; -EINVAL: another stamp; why is "'role iod' instead
 * of 'role mgr'"; -errno of reading.
 */
int stamp_look(int dirfd, struct stamp *stamp, char *why, size_t len);
/*
 * Upgrades the stamp of an earlier version; programs of that version then reject the store. Call it
 * once the daemon is able to serve from the store. 0 or -errno, both logged.
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
