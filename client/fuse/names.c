/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - looks up, creates, moves and removes names. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "client/fuse/attr_reply.h"
#include "client/fuse/cache/dentry_cache.h"
#include "client/fuse/cache/inode_cache.h"
#include "client/fuse/call.h"
#include "client/fuse/open.h"
#include "client/fuse/ops.h"
#include "client/lib/names/stat.h"

/* The argument of a request for a new name, and the attributes that the manager returns. */
struct make_args {
	const void *what;
	struct attr_reply reply;
};

/* attr_reply_complete() runs apart, so that op is not repeated if an iod does not answer. */
static void make_name(const struct call *c, const struct target *t,
		      target_op op, const void *what)
{
	struct make_args m = { .what = what, .reply = { .c = c } };
	int rc = call_run(c, t, op, &m);

	if (!rc)
		rc = call_run(c, t, attr_reply_complete, &m.reply);
	if (rc)
		call_end(c, call_removed_dir_error(c, t, rc));
	else
		call_end_entry(c, &m.reply.attr, &m.reply.st);
}

/*
 * Replies that the name does not exist.  The kernel may keep this as it keeps names.  If
 * it creates the name itself, it notices immediately.
 */
static void end_absent(const struct call *c)
{
	fuse_reply_entry(c->req, &(struct fuse_entry_param){
					 .entry_timeout = call_entry_timeout(
						 c, c->dir, c->name, NULL) });
}

/*
 * A caller of open_by_handle_at(2), or an NFS client, may have the number of an object that
 * the kernel has forgotten.  The kernel then looks up "." in it, even if the object is not a
 * directory.
 */
static const char *lookup_name(const char *name)
{
	return strcmp(name, ".") ? name : "";
}

void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct target t;
	struct attr_reply now;
	struct call c;
	int rc;

	call_begin(&c, req);
	if (call_repeats_timeout(&c, thread_hints_request(parent, name)))
		return;
	t = call_entry(&c, parent, lookup_name(name));
	now.c = &c;
	rc = call_run(&c, &t, attr_reply_fetch, &now);
	if (!rc)
		call_end_entry(&c, &now.attr, &now.st);
	else if (rc == -ENOENT && c.d->entry_timeout > 0)
		end_absent(&c);
	else
		call_end(&c, call_removed_dir_error(&c, &t, rc));
}

/* When the kernel forgets an inode, the daemon drops its record only if the inode was removed. */
void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n)
{
	const struct fuse_daemon *d = fuse_daemon_of(req);

	inode_cache_forget(d->inode_cache, fuse_daemon_swap_ino(d, ino));
	fuse_reply_none(req);
}

void op_forget_multi(fuse_req_t req, size_t count,
		     struct fuse_forget_data *forgets)
{
	const struct fuse_daemon *d = fuse_daemon_of(req);

	for (size_t i = 0; i < count; i++)
		inode_cache_forget(d->inode_cache,
				   fuse_daemon_swap_ino(d, forgets[i].ino));
	fuse_reply_none(req);
}

static int do_mkdir(struct session *s, const struct target *t, void *arg)
{
	struct make_args *m = arg;
	const uint32_t *mode = m->what;

	return mgr_mkdir(s, t, *mode, &m->reply.attr);
}

void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct target t;
	uint32_t bits;
	struct call c;

	call_begin(&c, req);
	t = call_entry(&c, parent, name);
	bits = call_mode(&c, mode & 01777);
	make_name(&c, &t, do_mkdir, &bits);
}

static int do_symlink(struct session *s, const struct target *t, void *arg)
{
	struct make_args *m = arg;

	return mgr_symlink_attr(s, m->what, t, &m->reply.attr);
}

void op_symlink(fuse_req_t req, const char *text, fuse_ino_t parent,
		const char *name)
{
	struct target t;
	struct call c;

	call_begin(&c, req);
	t = call_entry(&c, parent, name);
	make_name(&c, &t, do_symlink, text);
}

static int do_unlink(struct session *s, const struct target *t, void *arg)
{
	struct attr_reply *dir = arg;

	return mgr_unlink_attr(s, t, &dir->attr);
}

/*
 * To check permissions for the next name in the changed directory, the kernel requests its
 * attributes.  The hint makes that request local: dir->attr came with the manager's answer
 * to the change.
 */
static void set_dir_attr_hint(const struct call *c, struct attr_reply *dir)
{
	struct thread_hints *h = c->d->thread_hints;

	call_record_attr(c, &dir->attr);
	if (!c->d->default_permissions ||
	    fs_run(&c->d->fs, NULL, attr_reply_complete, dir))
		thread_hints_count_change(h);
	else
		thread_hints_set_dir_attr(h, fuse_req_ctx(c->req)->pid,
					  &dir->st, c->changes,
					  c->begun +
						  attr_reply_timeout_ns(c->d));
}

void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct target t;
	struct attr_reply dir;
	struct call c;
	int rc;

	call_begin(&c, req);
	dir.c = &c;
	t = call_entry(&c, parent, name);
	rc = call_run(&c, &t, do_unlink, &dir);
	if (!rc)
		inode_cache_unlink(c.d->inode_cache, c.name_key);
	if (rc || !dir.attr.handle) {
		call_end(&c, call_removed_dir_error(&c, &t, rc));
		return;
	}
	set_dir_attr_hint(&c, &dir);
	fuse_reply_err(req, 0);
}

