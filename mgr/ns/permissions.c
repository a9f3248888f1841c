/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * permissions.c - what a user may do with an inode: owner, groups, mode bits, and access control
 * lists by the rules of POSIX 1003.1e, as Linux implements them.
 */
#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <string.h>
#include <unistd.h>

#include "mgr/db/inode.h"
#include "mgr/ns/acl.h"
#include "mgr/ns/ns_int.h"

/* ---- owner and groups ---- */

bool ns_is_owner(const struct ns_cred *cred, const struct inode *ino)
{
	return cred->uid == 0 || cred->uid == ino->uid;
}

static bool is_listed(const struct ns_cred *cred, uint32_t gid)
{
	uint32_t from = 0, to = cred->sorted ? cred->ngroups : 0;

	for (uint32_t i = 0; !cred->sorted && i < cred->ngroups; i++)
		if (cred->groups[i] == gid)
			return true;
	while (from < to) {
		uint32_t half = from + (to - from) / 2;

		if (cred->groups[half] == gid)
			return true;
		if (cred->groups[half] < gid)
			from = half + 1;
		else
			to = half;
	}
	return false;
}

bool ns_in_group(const struct ns_cred *cred, uint32_t gid)
{
	if (cred->gid == gid)
		return true;
	if (!cred->root_gid)
		return is_listed(cred, gid);
	return gid && (is_listed(cred, gid) ||
		       (gid == cred->root_gid && is_listed(cred, 0)));
}

/* ---- access control lists ---- */

/* ---- bytes ---- */

/* The position of a tag in a list. */
static int tag_rank(uint16_t tag)
{
	switch (tag) {
	case ACL_USER_OBJ:
		return 1;
	case ACL_USER:
		return 2;
	case ACL_GROUP_OBJ:
		return 3;
	case ACL_GROUP:
		return 4;
	case ACL_MASK:
		return 5;
	case ACL_OTHER:
		return 6;
	}
	return 0;
}

static bool is_named(const struct acl_entry *e)
{
	return e->tag == ACL_USER || e->tag == ACL_GROUP;
}

static bool entry_follows(const struct acl_entry *e,
			  const struct acl_entry *before)
{
	int was = before ? tag_rank(before->tag) : 0;

	return tag_rank(e->tag) > was ||
	       (tag_rank(e->tag) == was && is_named(e));
}

static bool is_entry(const struct acl_entry *e)
{
	return tag_rank(e->tag) && !(e->perm & ~7u) &&
	       (!is_named(e) || e->id != UINT32_MAX);
}

static struct acl_entry *find_tag(const struct acl *acl, uint16_t tag)
{
	for (uint32_t i = 0; i < acl->n; i++)
		if (acl->e[i].tag == tag)
			return (struct acl_entry *)(uintptr_t)&acl->e[i];
	return NULL;
}

static bool has_required_tags(const struct acl *acl)
{
	bool named = find_tag(acl, ACL_USER) || find_tag(acl, ACL_GROUP);

	return find_tag(acl, ACL_USER_OBJ) && find_tag(acl, ACL_GROUP_OBJ) &&
	       find_tag(acl, ACL_OTHER) && (!named || find_tag(acl, ACL_MASK));
}

static struct acl_entry unpack_entry(const uint8_t *bytes)
{
	struct posix_acl_xattr_entry raw;

	memcpy(&raw, bytes, sizeof(raw));
	return (struct acl_entry){ le16toh(raw.e_tag), le16toh(raw.e_perm),
				   le32toh(raw.e_id) };
}

static int parse_entries(const uint8_t *bytes, uint32_t n, struct acl *acl)
{
	for (acl->n = 0; acl->n < n; acl->n++) {
		struct acl_entry *e = &acl->e[acl->n];

		*e = unpack_entry(
			bytes + acl->n * sizeof(struct posix_acl_xattr_entry));
		if (!is_entry(e) || !entry_follows(e, acl->n ? e - 1 : NULL))
			return -EINVAL;
	}
	return !n || has_required_tags(acl) ? 0 : -EINVAL;
}

