/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * acl_row.h - access control lists of inodes, kept beside their extended
 * attributes.  An inode's flags say which there are: one without costs no look.
 */
#ifndef ACL_ROW_H
#define ACL_ROW_H

#include "mgr/ns/acl.h"

enum acl_kind { ACL_OF_ACCESS, ACL_OF_CHILDREN, ACL_OF_NONE };

/* Which list an extended attribute of this name is; ACL_OF_NONE: none. */
enum acl_kind acl_kind_of(const char *name, size_t len);
bool acl_there(const struct inode *ino, enum acl_kind kind);

/* -ENODATA. */
int acl_get(struct store *st, const struct inode *ino, enum acl_kind kind,
	    struct acl *acl);
/* Writes the row, or with no entries removes it, and sets the flag; the caller
 * puts the inode. */
int acl_put(struct store *st, struct inode *ino, enum acl_kind kind,
	    const struct acl *acl);
/* What setting the attribute means, its mode included; the caller puts the inode.
 * len 0: it is removed.  -EPERM; -EACCES: only directories have this one. */
int acl_set(const struct ns_op *op, struct inode *ino, enum acl_kind kind,
	    const void *bytes, size_t len);
/* A new inode's mode: with the lists that dir has for it, else after umask. */
int acl_inherit(const struct ns_op *op, const struct inode *dir,
		struct inode *ino);

#endif