static int do_rmdir(struct session *s, const struct target *t, void *arg)
{
	return mgr_rmdir(s, t);
}

/*
 * Records which directory the name stands for, because a process may continue to use it
 * after the removal.
 */
static int record_name(const struct call *c, const struct target *t)
{
	struct stat st;
	int rc;

	if (inode_cache_knows(c->d->inode_cache, c->name_key))
		return 0;
	rc = call_run(c, t, stat_get, &st);
	if (rc)
		return rc;
	inode_cache_record(c->d->inode_cache,
			   &(struct inode_reply){ .st = &st,
						  .name = c->name_key });
	return 0;
}

void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct target t;
	struct call c;
	int rc;

	call_begin(&c, req);
	t = call_entry(&c, parent, name);
	rc = record_name(&c, &t);
	if (!rc)
		rc = call_run(&c, &t, do_rmdir, NULL);
	if (!rc)
		inode_cache_unlink(c.d->inode_cache, c.name_key);
	call_end(&c, call_removed_dir_error(&c, &t, rc));
}

static int do_mknod(struct session *s, const struct target *t, void *arg)
{
	struct make_args *m = arg;

	return mgr_mknod(s, t, m->what, &m->reply.attr);
}

static bool is_regular(mode_t mode)
{
	return S_ISREG(mode) || !(mode & S_IFMT);
}

void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
	      dev_t rdev)
{
	struct mgr_mknod what = { .major = major(rdev), .minor = minor(rdev) };
	struct target t;
	struct call c;

	call_begin(&c, req);
	t = call_entry(&c, parent, name);
	what.mode = call_mode(&c, mode);
	if (is_regular(mode))
		open_create_closed(&c, &t, mode);
	else
		make_name(&c, &t, do_mknod, &what);
}

struct rename_args {
	struct target to;
	uint32_t flags;
	unsigned int which;
};

static int do_rename(struct session *s, const struct target *t, void *arg)
{
	struct rename_args *p = arg;

	return p->flags ? mgr_rename2(s, t, &p->to, p->flags, &p->which)
			: mgr_rename(s, t, &p->to, &p->which);
}

/* -EINVAL: another flag, or both. */
static int rename_flags(unsigned int flags, uint32_t *wire)
{
	switch (flags) {
	case 0:
		*wire = 0;
		return 0;
	case RENAME_NOREPLACE:
		*wire = WIRE_RN_NOREPLACE;
		return 0;
	case RENAME_EXCHANGE:
		*wire = WIRE_RN_EXCHANGE;
		return 0;
	}
	return -EINVAL;
}

static void record_rename(const struct call *c, uint64_t from,
			  const struct target *t, const struct rename_args *p)
{
	const struct dentry was = {
		.dir = t->handle,
		.name = t->path,
		.handle = inode_cache_handle(c->d->inode_cache, from)
	};
	const struct dentry is = {
		.dir = p->to.handle,
		.name = p->to.path,
		.handle = inode_cache_handle(c->d->inode_cache, c->name_key)
	};
	bool swaps = p->flags & WIRE_RN_EXCHANGE;

	inode_cache_rename(c->d->inode_cache, from, c->name_key, swaps);
	dentry_cache_rename(c->d->dentry_cache, &was, &is, swaps);
}

void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name,
	       fuse_ino_t newparent, const char *newname, unsigned int flags)
{
	struct target t;
	struct rename_args p;
	struct call c;
	uint64_t from;
	int rc;

	call_begin(&c, req);
	t = call_entry(&c, parent, name);
	from = c.name_key;
	p.to = call_entry(&c, newparent, newname);
	rc = rename_flags(flags, &p.flags);
	if (!rc)
		rc = call_run(&c, &t, do_rename, &p);
	if (!rc)
		record_rename(&c, from, &t, &p);
	call_end(&c, call_removed_dir_error(&c, &t, rc));
}

static int do_link(struct session *s, const struct target *t, void *arg)
{
	struct make_args *m = arg;
	unsigned int which;

	return mgr_link_attr(s, t, m->what, &which, &m->reply.attr);
}

void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t newparent,
	     const char *newname)
{
	struct target t, to;
	struct call c;

	call_begin(&c, req);
	t = call_target(&c, ino);
	to = call_entry(&c, newparent, newname);
	make_name(&c, &t, do_link, &to);
}

struct link_text {
	char buf[PATH_MAX];
	size_t n;
};

static int do_readlink(struct session *s, const struct target *t, void *arg)
{
	struct link_text *text = arg;

	return mgr_readlink(s, t, text->buf, sizeof(text->buf) - 1, &text->n);
}

void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct link_text text;
	struct target t;
	struct call c;
	int rc;

	call_begin(&c, req);
	t = call_target(&c, ino);
	rc = call_run(&c, &t, do_readlink, &text);
	if (rc) {
		call_end(&c, rc);
		return;
	}
	text.buf[text.n] = '\0';
	fuse_reply_readlink(req, text.buf);
}
