/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_meta.c - attributes of a copied file, and messages. */
#include <errno.h>
#include <fcntl.h>

#include "copy.h"

void copy_failed(struct copy *c, const char *path)
{
	atomic_store(&c->error, errno);
	patience_fail(&c->patience, c->tool, path);
	atomic_store(&c->failed, true);
}

void copy_same(struct copy *c, const char *from, const char *to)
{
	tool_say(c->tool, "%s and %s are the same file", from, to);
	atomic_store(&c->failed, true);
}

/* As cp -p: who may not give a file away keeps it, less the set-id bits. */
static int copy_owner(const char *to, const struct stat *st,
		      const struct stat *now, mode_t *mode)
{
	if (now->st_uid == st->st_uid && now->st_gid == st->st_gid)
		return 0;
	if (!pvfs_lchown(to, st->st_uid, st->st_gid))
		return 0;
	*mode &= ~(mode_t)(S_ISUID | S_ISGID);
	return errno == EPERM ? 0 : -1;
}

/* Giving a file away may have cleared its set-id bits. */
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
 * Every change waits for the manager's disk, so that nothing is set which
 * stands already: a tree of small files is mostly this.
 */
int copy_meta(const struct copy *c, const char *to, const struct stat *st)
{
	struct timespec times[2] = { st->st_atim, st->st_mtim };
	mode_t mode = st->st_mode & 07777;
	struct stat now;

	if (!c->opt.preserve)
		return S_ISDIR(st->st_mode)
			       ? pvfs_chmod(to, mode & 0777 & ~c->umask)
			       : 0;
	if (pvfs_lstat(to, &now) || copy_owner(to, st, &now, &mode))
		return -1;
	if (!mode_stands(&now, mode) && copy_change_mode(c, to, mode))
		return -1;
	return pvfs_lutimens(to, times);
}

int copy_attrs(struct copy *c, const char *from, const char *to,
	       const struct stat *st)
{
	struct stat want = *st;

	if (c->opt.xattrs && copy_xattrs(c, from, to, &want))
		return -1;
	return copy_meta(c, to, &want);
}
