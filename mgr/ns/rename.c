/* SPDX-License-Identifier: BSD-2-Clause */
/* rename.c - RENAME: within and across directories, onto what exists. */
#include <errno.h>
#include <unistd.h>

#include "ns_int.h"

struct move {
	struct ns_place src, dst;
	struct inode *to; /* dst's directory: src's when it is the same */
};

/* Only a directory's name may end in a slash. */
static int check_slashes(const struct move *m, bool exchange)
{
	const struct ns_place *comes = exchange ? &m->dst : &m->src;

	if (m->dst.slash && !inode_is_dir(&comes->ino))
		return -ENOTDIR;
	return m->src.slash && !inode_is_dir(&m->src.ino) ? -ENOTDIR : 0;
}

static int check_names(const struct move *m, uint32_t flags)
{
	bool keep = flags & WIRE_RN_NOREPLACE;
	bool exchange = flags & WIRE_RN_EXCHANGE;

	if (m->src.last != NS_LAST_NAME)
		return -EBUSY;
	if (m->dst.last != NS_LAST_NAME)
		return keep ? -EEXIST : -EBUSY;
	if (!m->src.found)
		return -ENOENT;
	if (keep && m->dst.found)
		return -EEXIST;
	if (exchange && !m->dst.found)
		return -ENOENT;
	return check_slashes(m, exchange);
}

/* 1: dir is that directory, or lies below it; 0, -errno. */
static int within(const struct ns *ns, const struct inode *dir, uint64_t handle)
{
	struct inode up = *dir;
	int rc = 0;

	while (!rc && up.handle != handle) {
		if (up.handle == ns->root)
			return 0;
		rc = inode_get(ns->st, up.parent, &up);
	}
	return rc ? rc : 1;
}

/* A directory must not come to lie in itself. */
static int check_loop(const struct ns *ns, const struct move *m)
{
	int rc = 0;

	if (inode_is_dir(&m->src.ino))
		rc = within(ns, &m->dst.dir, m->src.ino.handle);
	return rc == 1 ? -EINVAL : rc;
}

/* The other way round: the victim holds the source, so it is not empty. */
static int check_above(const struct ns *ns, const struct move *m)
{
	int rc = 0;

	if (m->dst.found && inode_is_dir(&m->dst.ino))
		rc = within(ns, &m->src.dir, m->dst.ino.handle);
	return rc == 1 ? -ENOTEMPTY : rc;
}

static int check_types(const struct move *m)
{
	if (!m->dst.found ||
	    inode_is_dir(&m->src.ino) == inode_is_dir(&m->dst.ino))
		return 0;
	return inode_is_dir(&m->src.ino) ? -ENOTDIR : -EISDIR;
}

static int check_empty(struct ns *ns, const struct move *m)
{
	int rc;

	if (!m->dst.found || !inode_is_dir(&m->dst.ino))
		return 0;
	rc = dent_none(ns->st, m->dst.ino.handle);
	return rc < 0 ? rc : rc ? 0 : -ENOTEMPTY;
}

static int check_entries(struct ns_op *op, const struct move *m)
{
	int rc = ns_may_delete(op, &m->src.dir, &m->src.ino);

	if (rc)
		return rc;
	return m->dst.found ? ns_may_delete(op, &m->dst.dir, &m->dst.ino)
			    : ns_may_create(op, &m->dst.dir);
}

/* The ".." of a directory that goes elsewhere changes. */
static int check_inside(const struct ns_op *op, const struct move *m)
{
	if (!inode_is_dir(&m->src.ino) ||
	    m->src.dir.handle == m->dst.dir.handle)
		return 0;
	return ns_may(op, &m->src.ino, W_OK);
}

static int replace_victim(struct ns_op *op, struct move *m)
{
	if (!m->dst.found)
		return 0;
	if (!inode_is_dir(&m->dst.ino))
		return ns_drop_link(op, &m->dst.ino);
	m->to->nlink--;
	m->dst.ino.nlink = 0;
	return ns_settle(op, &m->dst.ino);
}

static int move_entry(struct ns_op *op, struct move *m)
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
	}
	if (rc)
		return rc;
	m->src.ino.ctime = op->now;
	return inode_put(st, &m->src.ino);
}

static int touch_parents(struct ns_op *op, struct move *m)
{
	struct store *st = op->ns->st;
	int rc;

	ns_touch(op, &m->src.dir);
	rc = inode_put(st, &m->src.dir);
	if (rc || m->to == &m->src.dir)
		return rc;
	ns_touch(op, m->to);
	return inode_put(st, m->to);
}

static int check_move(struct ns_op *op, const struct move *m)
{
	int rc;

	rc = check_loop(op->ns, m);
	if (!rc)
		rc = check_above(op->ns, m);
	if (!rc)
		rc = check_entries(op, m);
	if (!rc)
		rc = check_types(m);
	if (!rc)
		rc = check_inside(op, m);
	return rc ? rc : check_empty(op->ns, m);
}

/* ---- two entries take each other's place ---- */

static int check_exchange(struct ns_op *op, const struct move *m)
{
	const struct move back = { .src = m->dst, .dst = m->src };
	int rc;

	rc = check_loop(op->ns, m);
	if (!rc)
		rc = check_loop(op->ns, &back);
	if (!rc)
		rc = check_entries(op, m);
	if (!rc)
		rc = check_inside(op, m);
	return rc ? rc : check_inside(op, &back);
}

/* The object of from comes to stand where at is, in the directory dir. */
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
	}
	if (rc)
		return rc;
	from->ino.ctime = op->now;
	return inode_put(op->ns->st, &from->ino);
}

static int exchange(struct ns_op *op, struct move *m)
{
	int rc = check_exchange(op, m);

	if (!rc)
		rc = put_there(op, &m->src, &m->dst, m->to, &m->src.dir);
	if (!rc)
		rc = put_there(op, &m->dst, &m->src, &m->src.dir, m->to);
	return rc ? rc : touch_parents(op, m);
}

static int replace(struct ns_op *op, struct move *m)
{
	int rc = check_move(op, m);

	if (!rc)
		rc = replace_victim(op, m);
	if (!rc)
		rc = move_entry(op, m);
	return rc ? rc : touch_parents(op, m);
}

int ns_rename(struct ns_op *op, const struct ns_path *from,
	      const struct ns_path *to, uint32_t flags)
{
	struct move m;
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
	return flags & WIRE_RN_EXCHANGE ? exchange(op, &m) : replace(op, &m);
}
