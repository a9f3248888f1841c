/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * acl_row.h - access control lists of inodes, stored among their extended attributes.
 * The flags of an inode say which lists exist, so an inode without lists costs no
 * lookup.
 */
#ifndef ACL_ROW_H
#define ACL_ROW_H

#include "mgr/ns/acl.h"

enum acl_kind { ACL_OF_ACCESS, ACL_OF_CHILDREN, ACL_OF_NONE };

/* The list that an extended attribute of this name is; ACL_OF_NONE: it is none. */
enum acl_kind acl_kind_of(const char *name, size_t len);
bool acl_there(const struct inode *ino, enum acl_kind kind);

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
