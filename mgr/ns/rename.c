/* SPDX-License-Identifier: BSD-2-Clause */
/* rename.c - RENAME: within and across directories, onto what exists. */
#include <errno.h>
#include <unistd.h>

#include "mgr/ns/ns_int.h"

#define CLIMB_AGAIN 4u /* times that the budget of a climb is doubled */

struct rename_move {
	struct ns_place src, dst;
	struct inode *to; /* directory of dst; &src.dir if it is the same */
};

/* Only the name of a directory may end with a slash. */
static int check_slashes(const struct rename_move *m, bool exchange_entries)
{
	const struct ns_place *comes = exchange_entries ? &m->dst : &m->src;

	if (m->dst.slash && !inode_is_dir(&comes->ino))
		return -ENOTDIR;
	return m->src.slash && !inode_is_dir(&m->src.ino) ? -ENOTDIR : 0;
}

static int check_names(const struct rename_move *m, uint32_t flags)
{
	bool keep = flags & WIRE_RN_NOREPLACE;
	bool exchange_entries = flags & WIRE_RN_EXCHANGE;

	if (m->src.last != NS_LAST_NAME)
		return -EBUSY;
	if (m->dst.last != NS_LAST_NAME)
		return keep ? -EEXIST : -EBUSY;
	if (!m->src.found)
		return -ENOENT;
	if (keep && m->dst.found)
		return -EEXIST;
	if (exchange_entries && !m->dst.found)
		return -ENOENT;
	return check_slashes(m, exchange_entries);
}

/*
 * The number of directories that a turn may visit on its way to the root.  If directories
 * are moved meanwhile, the walk restarts, and the number doubles, up to a bound.
 */
static unsigned int climb_budget(const struct ns_climb *climb)
{
	unsigned int again = climb->again < CLIMB_AGAIN ? climb->again
							: CLIMB_AGAIN;

	return NS_TURN_STEPS << again;
}

/* The directory to continue from; starts over if directories were moved meanwhile. */
static uint64_t climb_from(const struct ns *ns, struct ns_climb *climb,
			   const struct inode *dir)
{
	if (climb->from == dir->handle && climb->moves == ns->moves)
		return climb->at;
	climb->again += climb->from != 0;
	climb->from = dir->handle;
	climb->moves = ns->moves;
	return dir->handle;
}

/* 1: dir is the directory `handle`, or is below it; 0, -errno, NS_PAUSED. */
static int is_within(struct ns_op *op, unsigned int which,
		     const struct inode *dir, uint64_t handle)
{
	struct ns *ns = op->ns;
	struct ns_climb alone = { 0 },
			*climb = op->pause ? &op->pause->climb[which] : &alone;
	struct inode up = { .parent = climb_from(ns, climb, dir) };
	unsigned int left = climb_budget(climb);
	int rc;

	do {
		climb->at = up.parent;
		if (climb->at == handle)
			return 1;
		if (climb->at == ns->root)
			return 0;
		if (op->pause && !left--)
			return NS_PAUSED;
		rc = inode_get(ns->st, climb->at, &up);
	} while (!rc);
	return rc;
}

/* An entry of a directory is never above that directory. */
static bool is_near(const struct rename_move *m)
{
	return m->src.dir.handle == m->dst.dir.handle;
}

/* A directory must not be moved into itself. */
static int check_loop(struct ns_op *op, const struct rename_move *m)
{
	int rc = 0;

	if (inode_is_dir(&m->src.ino) && !is_near(m))
		rc = is_within(op, 0, &m->dst.dir, m->src.ino.handle);
	return rc == 1 ? -EINVAL : rc;
}

/* The reverse case: the entry at dst is above the source. */
static int check_above(struct ns_op *op, const struct rename_move *m, int error)
{
	int rc = 0;

	if (m->dst.found && inode_is_dir(&m->dst.ino) && !is_near(m))
		rc = is_within(op, 1, &m->src.dir, m->dst.ino.handle);
	return rc == 1 ? error : rc;
}

static int check_types(const struct rename_move *m)
{
	if (!m->dst.found ||
	    inode_is_dir(&m->src.ino) == inode_is_dir(&m->dst.ino))
		return 0;
	return inode_is_dir(&m->src.ino) ? -ENOTDIR : -EISDIR;
}

static int check_empty(struct ns *ns, const struct rename_move *m)
{
	int rc;

	if (!m->dst.found || !inode_is_dir(&m->dst.ino))
		return 0;
	rc = dent_is_empty_dir(ns->st, m->dst.ino.handle);
	return rc < 0 ? rc : rc ? 0 : -ENOTEMPTY;
}

static int check_entries(struct ns_op *op, const struct rename_move *m)
{
	int rc = ns_may_delete(op, &m->src.dir, &m->src.ino);

	if (rc)
		return rc;
	return m->dst.found ? ns_may_delete(op, &m->dst.dir, &m->dst.ino)
			    : ns_may_create(op, &m->dst.dir);
}

/* A directory that moves to another parent changes its "..". */
static int check_inside(const struct ns_op *op, const struct rename_move *m)
{
	if (!inode_is_dir(&m->src.ino) ||
	    m->src.dir.handle == m->dst.dir.handle)
		return 0;
	return ns_may(op, &m->src.ino, W_OK);
}

