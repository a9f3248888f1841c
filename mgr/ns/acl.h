/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * acl.h - access control lists.  Their bytes are those of Linux' extended attributes.
 */
#ifndef ACL_H
#define ACL_H

#include <stddef.h>
#include <stdint.h>

#include "mgr/ns/ns.h"

#define ACL_ENTRIES_MAX 511u /* 4092 bytes, within one page of the kernel */
#define ACL_BYTES_MAX (4u + 8u * ACL_ENTRIES_MAX)

struct acl_entry {
	uint16_t tag, perm; /* ACL_*, of <linux/posix_acl.h> */
	uint32_t id;
};

struct acl {
	uint32_t n;
	struct acl_entry e[ACL_ENTRIES_MAX];
};

/*
 * An empty list: 0 with n 0.  -EOPNOTSUPP: another version; -ENOSPC: too many entries;
 * -EINVAL: the entries are invalid or not in order.
 */
int acl_parse(const void *bytes, size_t len, struct acl *acl);
/* bytes: room for ACL_BYTES_MAX bytes.  Returns the number of bytes written. */
size_t acl_pack(const struct acl *acl, void *bytes);

/*
 * For a user who is neither root nor the owner of the inode.  gid: the group of the
 * inode.  mask: bits 4 (read), 2 (write), 1 (execute).  0 or -EACCES.
 */
int acl_may(const struct acl *acl, const struct ns_cred *cred, uint32_t gid,
	    uint32_t mask);
/* mode with its nine permission bits replaced by those of the list. */
uint32_t acl_mode(const struct acl *acl, uint32_t mode);
/* Whether the mode says everything that the list says. */
bool acl_is_mode(const struct acl *acl);
/* chmod(2) of an inode with this list: its entries follow the nine bits of mode. */
void acl_chmod(struct acl *acl, uint32_t mode);
/*
 * Turns a default list into the access list of a new inode, limited by mode.  Returns
 * the mode of the inode.
 */
uint32_t acl_create(struct acl *acl, uint32_t mode);

/*
 * ---- lists of inodes, stored among their extended attributes ----
 *
 * The flags of an inode say which lists exist, so an inode without lists costs no lookup.
 */

enum acl_kind { ACL_OF_ACCESS, ACL_OF_CHILDREN, ACL_OF_NONE };

/* The list that an extended attribute of this name is; ACL_OF_NONE: it is none. */
enum acl_kind acl_kind_of(const char *name, size_t len);
bool acl_exists(const struct inode *ino, enum acl_kind kind);

/* -ENODATA: the inode has no such list. */
int acl_get(struct store *st, const struct inode *ino, enum acl_kind kind,
	    struct acl *acl);
/*
 * Writes the row and sets the flag; an empty list removes both.  The caller writes the
 * inode.
 */
int acl_put(struct store *st, struct inode *ino, enum acl_kind kind,
	    const struct acl *acl);
/*
 * Sets the attribute and the mode that follows from it.  len 0: removes the attribute.
 * *changed: the caller writes the inode.  -EPERM: not the owner; -EACCES: only
 * directories have this list.
 */
int acl_set(const struct ns_op *op, struct inode *ino, enum acl_kind kind,
	    const void *bytes, size_t len, bool *changed);
/*
 * The mode of a new inode: from the default list of dir, which it inherits, or from the
 * umask.
 */
int acl_inherit(const struct ns_op *op, const struct inode *dir,
		struct inode *ino);

#endif
