/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_meta.c - attributes of a copied file, and messages. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/files/copy/copy.h"

void copy_failed(struct copy *c, const char *path)
{
	atomic_store(&c->error, errno);
	atomic_store(&c->failed, true);
	if (!atomic_load(&c->interrupted))
		patience_fail(&c->patience, c->tool, path);
}

void copy_same(struct copy *c, const char *from, const char *to)
{
	tool_say(c->tool, "%s and %s are the same file", from, to);
	atomic_store(&c->failed, true);
}

void copy_twice(struct copy *c, const char *from, const char *to)
{
	tool_say(c->tool, "will not overwrite just-created %s with %s", to,
		 from);
	atomic_store(&c->failed, true);
}

static const char *const lacks_text[] = {
	[COPY_LACKS_XATTRS] = "an extended attribute is",
	[COPY_LACKS_ACLS] = "the access control list is",
	[COPY_LACKS_OWNER] = "the owner is",
};

void copy_lacks(struct copy *c, unsigned int what, const char *path)
{
	atomic_fetch_or(&c->lacks, what);
	if (!c->opt.strict)
		return;
	tool_say(c->tool, "%s: %s not kept: %s", path, lacks_text[what],
		 strerror(errno));
	atomic_store(&c->failed, true);
}

/*
 * A symbolic link at either end stands for its file, unless the link itself is copied.
 */
bool copy_follows(const struct copy *c, const struct stat *st)
{
	return !c->opt.nofollow && !S_ISLNK(st->st_mode);
}

static int change_owner(const struct copy *c, const char *to,
			const struct stat *st, uid_t uid)
{
	return copy_follows(c, st) ? pvfs_chown(to, uid, st->st_gid)
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
		copy_lacks(c, COPY_LACKS_OWNER, path);
	else if (now->st_gid != st->st_gid &&
		 change_owner(c, to, st, (uid_t)-1))
		return errno == EPERM || errno == EACCES ? 0 : -1;
	return 0;
}

/* A change of the owner may have cleared set-id bits. */
static bool mode_stands(const struct stat *now, mode_t mode)
{
	return S_ISLNK(now->st_mode) || ((now->st_mode & 07777) == mode &&
					 !(mode & (S_ISUID | S_ISGID)));
}

int copy_change_mode(const struct copy *c, const char *to, mode_t mode)
{
	if (c->opt.nofollow && !pvfs_is_pvfs(to))
		return fchmodat(AT_FDCWD, to, mode, AT_SYMLINK_NOFOLLOW);
	return pvfs_chmod(to, mode);
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
	bool follows = copy_follows(c, st);
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
	if (!mode_stands(&now, mode) && copy_change_mode(c, to, mode))
		return -1;
	return follows ? pvfs_utimens(to, times) : pvfs_lutimens(to, times);
}