static int before_replace(struct ns_op *op, struct rename_move *m)
{
	return m->dst.found && !inode_is_dir(&m->dst.ino)
		       ? ns_before_drop_link(op, &m->dst.ino)
		       : 0;
}

static int replace_victim(struct ns_op *op, struct rename_move *m)
{
	if (!m->dst.found)
		return 0;
	if (!inode_is_dir(&m->dst.ino))
		return ns_drop_link(op, &m->dst.ino);
	m->to->nlink--;
	m->dst.ino.nlink = 0;
	return ns_put_or_remove(op, &m->dst.ino);
}

static int move_entry(struct ns_op *op, struct rename_move *m)
{
	struct store *st = op->ns->st;
	struct dent dent = { .handle = m->src.ino.handle,
			     .mode = m->src.ino.mode & S_IFMT };
	int rc;

	rc = dent_del(st, m->src.dir.handle, m->src.name, m->src.len);
	if (!rc)
		rc = dent_put(st, m->to->handle, m->dst.name, m->dst.len,
			      &dent);
	if (!rc && inode_is_dir(&m->src.ino)) {
		m->src.dir.nlink--;
		rc = ns_add_subdir(m->to);
		m->src.ino.parent = m->to->handle;
		op->ns->moves += !is_near(m);
	}
	if (rc)
		return rc;
	m->src.ino.ctime = op->now;
	return inode_put(st, &m->src.ino);
}

static int touch_parents(struct ns_op *op, struct rename_move *m)
{
	struct store *st = op->ns->st;
	int rc;

	ns_touch_dir(op, &m->src.dir);
	rc = inode_put(st, &m->src.dir);
	if (rc || m->to == &m->src.dir)
		return rc;
	ns_touch_dir(op, m->to);
	return inode_put(st, m->to);
}

static int check_move(struct ns_op *op, const struct rename_move *m)
{
	int rc;

	rc = check_loop(op, m);
	if (!rc) /* the victim contains the source, so it is not empty */
		rc = check_above(op, m, -ENOTEMPTY);
	if (!rc)
		rc = check_entries(op, m);
	if (!rc)
		rc = check_types(m);
	if (!rc)
		rc = check_inside(op, m);
	return rc ? rc : check_empty(op->ns, m);
}

/* ---- exchange of two entries ---- */

static int check_exchange(struct ns_op *op, const struct rename_move *m)
{
	const struct rename_move back = { .src = m->dst, .dst = m->src };
	int rc;

	rc = check_loop(op, m);
	if (!rc)
		rc = check_above(op, m, -EINVAL);
	if (!rc)
		rc = check_entries(op, m);
	if (!rc)
		rc = check_inside(op, m);
	return rc ? rc : check_inside(op, &back);
}

/* Puts the object of `from` at the entry `at` in dir.  left: the directory that it leaves. */
static int put_there(struct ns_op *op, struct ns_place *from,
		     const struct ns_place *at, struct inode *dir,
		     struct inode *left)
{
	struct dent dent = { .handle = from->ino.handle,
			     .mode = from->ino.mode & S_IFMT };
	int rc = dent_put(op->ns->st, dir->handle, at->name, at->len, &dent);

	if (!rc && inode_is_dir(&from->ino)) {
		left->nlink--;
		rc = ns_add_subdir(dir);
		from->ino.parent = dir->handle;
		op->ns->moves += dir != left;
	}
	if (rc)
		return rc;
	from->ino.ctime = op->now;
	return inode_put(op->ns->st, &from->ino);
}

static int exchange_entries(struct ns_op *op, struct rename_move *m)
{
	int rc = check_exchange(op, m);

	if (!rc)
		rc = put_there(op, &m->src, &m->dst, m->to, &m->src.dir);
	if (!rc)
		rc = put_there(op, &m->dst, &m->src, &m->src.dir, m->to);
	return rc ? rc : touch_parents(op, m);
}

static int replace_entry(struct ns_op *op, struct rename_move *m)
{
	int rc = check_move(op, m);

	if (!rc)
		rc = before_replace(op, m);
	if (!rc)
		rc = replace_victim(op, m);
	if (!rc)
		rc = move_entry(op, m);
	return rc ? rc : touch_parents(op, m);
}

int ns_rename(struct ns_op *op, const struct ns_path *from,
	      const struct ns_path *to, uint32_t flags)
{
	struct rename_move m;
	int rc;

	rc = ns_resolve(op, from, NS_ENTRY, &m.src);
	if (rc)
		return rc;
	op->which = 1;
	rc = ns_resolve(op, to, NS_ENTRY, &m.dst);
	if (!rc)
		rc = check_names(&m, flags);
	if (rc)
		return rc;
	if (m.dst.found && m.dst.ino.handle == m.src.ino.handle)
		return 0;
	m.to = m.src.dir.handle == m.dst.dir.handle ? &m.src.dir : &m.dst.dir;
	return flags & WIRE_RN_EXCHANGE ? exchange_entries(op, &m)
					: replace_entry(op, &m);
}
