/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dir.c - directory listings.  The manager is asked for 64 KiB at a time, and the
 * kernel gets as many entries as it has room for.  The kernel's offset is the manager's
 * cookie; both stay valid when the directory changes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "client/fuse/cache/inode_cache.h"
#include "client/fuse/open.h"
#include "client/fuse/ops.h"
#include "client/lib/file/dir.h"
#include "client/lib/names/stat.h"

#define DIRPLUS_MAX 65536u /* the most that the manager sends at a time */

/* The kernel never lists a removed directory, but a process may open it. */
static int open_removed(const struct call *c, const struct target *t,
			struct opening *o)
{
	struct stat st;

	if (!call_is_removed(c, t->handle, &st))
		return -ESTALE;
	o->f = file_new(&c->d->fs, O_RDONLY);
	if (!o->f)
		return -ENOMEM;
	o->f->handle = t->handle;
	file_inherited(o->f);
	return 0;
}

void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct opening o = { .how = { .flags = WIRE_O_DIRECTORY } };
	struct target t;
	struct call c;
	int rc;

	call_begin(&c, req);
	t = call_target(&c, ino);
	rc = open_target(&c, &t, O_RDONLY | O_DIRECTORY, &o);
	if (rc == -ESTALE)
		rc = open_removed(&c, &t, &o);
	if (rc) {
		call_end(&c, rc);
		return;
	}
	if (o.f->s) /* a listing never continues in another file system */
		o.f->fsid = o.f->s->fsid;
	fi->fh = (uint64_t)(uintptr_t)o.f;
	if (fuse_reply_open(req, fi))
		file_put(o.f);
}

/* One reply to the kernel. */
struct dir_reply {
	char *buf;
	size_t len, used;
};

/* Adds an entry to the reply.  Returns false if there is no room. */
static bool put_name(const struct call *c, struct dir_reply *p,
		     const struct dirent *d)
{
	struct stat st = { .st_ino = d->d_ino, .st_mode = DTTOIF(d->d_type) };
	size_t n = fuse_add_direntry(c->req, p->buf + p->used, p->len - p->used,
				     d->d_name, &st, d->d_off);

	if (n > p->len - p->used)
		return false;
	p->used += n;
	return true;
}

/* Makes the entry after off the next one.  f->pos_lock is held. */
static void seek_dir(struct file *f, off_t off)
{
	if (f->pos == (uint64_t)off && off)
		return;
	f->pos = (uint64_t)off;
	dirbuf_reset(f->dirbuf);
}

static int fill_names(const struct call *c, struct file *f, struct dir_reply *p)
{
	struct dirent d;
	int rc;

	while ((rc = dir_look(f, &d)) > 0 && put_name(c, p, &d))
		dir_pass(f);
	return p->used || rc > 0 ? 0 : rc;
}

void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		struct fuse_file_info *fi)
{
	struct file *f = open_file(fi->fh);
	char buf[4096];
	struct dir_reply p = { .buf = buf,
			       .len = size < sizeof(buf) ? size : sizeof(buf) };
	struct call c;
	int rc;

	call_begin(&c, req);
	open_lock_pos(f);
	seek_dir(f, off);
	rc = fill_names(&c, f, &p);
	pthread_mutex_unlock(&f->pos_lock);
	if (rc)
		call_end(&c, rc);
	else
		fuse_reply_buf(req, buf, p.used);
}

/*
 * ---- listings with attributes, used if the kernel may keep names ----
 *
 * The kernel assumes that the attributes are as recent as its request.  So each reply is
 * made from a new answer of the manager; no entries are kept for the next reply.
 */

/* One reply to the kernel, made from what the manager lists after off. */
struct dirplus_reply {
	const struct call *c;
	uint64_t dir; /* handle */
	uint64_t off;
	char *buf;
	size_t len, used;
	uint64_t *listed; /* len bytes; no entry takes more here than in buf */
};

