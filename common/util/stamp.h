/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stamp.h - whose storage directory is this?  A small text file in it says,
 * and an exclusive lock on the directory keeps a second daemon out.
 */
#ifndef STAMP_H
#define STAMP_H

#include <stddef.h>
#include <stdint.h>

#include "common/util/log.h"

#define STAMP_FILE "pvfs-stamp" /* in the directory */
#define STAMP_VERSION 2u /* of what is below the directory; 1 is taken over */

struct stamp {
	uint64_t fsid;
	const char *role; /* "iod", "mgr" */
	uint32_t index; /* of an iod; else 0 */
	/* what an iod's stamp says besides; 0: nothing */
	uint64_t store; /* this very store, made once */
	uint64_t owner; /* the manager's data base that it belongs to */
	uint32_t version; /* as the stamp says it */
};

/*
 * Opens and locks the directory and checks its stamp; an empty or missing
 * directory (its parent must exist) is made and stamped.  Returns the
 * directory's descriptor, the caller's to close (which unlocks), or -errno:
 * -EBUSY: another daemon has it; -EINVAL: it belongs to something else, or a later
 * version has written it.
 * Logs the cause and the fix.  store goes into a new stamp; store, owner and version
 * become what the stamp says.
 */
int stamp_open(const char *dir, struct stamp *stamp, const struct log *log);
/*
 * Whether the stamp in the open directory is that of stamp's filesystem, role and index;
 * neither locks nor changes anything, nor logs.  0, and store and owner are what it
 * says; -ENOENT: the directory is empty;
 * -ENOTEMPTY: there is none among other files; -EINVAL: it is another one's, why
 * says "'role iod' instead of 'role mgr'"; -errno of reading.
 */
int stamp_look(int dirfd, struct stamp *stamp, char *why, size_t len);
/*
 * The step forward: a store of an earlier version is of this one from now on, and that
 * refuses it.  For who can serve from it.  0 or -errno, both logged.
 */
int stamp_step(int dirfd, const char *dir, struct stamp *stamp,
	       const struct log *log);
/* Writes the stamp anew, durably, of this version.  0 or -errno, not logged. */
int stamp_write(int dirfd, const struct stamp *stamp);

/*
 * Replaces the file name in the directory by len bytes of text, durably and
 * all or nothing.  0 or -errno, not logged.
 */
int stamp_replace(int dirfd, const char *name, const char *text, size_t len);

#endif
