/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inode.h - the record of a file, directory or symlink.
 *
 * The manager knows the size of a regular file, or, with INODE_ASK, must ask the iods for it.
 * Only ns/file_size.c changes the fields of "size state".
 */
#ifndef INODE_H
#define INODE_H

#include <stdint.h>
#include <sys/stat.h>

#include "common/dist/dist.h"
#include "mgr/db/store.h"

/* a session opened the file for writing after `size` was stored */
#define INODE_ASK 0x1u
/* with ASK: what clients report at RELEASE does not determine the size */
#define INODE_TAINT 0x2u
#define INODE_DATA 0x4u /* iods may store objects of the file */
#define INODE_XATTR 0x10u /* it may have extended attributes */
/* allocated space may differ from size: ask the iods */
#define INODE_HOLES 0x20u
/* with HOLES: after the last change, the iods were not asked for the space yet */
#define INODE_UNSURE 0x100u
#define INODE_ACL 0x40u /* has an access ACL, which extends mode */
#define INODE_ACL_DEFAULT 0x80u /* has a default ACL for new entries */
#define INODE_BUSY 0x8u /* an INTENT_RESIZE exists for it */

struct inode {
	uint64_t handle;
	uint32_t mode; /* type and permission bits */
	/* number of names; 0: the file was removed, and exists until its last release */
	uint32_t nlink;
	uint32_t holders; /* open records of readers */
	uint32_t uid, gid;
	int64_t atime, mtime, ctime; /* ns since the epoch */
	int64_t mset; /* when mtime was set explicitly; 0: never */
	uint64_t parent; /* directories: the parent directory */
	/* regular files: the session of all writers; 0: several, or unknown */
	uint64_t writer;

	/* regular files; devices: major number in base, minor in pcount */
	struct dist dist;

	/* regular files: size state; symlinks: size */
	uint32_t flags; /* INODE_* */
	/* grows with each change after which an earlier answer of the iods may be stale */
	uint32_t gen;
	uint32_t writers; /* open records of writers */
	uint32_t appenders; /* open records of writers that only append */
	uint64_t size; /* bytes */
	uint64_t end; /* highest end of a write, as reported by releases */
	uint64_t tail; /* highest end that was reserved for an append */
};

static inline int inode_is_dir(const struct inode *ino)
{
	return S_ISDIR(ino->mode);
}

/* -ENOENT: no such handle. */
int inode_get(struct store *st, uint64_t handle, struct inode *ino);
int inode_put(struct store *st, const struct inode *ino);
int inode_del(struct store *st, uint64_t handle);
/* The highest handle; 0: there is no inode. */
int inode_last(struct store *st, uint64_t *handle);
/*
 * Counts inodes with handles from *next to last, at most `rows` of them.  Adds their number to
 * *count, and sets *next to the handle at which to continue; 0: all are counted.
 */
int inode_count(struct store *st, uint64_t last, unsigned int rows,
		uint64_t *next, uint64_t *count);

/* The target of a symlink: at most 4095 bytes, without NUL. */
#define SYMLINK_MAX 4095u
int symlink_put(struct store *st, uint64_t handle, const void *text,
		size_t len);
int symlink_get(struct store *st, uint64_t handle, char text[SYMLINK_MAX],
		size_t *len);
int symlink_del(struct store *st, uint64_t handle);

/* ---- extended attributes: small values by name ---- */

#define XATTR_NAME_BYTES 255u /* bytes */
#define XATTR_VALUE_BYTES 4096u

/* *len: the length of value, which has room for XATTR_VALUE_BYTES.  -ENODATA: no such name. */
int xattr_get(struct store *st, uint64_t handle, const char *name, size_t nlen,
	      void *value, size_t *len);
int xattr_put(struct store *st, uint64_t handle, const char *name, size_t nlen,
	      const void *value, size_t len);
/* -ENODATA: no such name. */
int xattr_del(struct store *st, uint64_t handle, const char *name, size_t nlen);
/* Removes all attributes, when the object is removed. */
int xattr_del_all(struct store *st, uint64_t handle);

/* Calls fn for each name until fn returns non-zero, and returns that value. */
typedef int xattr_fn(void *arg, const char *name, size_t nlen);
int xattr_walk(struct store *st, uint64_t handle, xattr_fn *fn, void *arg);

#endif
