/* SPDX-License-Identifier: BSD-2-Clause */
/* acl.c - see acl.h; the rules of POSIX 1003.1e, as Linux implements them. */
#include "mgr/ns/acl.h"

#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <string.h>

#include "mgr/ns/ns_int.h"

/* ---- bytes ---- */

/* The position of a tag in a list. */
static int rank(uint16_t tag)
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

static bool follows(const struct acl_entry *e, const struct acl_entry *before)
{
	int was = before ? rank(before->tag) : 0;

	return rank(e->tag) > was || (rank(e->tag) == was && is_named(e));
}

static bool is_entry(const struct acl_entry *e)
{
	return rank(e->tag) && !(e->perm & ~7u) &&
	       (!is_named(e) || e->id != UINT32_MAX);
}

static struct acl_entry *find(const struct acl *acl, uint16_t tag)
{
	for (uint32_t i = 0; i < acl->n; i++)
		if (acl->e[i].tag == tag)
			return (struct acl_entry *)(uintptr_t)&acl->e[i];
	return NULL;
}

static bool is_whole(const struct acl *acl)
{
	bool named = find(acl, ACL_USER) || find(acl, ACL_GROUP);

	return find(acl, ACL_USER_OBJ) && find(acl, ACL_GROUP_OBJ) &&
	       find(acl, ACL_OTHER) && (!named || find(acl, ACL_MASK));
}

static struct acl_entry unpack(const uint8_t *bytes)
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

		*e = unpack(bytes +
			    acl->n * sizeof(struct posix_acl_xattr_entry));
		if (!is_entry(e) || !follows(e, acl->n ? e - 1 : NULL))
			return -EINVAL;
	}
	return !n || is_whole(acl) ? 0 : -EINVAL;
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

static bool grants(const struct acl_entry *e, const struct acl_entry *limit,
		   uint32_t mask)
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
	const struct acl_entry *limit = find(acl, ACL_MASK);
	bool member = false;

	for (uint32_t i = 0; i < acl->n; i++) {
		const struct acl_entry *e = &acl->e[i];

		if (e->tag == ACL_USER && e->id == cred->uid)
			return grants(e, limit, mask) ? 0 : -EACCES;
		if (!is_group_of(e, cred, gid))
			continue;
		if (grants(e, limit, mask))
			return 0;
		member = true;
	}
	if (member)
		return -EACCES;
	return mask & ~find(acl, ACL_OTHER)->perm ? -EACCES : 0;
}

/* ---- the list and the mode ---- */

/* The entry that the group bits of the mode represent. */
static struct acl_entry *group_class(const struct acl *acl)
{
	struct acl_entry *mask = find(acl, ACL_MASK);

	return mask ? mask : find(acl, ACL_GROUP_OBJ);
}

uint32_t acl_mode(const struct acl *acl, uint32_t mode)
{
	return (mode & ~0777u) | (uint32_t)find(acl, ACL_USER_OBJ)->perm << 6 |
	       (uint32_t)group_class(acl)->perm << 3 |
	       find(acl, ACL_OTHER)->perm;
}

bool acl_is_mode(const struct acl *acl)
{
	return acl->n == 3;
}

void acl_chmod(struct acl *acl, uint32_t mode)
{
	find(acl, ACL_USER_OBJ)->perm = mode >> 6 & 7;
	group_class(acl)->perm = mode >> 3 & 7;
	find(acl, ACL_OTHER)->perm = mode & 7;
}

uint32_t acl_create(struct acl *acl, uint32_t mode)
{
	mode &= acl_mode(acl, ~0u);
	acl_chmod(acl, mode);
	return mode;
}
