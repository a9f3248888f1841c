/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resolve.c - the lookup of a whole path.  The rest of the path is at the end of
 * ns->walk, so that the target of a symlink can be put in front of it.
 *
 * A walk of more than NS_TURN_STEPS components continues in the next turn of the
 * request, from the directory that it has reached.  Changes by others between two turns
 * are changes between two lookups of components, which POSIX permits.  Each path has a
 * budget of its own.  So the second path of a RENAME makes progress although the last
 * steps of the first path are repeated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mgr/ns/ns_int.h"

#define STEP_DONE 100 /* a step has set *pl */

struct path_walk {
	struct ns_op *op;
	unsigned int flags;
	char *rest, *end;
	unsigned int links;
	struct inode cur; /* the directory reached */
	const char *name; /* the current component */
	size_t len;
	bool last, slash;
};

/* Kept between two turns. */
struct ns_walk {
	uint64_t dir; /* the directory reached */
	unsigned int links; /* followed */
	size_t len;
	char rest[]; /* the rest of the path */
};

static int redirect_path(struct path_walk *w, const char *head, size_t len)
{
	struct ns *ns = w->op->ns;
	size_t rest = (size_t)(w->end - w->rest);

	if (len + rest > WIRE_PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(ns->redirect, head, len);
	memcpy(ns->redirect + len, w->rest, rest);
	ns->redirect_len = len + rest;
	return NS_REDIRECT;
}

/* Takes the next component from the rest; false: there is none. */
static bool next_component(struct path_walk *w)
{
	char *p = w->rest;

	while (p < w->end && *p == '/')
		p++;
	w->name = p;
	while (p < w->end && *p != '/')
		p++;
	w->len = (size_t)(p - w->name);
	w->rest = p;
	while (p < w->end && *p == '/')
		p++;
	w->last = p == w->end;
	w->slash = w->last && w->rest < p;
	return w->len > 0;
}

static bool is_followed(const struct path_walk *w)
{
	if (!w->last || w->flags & NS_FOLLOW)
		return true;
	return w->slash && !(w->flags & NS_ENTRY);
}

static int follow_symlink(struct path_walk *w, const struct inode *link)
{
	struct ns *ns = w->op->ns;
	char text[SYMLINK_MAX];
	size_t len;
	int rc;

	if (++w->links > NS_LOOP_MAX)
		return -ELOOP;
	rc = symlink_get(ns->st, link->handle, text, &len);
	if (rc)
		return rc;
	if (text[0] == '/')
		return redirect_path(w, text, len);
	if (len > (size_t)(w->rest - ns->walk))
		return -ENAMETOOLONG;
	w->rest -= len;
	memcpy(w->rest, text, len);
	return 0;
}

static void set_place(const struct path_walk *w, enum ns_last last,
		      struct ns_place *pl)
{
	pl->last = last;
	pl->slash = w->slash;
	pl->found = true;
	pl->ino = w->cur;
}

static int step_dots(struct path_walk *w, struct ns_place *pl)
{
	struct ns *ns = w->op->ns;
	int rc;

	if (w->len == 2) {
		if (w->cur.handle == ns->root)
			return redirect_path(w, "..", 2);
		rc = inode_get(ns->st, w->cur.parent, &w->cur);
		if (rc)
			return rc;
	}
	if (!w->last)
		return 0;
	set_place(w, w->len == 1 ? NS_LAST_DOT : NS_LAST_DOTDOT, pl);
	return STEP_DONE;
}

static int step_missing(struct path_walk *w, struct ns_place *pl)
{
	if (!w->last || !(w->flags & NS_ENTRY))
		return -ENOENT;
	pl->found = false;
	return STEP_DONE;
}

static int step_name(struct path_walk *w, struct ns_place *pl)
{
	struct store *st = w->op->ns->st;
	struct dent dent;
	struct inode ino;
	int rc;

	if (w->len > DENT_NAME_MAX)
		return -ENAMETOOLONG;
	pl->last = NS_LAST_NAME;
	pl->slash = w->slash;
	rc = dent_get(st, w->cur.handle, w->name, w->len, &dent);
	if (!rc)
		rc = inode_get(st, dent.handle, &ino);
	if (rc && rc != -ENOENT)
		return rc;
	if (w->last) {
		pl->dir = w->cur;
		memcpy(pl->name, w->name, w->len);
		pl->len = w->len;
	}
	if (rc)
		return step_missing(w, pl);
	if (S_ISLNK(ino.mode) && is_followed(w))
		return follow_symlink(w, &ino);
	if (!inode_is_dir(&ino) &&
	    (!w->last || (w->slash && !(w->flags & NS_ENTRY))))
		return -ENOTDIR;
	if (!w->last) {
		w->cur = ino;
		return 0;
	}
	pl->found = true;
	pl->ino = ino;
	return STEP_DONE;
}

static bool is_dots(const struct path_walk *w)
{
	return w->name[0] == '.' &&
	       (w->len == 1 || (w->len == 2 && w->name[1] == '.'));
}

/* Saves the state before the current component. */
static int pause_walk(const struct path_walk *w, struct ns_walk **at)
{
	size_t len = (size_t)(w->end - w->name);
	struct ns_walk *kept = realloc(*at, sizeof(*kept) + len);

	if (!kept)
		return -ENOMEM;
	*at = kept;
	kept->dir = w->cur.handle;
	kept->links = w->links;
	kept->len = len;
	memcpy(kept->rest, w->name, len);
	return NS_PAUSED;
}

static void set_rest(struct path_walk *w, const char *rest, size_t len)
{
	struct ns *ns = w->op->ns;

	w->end = ns->walk + sizeof(ns->walk);
	w->rest = w->end - len;
	memcpy(w->rest, rest, len);
}

static int resume_walk(struct path_walk *w, const struct ns_walk *kept)
{
	set_rest(w, kept->rest, kept->len);
	w->links = kept->links;
	return inode_get(w->op->ns->st, kept->dir, &w->cur);
}

static int start_walk(struct path_walk *w, const struct ns_path *path)
{
	struct ns *ns = w->op->ns;
	int rc;

	if (path->len > WIRE_PATH_MAX)
		return -ENAMETOOLONG;
	set_rest(w, path->path, path->len);
	rc = inode_get(ns->st, path->dir ? path->dir : ns->root, &w->cur);
	if (rc == -ENOENT)
		return path->len ? -ENOENT : -ESTALE;
	return rc;
}

int ns_resolve(struct ns_op *op, const struct ns_path *path, unsigned int flags,
	       struct ns_place *place)
{
	struct ns_walk *none = NULL,
		       **kept = op->pause ? &op->pause->walk[op->walks++]
					  : &none;
	struct path_walk w = { .op = op, .flags = flags };
	uint64_t before = op->ns->steps;
	int rc;

	rc = *kept ? resume_walk(&w, *kept) : start_walk(&w, path);
	if (rc)
		return rc;
	if (path->len && !inode_is_dir(&w.cur))
		return -ENOTDIR;
	if (!next_component(&w)) {
		w.slash = path->len > 0;
		set_place(&w, NS_LAST_SELF, place);
		return 0;
	}
	do {
		if (op->pause && op->ns->steps - before >= NS_TURN_STEPS)
			return pause_walk(&w, kept);
		op->ns->steps++;
		rc = ns_may(op, &w.cur, X_OK);
		if (rc)
			return rc;
		rc = is_dots(&w) ? step_dots(&w, place) : step_name(&w, place);
	} while (!rc && next_component(&w));
	return rc == STEP_DONE ? 0 : rc;
}
