/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy_xattr.c - extended attributes of users, and access control lists.  Those that
 * the target cannot hold are recorded, which is no failure.  Without its list, a file's
 * group gets no more rights than the list gave it.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "client/tools/files/copy/copy.h"

#define NAMES 65536u /* bytes, the limit of the kernel */
#define VALUE 65536u
#define ACL_ACCESS "system.posix_acl_access"
#define ACL_DEFAULT "system.posix_acl_default"
#define ACL_GROUP 0x04
#define ACL_MASK 0x10

/* An access control list as the kernel returns it: a version, then these. */
struct xattr_acl_entry {
	uint16_t tag, perm;
	uint32_t id;
};

struct xattrs {
	struct copy *copy;
	const char *from, *to;
	struct stat *st; /* attributes that `to` gets */
	bool follows; /* symbolic links at both ends */
	char have[NAMES], want[NAMES], value[VALUE], old[VALUE];
	ssize_t nhave, nwant;
};

static bool is_acl(const char *name)
{
	return !strcmp(name, ACL_ACCESS) || !strcmp(name, ACL_DEFAULT);
}

/* Labels of security modules belong to each host, and are not copied. */
static bool is_kept(const struct copy *c, const char *name)
{
	return is_acl(name) ||
	       (c->opt.xattrs &&
		(!strncmp(name, "user.", 5) || !strncmp(name, "trusted.", 8) ||
		 !strcmp(name, "security.capability")));
}

/* Returns the length; 0 also if the file system has no attributes. */
static ssize_t list_names(const struct xattrs *x, const char *path,
			  char names[NAMES])
{
	ssize_t n = x->follows ? pvfs_listxattr(path, names, NAMES)
			       : pvfs_llistxattr(path, names, NAMES);

	return n < 0 && errno == EOPNOTSUPP ? 0 : n;
}

static bool is_in(const char *name, const char *names, ssize_t len)
{
	for (const char *p = names; p < names + len; p += strlen(p) + 1)
		if (!strcmp(p, name))
			return true;
	return false;
}

/*
 * Reduces the mode to what the list gives the file's group, which the mode does not
 * show.
 */
static void narrow_mode(struct xattrs *x, size_t len)
{
	mode_t group = 0, mask = 7;

	for (size_t at = 4; at + sizeof(struct xattr_acl_entry) <= len;
	     at += sizeof(struct xattr_acl_entry)) {
		struct xattr_acl_entry e;

		memcpy(&e, x->value + at, sizeof(e));
		if (le16toh(e.tag) == ACL_GROUP)
			group = le16toh(e.perm) & 7;
		else if (le16toh(e.tag) == ACL_MASK)
			mask = le16toh(e.perm) & 7;
	}
	x->st->st_mode &= ~(mode_t)070 | (group & mask) << 3;
}

static int target_lacks(struct xattrs *x, const char *name, size_t len)
{
	copy_lacks(x->copy, is_acl(name) ? COPY_LACKS_ACLS : COPY_LACKS_XATTRS,
		   x->from);
	if (!strcmp(name, ACL_ACCESS))
		narrow_mode(x, len);
	return 0;
}

static ssize_t get_value(const struct xattrs *x, const char *path,
			 const char *name, char *value)
{
	return x->follows ? pvfs_getxattr(path, name, value, VALUE)
			  : pvfs_lgetxattr(path, name, value, VALUE);
}

static int set_once(const struct xattrs *x, const char *name, size_t len)
{
	return x->follows ? pvfs_setxattr(x->to, name, x->value, len, 0)
			  : pvfs_lsetxattr(x->to, name, x->value, len, 0);
}

/* The owner needs write permission to set attributes, so it is added on EACCES. */
static int set_value(struct xattrs *x, const char *name, size_t len)
{
	if (!set_once(x, name, len))
		return 0;
	if (errno != EACCES || S_ISLNK(x->st->st_mode) ||
	    copy_change_mode(x->copy, x->to, (x->st->st_mode & 0700) | 0200))
		return -1;
	return set_once(x, name, len);
}

static int copy_one(struct xattrs *x, const char *name)
{
	ssize_t n = get_value(x, x->from, name, x->value), old;

	if (n < 0)
		return errno == ENODATA ? 0 : -1;
	old = get_value(x, x->to, name, x->old);
	if (old == n && !memcmp(x->old, x->value, (size_t)n))
		return 0;
	if (!set_value(x, name, (size_t)n))
		return 0;
	return errno == EOPNOTSUPP || errno == ENOSPC || errno == E2BIG ||
			       errno == ERANGE || errno == EPERM
		       ? target_lacks(x, name, (size_t)n)
		       : -1;
}

static int remove_one(const struct xattrs *x, const char *name)
{
	int rc = x->follows ? pvfs_removexattr(x->to, name)
			    : pvfs_lremovexattr(x->to, name);

	return rc && errno != ENODATA ? -1 : 0;
}

static int copy_all(struct xattrs *x)
{
	x->nwant = list_names(x, x->from, x->want);
	x->nhave = x->nwant < 0 ? -1 : list_names(x, x->to, x->have);
	if (x->nhave < 0)
		return -1;
	for (const char *p = x->have; p < x->have + x->nhave;
	     p += strlen(p) + 1)
		if (is_kept(x->copy, p) && !is_in(p, x->want, x->nwant) &&
		    remove_one(x, p))
			return -1;
	for (const char *p = x->want; p < x->want + x->nwant;
	     p += strlen(p) + 1)
		if (is_kept(x->copy, p) && copy_one(x, p))
			return -1;
	return 0;
}

int copy_xattrs(struct copy *c, const char *from, const char *to,
		struct stat *st)
{
	struct xattrs *x = malloc(sizeof(*x));
	int rc;

	if (!x)
		return -1;
	x->copy = c;
	x->from = from;
	x->to = to;
	x->st = st;
	x->follows = copy_follows(c, st);
	rc = copy_all(x);
	free(x);
	return rc;
}
