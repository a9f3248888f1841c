/* SPDX-License-Identifier: BSD-2-Clause */
/* api_name.c - names: mkdir, rename, links and the like. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api_int.h"

static int do_mkdir(struct session *s, const struct target *t, void *arg)
{
	uint32_t *mode = arg;

	return mgr_mkdir(s, t, *mode);
}

int pvfs_mkdir(const char *path, mode_t mode)
{
	struct where w;
	uint32_t bits;
	int rc;

	where_find(&w, path);
	if (!w.fs)
		return mkdir(path, mode);
	bits = mode_after_umask(mode) & 01777;
	rc = where_follow(&w, 0, do_mkdir, &bits);
	return rc == WHERE_ORDINARY ? mkdir(w.path, mode) : api_int(rc);
}

static int do_rmdir(struct session *s, const struct target *t, void *arg)
{
	return mgr_rmdir(s, t);
}

int pvfs_rmdir(const char *path)
{
	struct where w;
	int rc = where_run(&w, path, 0, do_rmdir, NULL);

	return rc == WHERE_ORDINARY ? rmdir(w.path) : api_int(rc);
}

static int do_unlink(struct session *s, const struct target *t, void *arg)
{
	return mgr_unlink(s, t);
}

int pvfs_unlink(const char *path)
{
	struct where w;
	int rc = where_run(&w, path, 0, do_unlink, NULL);

	return rc == WHERE_ORDINARY ? unlink(w.path) : api_int(rc);
}

int pvfs_rename(const char *from, const char *to)
{
	struct where a, b;
	int rc = where_run_pair(&a, &b, from, to, mgr_rename);

	return rc == WHERE_ORDINARY ? rename(a.path, b.path) : api_int(rc);
}

int pvfs_link(const char *from, const char *to)
{
	struct where a, b;
	int rc = where_run_pair(&a, &b, from, to, mgr_link);

	return rc == WHERE_ORDINARY ? link(a.path, b.path) : api_int(rc);
}

static int do_symlink(struct session *s, const struct target *t, void *arg)
{
	return mgr_symlink(s, arg, t);
}

int pvfs_symlink(const char *target, const char *path)
{
	struct where w;
	int rc;

	where_find(&w, path);
	if (!w.fs)
		return symlink(target, path);
	if (!*target)
		return api_int(-ENOENT);
	if (strlen(target) >= PATH_MAX)
		return api_int(-ENAMETOOLONG);
	rc = where_follow(&w, 0, do_symlink, (void *)(uintptr_t)target);
	return rc == WHERE_ORDINARY ? symlink(target, w.path) : api_int(rc);
}

struct readlink_arg {
	char *buf;
	size_t len, n;
};

static int do_readlink(struct session *s, const struct target *t, void *arg)
{
	struct readlink_arg *a = arg;

	return mgr_readlink(s, t, a->buf, a->len, &a->n);
}

ssize_t pvfs_readlink(const char *path, char *buf, size_t len)
{
	struct readlink_arg a = { buf, len, 0 };
	struct where w;
	int rc;

	if (!len)
		return api_ret(-EINVAL);
	rc = where_run(&w, path, WIRE_P_NOFOLLOW, do_readlink, &a);
	if (rc == WHERE_ORDINARY)
		return readlink(w.path, buf, len);
	return rc ? api_ret(rc) : (ssize_t)a.n;
}