static int fill_entry(const struct dirplus_reply *p, struct session *s,
		      const struct mgr_entry *e, struct fuse_entry_param *out)
{
	struct stat st;
	int rc;

	*out = (struct fuse_entry_param){
		.attr = { .st_ino = e->handle, .st_mode = e->mode & S_IFMT },
	};
	if (!e->known)
		return 0; /* the kernel requests the attributes if it needs them */
	rc = stat_of(s, &e->attr, &st);
	if (rc)
		return rc;
	call_fill_entry(p->c, &e->attr, &st, out);
	out->entry_timeout = call_entry_timeout(p->c, p->dir, e->name, &st);
	inode_cache_record_name(p->c->d->inode_cache,
				inode_cache_name(p->dir, e->name), e->handle);
	return 0;
}

/* 1: it was added; 0: there is no room; -errno. */
static int put_entry(struct dirplus_reply *p, struct session *s,
		     const struct mgr_entry *e)
{
	struct fuse_entry_param entry;
	size_t n, room = p->len - p->used;
	int rc = fill_entry(p, s, e, &entry);

	if (rc)
		return rc;
	n = fuse_add_direntry_plus(p->c->req, p->buf + p->used, room, e->name,
				   &entry, (off_t)e->cookie);
	if (n > room)
		return 0;
	p->used += n;
	return 1;
}

/* Entries with the same cookie stay together, or the next reply would omit some. */
static int put_entries(struct dirplus_reply *p, struct session *s,
		       const struct mgr_listing *l)
{
	uint64_t cookie = p->off;
	struct mgr_entry e;
	size_t whole = 0;
	uint32_t at = 0;
	int rc;

	while ((rc = mgr_next_entry(s, l, p->listed, &at, &e)) > 0) {
		if (e.cookie != cookie)
			whole = p->used;
		cookie = e.cookie;
		rc = put_entry(p, s, &e);
		if (rc < 0)
			return rc;
		if (!rc) {
			p->used = whole;
			return whole ? 0 : -EINVAL;
		}
	}
	return rc;
}

static int do_list_plus(struct session *s, const struct target *t, void *arg)
{
	struct dirplus_reply *p = arg;
	struct mgr_listing l;
	int rc = mgr_readdirplus(s, t->handle, p->off, p->listed,
				 (uint32_t)p->len, &l);

	p->used = 0;
	return rc ? rc : put_entries(p, s, &l);
}

/* For a manager of an earlier version: names without attributes. */
static int put_plain_names(struct dirplus_reply *p, struct file *f)
{
	struct mgr_entry e;
	struct dirent d;
	int rc;

	f->pos = p->off;
	dirbuf_reset(f->dirbuf);
	while ((rc = dir_look(f, &d)) > 0) {
		e = (struct mgr_entry){ .name = d.d_name,
					.handle = d.d_ino,
					.cookie = (uint64_t)d.d_off,
					.mode = DTTOIF(d.d_type) };
		rc = put_entry(p, NULL, &e);
		if (rc <= 0)
			break;
		dir_pass(f);
	}
	return p->used ? 0 : rc;
}

static int list_plus(struct dirplus_reply *p, struct file *f)
{
	int rc = file_run(f, do_list_plus, p);

	if (rc != -ENOSYS)
		return rc;
	open_lock_pos(f);
	rc = put_plain_names(p, f);
	pthread_mutex_unlock(&f->pos_lock);
	return rc;
}

void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	struct file *f = open_file(fi->fh);
	struct dirplus_reply p = { .off = (uint64_t)off,
				   .len = size < DIRPLUS_MAX ? size
							     : DIRPLUS_MAX };
	struct call c;
	int rc = -ENOMEM;

	call_begin(&c, req);
	p.c = &c;
	p.dir = fuse_daemon_swap_ino(c.d, ino);
	p.buf = malloc(p.len);
	p.listed = malloc(p.len);
	if (p.buf && p.listed)
		rc = list_plus(&p, f);
	if (rc == -ESTALE && fs_has_removed(&c.d->fs, f->handle, f->fsid))
		rc = 0; /* a removed directory has no names */
	if (rc)
		call_end(&c, rc);
	else
		fuse_reply_buf(req, p.buf, p.used);
	free(p.listed);
	free(p.buf);
}

/* ---- end ---- */

void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct call c;

	call_begin(&c, req);
	file_put(open_file(fi->fh));
	call_end(&c, 0);
}

/* The manager replies to changes of names once they are on stable storage. */
void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync,
		 struct fuse_file_info *fi)
{
	fuse_reply_err(req, 0);
}
