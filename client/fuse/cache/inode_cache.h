/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inode_cache.h - a record of the inodes and names that the daemon's replies have given to
 * the kernel.  It serves three purposes:
 *
 * - If an inode has no extended attributes or access control lists, the daemon answers
 *   requests for them without asking the manager.
 * - At an open, the daemon tells the kernel whether the pages that it has are still valid.
 * - The kernel may still use a removed inode: as a working directory, or without requests to
 *   the daemon (FIFOs, sockets, devices, O_PATH).  If the manager no longer knows the inode,
 *   the daemon answers with its last attributes.  A removed directory is empty.  The daemon
 *   records changes of attributes here only.
 *
 * There is one entry per inode.  If there are too many, the daemon evicts one without a recent
 * reply.  Directories and other inodes have separate limits, so that the files of a directory
 * do not evict the directory.  A removed inode is not evicted: it stays until the kernel
 * forgets it.  If an inode has no entry, its requests go to the manager, and fail with ESTALE
 * after its removal.
 *
 * The kernel looks a name up shortly before it removes the name.  So names are recorded, too,
 * and the daemon knows the inode of a removed name without a request.
 *
 * An inode is identified by its handle, which is its st_ino.
 */
#ifndef INODE_CACHE_H
#define INODE_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "common/wire/wire.h"

struct attr;
struct setattr;

#define INODE_CACHE_DIRS_MAX 16384u /* directories that are not removed */
#define INODE_CACHE_MAX 65536u /* other inodes that are not removed */
/* removed inodes; requests for further ones get ESTALE */
#define INODE_CACHE_REMOVED_MAX 65536u

/* Facts about an inode: it has no access control list; it has no extended attribute at all. */
#define INODE_LACKS (WIRE_A_NOACL | WIRE_A_NOXATTR)

struct inode_cache;

/* Returns NULL if there is no memory. */
struct inode_cache *inode_cache_new(void);
void inode_cache_free(struct inode_cache *c);

/* Returns a number for a name in the directory with this handle; never 0. */
uint64_t inode_cache_name(uint64_t dir, const char *name);

/* ---- replies ---- */

/* A reply about an inode. */
struct inode_reply {
	const struct stat *st; /* the attributes; NULL: the reply has none */
	/* the manager's reply, which says if extended attributes are absent; may be NULL with st */
	const struct attr *attr;
	uint64_t asked; /* when the request to the manager began: clock_now() */
	uint64_t until; /* how long attr is valid: clock_now() */
	uint64_t name; /* a name of the inode: inode_cache_name(); 0: none */
};

/* Records a reply about an inode.  Must be called before the kernel gets this reply. */
void inode_cache_record(struct inode_cache *c, const struct inode_reply *reply);
/* Records that the name stands for the inode. */
void inode_cache_record_name(struct inode_cache *c, uint64_t name,
			     uint64_t handle);

/* ---- extended attributes ---- */

/* Returns true if the inode lacks `what` (one of INODE_LACKS), and this is still valid. */
bool inode_cache_lacks(struct inode_cache *c, uint64_t handle, uint32_t what);
/*
 * Called when an extended attribute was or may have been set or removed through this mount.
 * From now on, replies to requests that began earlier do not record missing attributes.
 */
void inode_cache_xattr_changed(struct inode_cache *c, uint64_t handle);

/* ---- pages ---- */

/*
 * Called at an open: records the version of the file, which is its size and times in st.
 * Returns true if the version is that of the previous open: the kernel may keep the pages.
 * Returns false if the previous version is unknown, or if the file changed so recently that a
 * later change might have the same time.
 */
bool inode_cache_same_version(struct inode_cache *c, const struct stat *st);

/* ---- names: called before the reply to the change ---- */

/* Returns true if the name's inode and its attributes are recorded. */
bool inode_cache_knows(struct inode_cache *c, uint64_t name);
/* Returns the handle of the name's inode; 0: unknown. */
uint64_t inode_cache_handle(struct inode_cache *c, uint64_t name);
/* The name was removed.  If it was the inode's last one, the inode is removed. */
void inode_cache_unlink(struct inode_cache *c, uint64_t name);
/* A name was renamed.  swaps: the names changed places, and none was removed. */
void inode_cache_rename(struct inode_cache *c, uint64_t from, uint64_t to,
			bool swaps);

/* ---- removed inodes ---- */

/*
 * Called when the manager does not know the inode.  If the kernel got attributes of it before,
 * sets *st to these and returns true: some host has removed the inode.
 */
bool inode_cache_get_removed(struct inode_cache *c, uint64_t handle,
			     struct stat *st);
/* Returns true if the inode is removed, and lacked `what`, one or more of INODE_LACKS. */
bool inode_cache_removed_lacks(struct inode_cache *c, uint64_t handle,
			       uint32_t what);
/*
 * Changes attributes of a removed inode for the user uid, and sets *st to the result.  Returns
 * 0; -ESTALE: the inode is not recorded as removed; -EPERM: uid is neither the owner nor root,
 * or wants to change the owner and is not root.
 */
int inode_cache_set_removed(struct inode_cache *c, uint64_t handle, uid_t uid,
			    const struct setattr *how, struct stat *st);
/* The kernel has forgotten the inode. */
void inode_cache_forget(struct inode_cache *c, uint64_t handle);

#endif
