/* SPDX-License-Identifier: BSD-2-Clause */
/* where.c - following paths across mounts. */
#include "client/lib/process/where.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "client/lib/process/process.h"
#include "client/lib/names/stat.h"
#include "client/lib/session/coroutine.h"

#define HOPS_MAX 40

/* Starts with path as ordinary. */
static void where_from(struct where *w, int at, const char *path)
{
	w->fs = NULL;
	w->base = 0;
	w->fsid = 0;
	w->counted = false;
	w->at = at;
	w->path = path;
}

/* w->buf is an absolute path. */
static void where_absolute(struct where *w)
{
	const char *rest;

	where_from(w, AT_FDCWD, w->buf);
	w->fs = process_find(w->buf, &rest);
	if (w->fs)
		w->path = rest;
}

/* If dir is not a directory, the kernel reports it. */
static void where_below(struct where *w, int dir)
{
	struct file *f = process_file(dir);

	if (f && f->fs && f->type == S_IFDIR) {
		w->fs = f->fs;
		w->base = f->handle;
		w->fsid = f->fsid;
	}
	if (f)
		file_put(f);
}

void where_find(struct where *w, const char *path)
{
	w->hops = 0;
	where_from(w, AT_FDCWD, path);
	if (!path || !process_has_mounts() || path_absolute(path, w->buf))
		return; /* not a path of ours: the kernel reports the error */
	where_absolute(w);
	if (w->fs)
		deadline_begin();
	else
		w->path = path;
}

/*
 * For AT_FDCWD, an absolute path or NULL, as where_find().  Otherwise the path begins at the
 * descriptor dir.  An empty path is left to the kernel, which reports the error.
 */
void where_find_at(struct where *w, int dir, const char *path)
{
	if (dir == AT_FDCWD || !path || *path == '/') {
		where_find(w, path);
		return;
	}
	w->hops = 0;
	where_from(w, dir, path);
	if (*path)
		where_below(w, dir);
}

/* Follows w->redirect.  -ELOOP: too many redirections. */
static int where_redirected(struct where *w)
{
	int rc;

	if (++w->hops > HOPS_MAX)
		return -ELOOP;
	rc = path_redirected(w->fs->mount, w->redirect, w->buf);
	if (!rc)
		where_absolute(w);
	return rc;
}

/*
 * Turns -ESTALE into -ENOENT if the directory in which the path begins was removed.  This is the
 * error of a local disk.
 */
static int where_result(const struct where *w, int rc)
{
	return rc == -ESTALE && w->base &&
			       fs_has_removed(w->fs, w->base, w->fsid)
		       ? -ENOENT
		       : rc;
}

static int on_mount(struct where *w, uint32_t flags, target_op op, void *arg)
{
	struct target t = {
		.handle = w->base,
		.path = w->path,
		.flags = flags,
		.redirect = w->redirect,
	};

	return where_result(w, fs_run(w->fs, &t, op, arg));
}

static int where_follow_uncounted(struct where *w, uint32_t flags, target_op op,
				  void *arg)
{
	int rc;

	while (w->fs) {
		rc = on_mount(w, flags, op, arg);
		if (rc != WIRE_REDIRECT)
			return rc;
		rc = where_redirected(w);
		if (rc)
			return rc;
	}
	return WHERE_ORDINARY;
}

static int where_count(uint64_t begun, enum profile_kind kind, int rc)
{
	if (rc != WHERE_ORDINARY)
		profile_done(kind, PROFILE_NAMES, begun, rc,
			     begun && coroutine_self());
	return rc;
}

int where_follow(struct where *w, uint32_t flags, target_op op, void *arg)
{
	uint64_t begun = w->fs && !w->counted ? profile_start() : 0;

	return where_count(begun, op == stat_get ? PROFILE_STAT : PROFILE_META,
			   where_follow_uncounted(w, flags, op, arg));
}

int where_run_at(struct where *w, int dir, const char *path, uint32_t flags,
		 target_op op, void *arg)
{
	where_find_at(w, dir, path);
	return where_follow(w, flags, op, arg);
}

int where_run(struct where *w, const char *path, uint32_t flags, target_op op,
	      void *arg)
{
	return where_run_at(w, AT_FDCWD, path, flags, op, arg);
}

struct pair_arg {
	struct target b;
	pair_op op;
	unsigned int which;
};

static int run_pair(struct session *s, const struct target *t, void *arg)
{
	struct pair_arg *a = arg;

	return a->op(s, t, &a->b, &a->which);
}

static int path_probe(struct session *s, const struct target *t, void *arg)
{
	struct attr attr;

	return mgr_getattr(s, t, &attr);
}

/*
 * Whether the path of w begins on a mount and leads out of it.  If so, follows it; *rc is the
 * result.
 */
static bool leads_elsewhere(struct where *w, int *rc)
{
	if (!w->fs ||
	    on_mount(w, WIRE_P_NOFOLLOW, path_probe, NULL) != WIRE_REDIRECT)
		return false;
	*rc = where_redirected(w);
	return true;
}

static bool too_long(const char *path)
{
	return path && strlen(path) >= PATH_MAX;
}

/*
 * Whether w is an empty path.  The call then fails with ENOENT, even if its other path is on a
 * mount.
 */
static bool is_empty(const struct where *w)
{
	return !w->fs && w->path && !*w->path;
}

static int follow_pair(struct where *a, struct where *b, pair_op op)
{
	int rc;

	while (a->fs || b->fs) {
		struct pair_arg arg = {
			.b = { .handle = b->base, .path = b->path }, .op = op
		};

		if (a->fs == b->fs) {
			rc = where_result(b, on_mount(a, 0, run_pair, &arg));
			if (rc != WIRE_REDIRECT)
				return rc;
			if (arg.which)
				memcpy(b->redirect, a->redirect,
				       sizeof(b->redirect));
			rc = where_redirected(arg.which ? b : a);
		} else if (is_empty(a) || is_empty(b)) {
			return -ENOENT;
		} else if (!leads_elsewhere(a, &rc) &&
			   !leads_elsewhere(b, &rc)) {
			return too_long(a->path) || too_long(b->path)
				       ? -ENAMETOOLONG
				       : -EXDEV;
		}
		if (rc)
			return rc;
	}
	return WHERE_ORDINARY;
}

int where_follow_pair(struct where *a, struct where *b, pair_op op)
{
	uint64_t begun = a->fs || b->fs ? profile_start() : 0;

	return where_count(begun, PROFILE_META, follow_pair(a, b, op));
}