int acl_parse(const void *bytes, size_t len, struct acl *acl)
{
	const size_t size = sizeof(struct posix_acl_xattr_entry);
	struct posix_acl_xattr_header head;

	acl->n = 0;
	if (!len)
		return 0;
	if (len < sizeof(head))
		return -EINVAL;
	memcpy(&head, bytes, sizeof(head));
	if (le32toh(head.a_version) != POSIX_ACL_XATTR_VERSION)
		return -EOPNOTSUPP;
	len -= sizeof(head);
	if (len % size)
		return -EINVAL;
	if (len / size > ACL_ENTRIES_MAX)
		return -ENOSPC;
	return parse_entries((const uint8_t *)bytes + sizeof(head),
			     (uint32_t)(len / size), acl);
}

size_t acl_pack(const struct acl *acl, void *bytes)
{
	struct posix_acl_xattr_header head = { htole32(
		POSIX_ACL_XATTR_VERSION) };
	uint8_t *at = bytes;

	memcpy(at, &head, sizeof(head));
	at += sizeof(head);
	for (uint32_t i = 0; i < acl->n; i++) {
		const struct acl_entry *e = &acl->e[i];
		struct posix_acl_xattr_entry raw = {
			htole16(e->tag), htole16(e->perm),
			htole32(is_named(e) ? e->id : UINT32_MAX)
		};

		memcpy(at, &raw, sizeof(raw));
		at += sizeof(raw);
	}
	return (size_t)(at - (uint8_t *)bytes);
}

/* ---- who may ---- */

static bool entry_grants(const struct acl_entry *e,
			 const struct acl_entry *limit, uint32_t mask)
{
	uint32_t perm = limit ? e->perm & limit->perm : e->perm;

	return !(mask & ~perm);
}

static bool is_group_of(const struct acl_entry *e, const struct ns_cred *cred,
			uint32_t gid)
{
	if (e->tag == ACL_GROUP_OBJ)
		return ns_in_group(cred, gid);
	return e->tag == ACL_GROUP && ns_in_group(cred, e->id);
}

int acl_may(const struct acl *acl, const struct ns_cred *cred, uint32_t gid,
	    uint32_t mask)
{
	const struct acl_entry *limit = find_tag(acl, ACL_MASK);
	bool member = false;

	for (uint32_t i = 0; i < acl->n; i++) {
		const struct acl_entry *e = &acl->e[i];

		if (e->tag == ACL_USER && e->id == cred->uid)
			return entry_grants(e, limit, mask) ? 0 : -EACCES;
		if (!is_group_of(e, cred, gid))
			continue;
		if (entry_grants(e, limit, mask))
			return 0;
		member = true;
	}
	if (member)
		return -EACCES;
	return mask & ~find_tag(acl, ACL_OTHER)->perm ? -EACCES : 0;
}

/* ---- the list and the mode ---- */

/* The entry that the group bits of the mode represent. */
static struct acl_entry *group_class(const struct acl *acl)
{
	struct acl_entry *mask = find_tag(acl, ACL_MASK);

	return mask ? mask : find_tag(acl, ACL_GROUP_OBJ);
}

uint32_t acl_mode(const struct acl *acl, uint32_t mode)
{
	return (mode & ~0777u) |
	       (uint32_t)find_tag(acl, ACL_USER_OBJ)->perm << 6 |
	       (uint32_t)group_class(acl)->perm << 3 |
	       find_tag(acl, ACL_OTHER)->perm;
}

bool acl_is_mode(const struct acl *acl)
{
	return acl->n == 3;
}

void acl_chmod(struct acl *acl, uint32_t mode)
{
	find_tag(acl, ACL_USER_OBJ)->perm = mode >> 6 & 7;
	group_class(acl)->perm = mode >> 3 & 7;
	find_tag(acl, ACL_OTHER)->perm = mode & 7;
}

uint32_t acl_create(struct acl *acl, uint32_t mode)
{
	mode &= acl_mode(acl, ~0u);
	acl_chmod(acl, mode);
	return mode;
}

/* ---- lists of inodes ---- */

