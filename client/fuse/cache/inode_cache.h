/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inode_cache.h - the inodes and names that the kernel has, according to the replies that
 * it got.  The daemon uses it
 *
 * - to answer without a request for extended attributes that an inode lacks;
 * - to tell the kernel at an open whether the pages that it has are still valid;
 * - for inodes that were removed while the kernel still uses them, as working
 *   directories or without requests to the daemon (FIFOs, sockets, devices, O_PATH).
 *   If the manager no longer knows such an inode, it has the attributes of its removal,
 *   a directory is empty, and changes of attributes apply only here.
 *
 * There is one entry per inode.  If there are too many, one that had no reply lately is
 * evicted.  Directories do not compete with other inodes: the files of a directory that
 * a program has open must not evict the directory.  A removed inode is not evicted: it
 * stays until the kernel forgets it.  An inode without an entry costs a request, or
 * gives ESTALE after its removal.
 *
 * Before the kernel removes a name, it looks the name up, or did so a moment ago.  So
 * names are recorded too, and the daemon knows the inode of a removed name without a
 * request.
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
#define INODE_CACHE_REMOVED_MAX 65536u /* further removed inodes give ESTALE */

/* An inode may lack all access control lists, or all extended attributes. */
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

/* Called before the reply to the kernel. */
void inode_cache_record(struct inode_cache *c, const struct inode_reply *reply);
/* Records that the name stands for the inode. */
void inode_cache_record_name(struct inode_cache *c, uint64_t name,
			     uint64_t handle);

/* ---- extended attributes ---- */

/* Returns true if the inode lacks `what` (one of INODE_LACKS), and this is still valid. */
bool inode_cache_lacks(struct inode_cache *c, uint64_t handle, uint32_t what);
/*
 * An extended attribute was set or removed here, or may have been: replies to requests
 * that began earlier no longer count.
 */
void inode_cache_xattr_changed(struct inode_cache *c, uint64_t handle);

/* ---- pages ---- */

/*
 * Records the version in which the file is opened.  Returns true if the kernel may keep
 * its pages: the version is that of the previous open.  Returns false if the previous
 * version is unknown, or if the file changed so recently that another change might have
 * the same time.
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
 * The manager does not know the inode.  Returns true if a host has removed it, and the
 * kernel got its attributes before: *st has them.
 */
bool inode_cache_get_removed(struct inode_cache *c, uint64_t handle,
			     struct stat *st);
/* Returns true if the inode is removed, and lacked `what`, one or more of INODE_LACKS. */
bool inode_cache_removed_lacks(struct inode_cache *c, uint64_t handle,
			       uint32_t what);
/*
 * Changes attributes of a removed inode for the user uid.  Returns 0, and *st has the
 * result; -ESTALE: the inode is not recorded as removed; -EPERM: uid is neither its
 * owner nor root, or is not root and gives it to another owner.
 */
int inode_cache_set_removed(struct inode_cache *c, uint64_t handle, uid_t uid,
			    const struct setattr *how, struct stat *st);
/* The kernel has forgotten the inode. */
void inode_cache_forget(struct inode_cache *c, uint64_t handle);

#endif
