/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dir.c - directory listings.  The manager is asked for 64 KiB at a time, and the
 * kernel gets as many entries as it has room for.  The kernel's offset is the manager's
 * cookie; both stay valid when the directory changes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "client/lib/file/dir.h"
#include "client/fuse/cache/gone.h"
#include "client/fuse/open.h"
#include "client/fuse/ops.h"
#include "client/lib/names/stat.h"

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
	rc = open_run(&c, &t, O_RDONLY | O_DIRECTORY, &o);
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

/* False: there is no room. */
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