_Static_assert(ACL_BYTES_MAX <= XATTR_VALUE_BYTES, "a list fits a row");

static const struct {
	const char *name;
	uint32_t flag;
} kinds[] = {
	[ACL_OF_ACCESS] = { "system.posix_acl_access", INODE_ACL },
	[ACL_OF_CHILDREN] = { "system.posix_acl_default", INODE_ACL_DEFAULT },
};

enum acl_kind acl_kind_of(const char *name, size_t len)
{
	enum acl_kind k;

	for (k = ACL_OF_ACCESS; k < ACL_OF_NONE; k++)
		if (len == strlen(kinds[k].name) &&
		    !memcmp(name, kinds[k].name, len))
			break;
	return k;
}

bool acl_exists(const struct inode *ino, enum acl_kind kind)
{
	return ino->flags & kinds[kind].flag;
}

int acl_get(struct store *st, const struct inode *ino, enum acl_kind kind,
	    struct acl *acl)
{
	const char *name = kinds[kind].name;
	uint8_t bytes[XATTR_VALUE_BYTES];
	size_t len;
	int rc;

	if (!acl_exists(ino, kind))
		return -ENODATA;
	rc = xattr_get(st, ino->handle, name, strlen(name), bytes, &len);
	if (!rc && !acl_parse(bytes, len, acl) && acl->n)
		return 0;
	if (rc && rc != -ENODATA)
		return rc;
	log_error(store_log(st),
		  "inode %llu: %s is damaged or missing; remove "
		  "it (setfacl -b) and set it again",
		  (unsigned long long)handle_external(st, ino->handle), name);
	return -EIO;
}

static int acl_drop(struct store *st, struct inode *ino, enum acl_kind kind)
{
	const char *name = kinds[kind].name;
	int rc;

	if (!acl_exists(ino, kind))
		return 0;
	rc = xattr_del(st, ino->handle, name, strlen(name));
	if (!rc || rc == -ENODATA)
		ino->flags &= ~kinds[kind].flag;
	return rc == -ENODATA ? 0 : rc;
}

int acl_put(struct store *st, struct inode *ino, enum acl_kind kind,
	    const struct acl *acl)
{
	const char *name = kinds[kind].name;
	uint8_t bytes[ACL_BYTES_MAX];

	if (!acl->n)
		return acl_drop(st, ino, kind);
	ino->flags |= kinds[kind].flag | INODE_XATTR;
	return xattr_put(st, ino->handle, name, strlen(name), bytes,
			 acl_pack(acl, bytes));
}

/* A list that says no more than the mode is not stored. */
static void acl_set_mode(const struct ns_op *op, struct inode *ino,
			 struct acl *acl)
{
	if (!acl->n)
		return;
	ino->mode = acl_mode(acl, ino->mode);
	if (op->cred->uid != 0 && !ns_in_group(op->cred, ino->gid))
		ino->mode &= ~(uint32_t)S_ISGID;
	if (acl_is_mode(acl))
		acl->n = 0;
}

int acl_set(const struct ns_op *op, struct inode *ino, enum acl_kind kind,
	    const void *bytes, size_t len, bool *changed)
{
	struct acl acl;
	int rc = acl_parse(bytes, len, &acl);

	*changed = false;
	if (rc)
		return rc;
	if (kind == ACL_OF_CHILDREN && !inode_is_dir(ino))
		return acl.n ? -EACCES : 0;
	if (!ns_is_owner(op->cred, ino))
		return -EPERM;
	if (kind == ACL_OF_ACCESS)
		acl_set_mode(op, ino, &acl);
	rc = acl_put(op->ns->st, ino, kind, &acl);
	*changed = !rc;
	return rc;
}

int acl_inherit(const struct ns_op *op, const struct inode *dir,
		struct inode *ino)
{
	struct store *st = op->ns->st;
	struct acl acl;
	int rc;

