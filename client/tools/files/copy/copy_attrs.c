/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy_attrs.c - the attributes of a copied file: owner, mode, times, extended attributes, and
 * access control lists.  Attributes that the target cannot hold are recorded,
 * which is no failure.  Without its list, a file's group gets no more rights than the list
 * gave it.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

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

/*
 * A symbolic link at either end stands for its file, unless the link itself is copied.
 */
static bool follows_links(const struct copy *c, const struct stat *st)
{
	return !c->opt.nofollow && !S_ISLNK(st->st_mode);
}

int copy_change_mode(const struct copy *c, const char *to, mode_t mode)
{
	if (c->opt.nofollow && !pvfs_is_pvfs(to))
		return fchmodat(AT_FDCWD, to, mode, AT_SYMLINK_NOFOLLOW);
	return pvfs_chmod(to, mode);
}

static bool is_acl(const char *name)
{
	return !strcmp(name, ACL_ACCESS) || !strcmp(name, ACL_DEFAULT);
}

/*
 * Whether the attribute is a label of a security module.  The kernel may label a new file.  This
 * label stays if the source has none.
 */
static bool is_label(const char *name)
{
	return !strncmp(name, "security.", 9) &&
	       strcmp(name, "security.capability") != 0;
}

/* Only the kernel may write security.evm. */
static bool is_kept(const struct copy *c, const char *name)
{
	return is_acl(name) ||
	       (c->opt.xattrs &&
		(!strncmp(name, "user.", 5) || !strncmp(name, "trusted.", 8) ||
		 (!strncmp(name, "security.", 9) &&
		  strcmp(name, "security.evm") != 0)));
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

static int note_unsupported(struct xattrs *x, const char *name, size_t len)
{
	copy_note_unsupported(x->copy,
			      is_acl(name) ? COPY_NO_ACLS : COPY_NO_XATTRS,
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

/* Like cp -a: users without privileges may have no labels of their own. */
static bool is_others_label(const char *name)
{
	return errno == EPERM && geteuid() && is_label(name);
}

/* Whether errno says that the target cannot hold the attribute. */
static bool is_refused(const char *name)
{
	if (is_label(name) && (errno == EINVAL || errno == EACCES))
		return true; /* by the policy of the target's security module */
	return errno == EOPNOTSUPP || errno == ENOSPC || errno == E2BIG ||
	       errno == ERANGE || errno == EPERM;
}

static int copy_one(struct xattrs *x, const char *name)
{
	ssize_t n = get_value(x, x->from, name, x->value), old;

	if (n < 0)
		return errno == ENODATA ? 0 : -1;
	old = get_value(x, x->to, name, x->old);
	if (old == n && !memcmp(x->old, x->value, (size_t)n))
		return 0;
	if (!set_value(x, name, (size_t)n) || is_others_label(name))
		return 0;
	return is_refused(name) ? note_unsupported(x, name, (size_t)n) : -1;
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
		if (is_kept(x->copy, p) && !is_label(p) &&
		    !is_in(p, x->want, x->nwant) && remove_one(x, p))
			return -1;
	for (const char *p = x->want; p < x->want + x->nwant;
	     p += strlen(p) + 1)
		if (is_kept(x->copy, p) && copy_one(x, p))
			return -1;
	return 0;
}

/* If `to` cannot hold the list, reduces st->st_mode to the rights of the list. */
static int copy_xattrs(struct copy *c, const char *from, const char *to,
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
	x->follows = follows_links(c, st);
	rc = copy_all(x);
	free(x);
	return rc;
}

/* ---- owner, mode and times ---- */

static int change_owner(const struct copy *c, const char *to,
			const struct stat *st, uid_t uid)
{
	return follows_links(c, st) ? pvfs_chown(to, uid, st->st_gid)
				    : pvfs_lchown(to, uid, st->st_gid);
}

/* Like cp -p: a user who may not give a file away keeps it, without the set-id bits. */
static int copy_owner(struct copy *c, const char *path, const char *to,
		      const struct stat *st, const struct stat *now,
		      mode_t *mode)
{
	if (now->st_uid == st->st_uid && now->st_gid == st->st_gid)
		return 0;
	if (!change_owner(c, to, st, st->st_uid))
		return 0;
	if (errno != EPERM && errno != EACCES)
		return -1;
	*mode &= ~(mode_t)(S_ISUID | S_ISGID);
	if (!geteuid())
		copy_note_unsupported(c, COPY_NO_OWNER, path);
	else if (now->st_gid != st->st_gid &&
		 change_owner(c, to, st, (uid_t)-1))
		return errno == EPERM || errno == EACCES ? 0 : -1;
	return 0;
}

/* A change of the owner may have cleared set-id bits. */
static bool mode_is_set(const struct stat *now, mode_t mode)
{
	return S_ISLNK(now->st_mode) || ((now->st_mode & 07777) == mode &&
					 !(mode & (S_ISUID | S_ISGID)));
}

/*
 * Each change waits for the manager's disk, so nothing is set that is right already;
 * for a tree of small files this takes most of the time.  The mode is set after the
 * access control list, so that nobody has rights in between that the source does not
 * give.
 */
int copy_attrs(struct copy *c, const char *from, const char *to,
	       const struct stat *st)
{
	struct timespec times[2] = { st->st_atim, st->st_mtim };
	struct stat want = *st, now;
	bool follows = follows_links(c, st);
	mode_t mode;

	if (!c->opt.preserve)
		return S_ISDIR(st->st_mode)
			       ? pvfs_chmod(to, st->st_mode & 0777 & ~c->umask)
			       : 0;
	if ((follows ? pvfs_stat(to, &now) : pvfs_lstat(to, &now)) ||
	    copy_owner(c, from, to, st, &now, &want.st_mode))
		return -1;
	if ((!S_ISLNK(st->st_mode) || c->opt.xattrs) &&
	    copy_xattrs(c, from, to, &want))
		return -1;
	mode = want.st_mode & 07777;
	if (!mode_is_set(&now, mode) && copy_change_mode(c, to, mode))
		return -1;
	return follows ? pvfs_utimens(to, times) : pvfs_lutimens(to, times);
}
