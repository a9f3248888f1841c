/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * acl.h - access control lists: what their bytes mean, and nothing of where they
 * are kept.  The bytes are those of Linux' extended attributes.
 */
#ifndef ACL_H
#define ACL_H

#include <stddef.h>
#include <stdint.h>

#include "mgr/ns/ns.h"

#define ACL_ENTRIES_MAX 511u /* 4092 bytes: what a page of the kernel's holds */
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
 * No entries: 0 with n 0.  -EOPNOTSUPP: another version; -ENOSPC: too many
 * entries; -EINVAL: the entries are not those of a list, or not in order.
 */
int acl_parse(const void *bytes, size_t len, struct acl *acl);
/* Of bytes, which hold ACL_BYTES_MAX; returns how many they are. */
size_t acl_pack(const struct acl *acl, void *bytes);

/* For who is neither root nor the owner of the inode, whose group is gid.  mask: bits of
 * 4 (read), 2, 1.  0 or -EACCES. */
int acl_may(const struct acl *acl, const struct ns_cred *cred, uint32_t gid,
	    uint32_t mask);
/* The nine bits that stand for the list; what else is in mode stays. */
uint32_t acl_mode(const struct acl *acl, uint32_t mode);
/* Mode says all that the list does. */
bool acl_is_mode(const struct acl *acl);
/* chmod(2) of what has the list: its entries follow the nine bits of mode. */
void acl_chmod(struct acl *acl, uint32_t mode);
/* A default list becomes that of a new file: no more than mode asks for.
 * Returns the file's mode. */
uint32_t acl_create(struct acl *acl, uint32_t mode);

#endif