	if (S_ISLNK(ino->mode))
		return 0;
	rc = acl_get(st, dir, ACL_OF_CHILDREN, &acl);
	if (rc == -ENODATA)
		ino->mode &= ~(op->umask & 0777u);
	if (rc)
		return rc == -ENODATA ? 0 : rc;
	if (inode_is_dir(ino))
		rc = acl_put(st, ino, ACL_OF_CHILDREN, &acl);
	ino->mode = acl_create(&acl, ino->mode);
	if (!rc && !acl_is_mode(&acl))
		rc = acl_put(st, ino, ACL_OF_ACCESS, &acl);
	return rc;
}

/* ---- permissions ---- */

#define ENTRIES_STEP 16u /* entries of an ACL that cost as much as a row */

static int may_root(const struct inode *ino, uint32_t mask)
{
	if (!(mask & X_OK) || inode_is_dir(ino) || ino->mode & 0111)
		return 0;
	return -EACCES;
}

static int may_acl(const struct ns_op *op, const struct inode *ino,
		   uint32_t mask)
{
	struct acl acl;
	int rc = acl_get(op->ns->st, ino, ACL_OF_ACCESS, &acl);

	if (rc)
		return rc;
	op->ns->steps += acl.n / ENTRIES_STEP;
	return acl_may(&acl, op->cred, ino->gid, mask);
}

/* As in Linux: an ACL whose mask grants nothing is not evaluated. */
static bool has_acl(const struct inode *ino)
{
	return acl_exists(ino, ACL_OF_ACCESS) && ino->mode & S_IRWXG;
}

int ns_may(const struct ns_op *op, const struct inode *ino, uint32_t mask)
{
	const struct ns_cred *cred = op->cred;
	uint32_t bits = ino->mode & 7;

	if (cred->uid == 0)
		return may_root(ino, mask);
	if (cred->uid == ino->uid)
		bits = ino->mode >> 6 & 7;
	else if (has_acl(ino))
		return may_acl(op, ino, mask);
	else if (ns_in_group(cred, ino->gid))
		bits = ino->mode >> 3 & 7;
	return mask & ~bits ? -EACCES : 0;
}

int ns_may_create(struct ns_op *op, const struct inode *dir)
{
	int rc = ns_may(op, dir, W_OK | X_OK);

	if (rc)
		return rc;
	return store_check_space(op->ns->st) ? -ENOSPC : 0;
}

int ns_may_delete(const struct ns_op *op, const struct inode *dir,
		  const struct inode *victim)
{
	const struct ns_cred *cred = op->cred;
	int rc = ns_may(op, dir, W_OK | X_OK);

	if (rc)
		return rc;
	if (!(dir->mode & S_ISVTX) || ns_is_owner(cred, victim) ||
	    ns_is_owner(cred, dir))
		return 0;
	return -EPERM;
}

bool ns_is_writer(const struct ns_op *op, const struct inode *ino,
		  uint64_t open)
{
	struct open_rec rec;

	return open && !open_get(op->ns->st, op->session, open, &rec) &&
	       rec.handle == ino->handle && !(rec.flags & OPEN_HOLD);
}

uint32_t mode_without_suid(uint32_t mode)
{
	if (S_ISDIR(mode))
		return mode;
	mode &= ~(uint32_t)S_ISUID;
	/* without group execution the bit means mandatory locking */
	if (mode & S_IXGRP)
		mode &= ~(uint32_t)S_ISGID;
	return mode;
}

/*
 * As in Linux since 6.2: a user outside the group also clears a set-group-id bit
 * without group execution, which means mandatory locking.
 */
void ns_clear_suid(const struct ns_cred *cred, struct inode *ino)
{
	ino->mode = mode_without_suid(ino->mode);
	if (!S_ISDIR(ino->mode) && cred->uid && !ns_in_group(cred, ino->gid))
		ino->mode &= ~(uint32_t)S_ISGID;
}

int ns_clear_capabilities(struct ns_op *op, const struct inode *ino)
{
	static const char name[] = "security.capability";
	int rc;

	if (!(ino->flags & INODE_XATTR))
		return 0;
	rc = xattr_del(op->ns->st, ino->handle, name, sizeof(name) - 1);
	return rc == -ENODATA ? 0 : rc;
}
