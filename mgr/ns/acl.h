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
 * Parses an access control list from len bytes.  An empty list gives acl->n 0.
 * -EOPNOTSUPP: the bytes have another version; -ENOSPC: too many entries; -EINVAL: the
 * entries are invalid or not in order.
 */
int acl_parse(const void *bytes, size_t len, struct acl *acl);
/* bytes has room for ACL_BYTES_MAX bytes. Returns the number of bytes written. */
size_t acl_pack(const struct acl *acl, void *bytes);

/*
 * Checks the access of a user who is neither root nor the owner of the inode. gid is the group of
 * the inode. mask is the access: bits 4 (read), 2 (write), 1 (execute). Returns 0 or -EACCES.
 */
int acl_may(const struct acl *acl, const struct ns_cred *cred, uint32_t gid,
	    uint32_t mask);
/* Returns mode with its nine permission bits replaced by those of the list. */
uint32_t acl_mode(const struct acl *acl, uint32_t mode);
/* Returns whether the mode grants exactly what the list grants. */
bool acl_is_mode(const struct acl *acl);
/*
 * For chmod(2) of an inode with this list: sets the entries that the nine bits of mode
 * determine.
 */
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

/*
 * Returns the kind of list that an extended attribute with this name stands for, or ACL_OF_NONE if
 * it is no list.
 */
enum acl_kind acl_kind_of(const char *name, size_t len);
bool acl_exists(const struct inode *ino, enum acl_kind kind);

/* Returns 0, or -ENODATA if the inode has no such list. */
int acl_get(struct store *st, const struct inode *ino, enum acl_kind kind,
	    struct acl *acl);
/*
 * Writes the list's row and sets its flag in *ino.  An empty list removes both.  The caller
 * writes the inode.
 */
int acl_put(struct store *st, struct inode *ino, enum acl_kind kind,
	    const struct acl *acl);
/*
 * Sets the list of an inode from the bytes of its attribute, and the mode that follows from
 * it.  len 0: removes the list.  *changed: the caller must write the inode.  -EPERM: the
 * user is not the owner; -EACCES: only directories have this list; errors of acl_parse().
 */
int acl_set(const struct ns_op *op, struct inode *ino, enum acl_kind kind,
	    const void *bytes, size_t len, bool *changed);
/*
 * Sets the mode of the new inode ino.  If dir has a default list, ino inherits it, and the
 * list limits the mode.  If not, the umask does.  Errors are those of the store.
 */
int acl_inherit(const struct ns_op *op, const struct inode *dir,
		struct inode *ino);

#endif
