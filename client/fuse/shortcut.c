/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shortcut.c - ioctls of programs that bypass the mount for their data, each with a
 * session of its own (client/preload).
 */
#include "client/preload/shortcut.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "common/util/watched_descriptor.h"
#include "client/fuse/marks.h"
#include "client/fuse/open.h"
#include "client/fuse/ops.h"
#include "client/fuse/syncs.h"

_Static_assert(sizeof(((struct shortcut_grant *)0)->token) == WIRE_TOKEN_LEN,
	       "token");

static int where(const struct call *c, fuse_req_t req)
{
	struct shortcut_where out = { 0 };

	strcpy(out.path, marks_path(c->d->marks));
	return fuse_reply_ioctl(req, 0, &out, sizeof(out));
}

/* ---- a token ---- */

struct grant {
	uint32_t flags;
	struct shortcut_grant out;
};

static int do_grant(struct session *s, const struct target *t, void *arg)
{
	struct grant *g = arg;

	if (!t->open)
		return -EOPNOTSUPP;
	return mgr_grant(s, t, g->out.flags, g->out.token);
}

static uint32_t rights(const struct file *f)
{
	switch (atomic_load(&f->flags) & O_ACCMODE) {
	case O_RDONLY:
		return WIRE_O_READ;
	case O_WRONLY:
		return WIRE_O_WRITE;
	}
	return WIRE_O_READ | WIRE_O_WRITE;
}

static int grant(const struct call *c, struct file *f, fuse_req_t req)
{
	struct grant g = { .out.flags = rights(f) };
	int rc;

	/* a write removes the set-id bits, for most writers */
	if (g.out.flags & WIRE_O_WRITE && atomic_load(&f->has_setid))
		marks_set(c->d->marks, f->handle);
	rc = marks_is(c->d->marks, f->handle) ? -EBUSY
					      : file_run(f, do_grant, &g);
	return rc ? rc : fuse_reply_ioctl(req, 0, &g.out, sizeof(g.out));
}

/* ---- outdated pages ---- */

static int wrote(const struct call *c, fuse_ino_t ino, fuse_req_t req,
		 const void *in, size_t len)
{
	struct shortcut_wrote what;
	int rc;

	if (len < sizeof(what))
		return -EINVAL;
	memcpy(&what, in, sizeof(what));
	if (what.off > INT64_MAX || what.len > INT64_MAX)
		return -EINVAL;
	watched_descriptor_hand_over(); /* the kernel may wait for reads of these pages */
	rc = fuse_lowlevel_notify_inval_inode(c->d->se, ino, (off_t)what.off,
					      (off_t)what.len);
	if (rc && rc != -ENOENT)
		return rc;
	return fuse_reply_ioctl(req, 0, NULL, 0);
}

/* ---- lost data ---- */

/*
 * Rejects a program without write access: it could make others believe that stored data
 * is lost.
 */
static int lost(const struct call *c, struct file *f, fuse_req_t req,
		const void *in, size_t len)
{
	struct shortcut_lost what;

	if (len < sizeof(what))
		return -EINVAL;
	memcpy(&what, in, sizeof(what));
	if (!(rights(f) & WIRE_O_WRITE))
		return -EBADF;
	if (what.error > INT_MAX ||
	    !syncs_tell(c->d->syncs, f, -(int)what.error))
		return -EINVAL;
	return fuse_reply_ioctl(req, 0, NULL, 0);
}

void op_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned int cmd, void *arg,
	      struct fuse_file_info *fi, unsigned int flags, const void *in,
	      size_t in_len, size_t out_len)
{
	int rc = -ENOTTY;
	struct call c;

	call_begin(&c, req);
	if (c.d->marks && !(flags & FUSE_IOCTL_DIR)) {
		if (cmd == (unsigned int)SHORTCUT_WHERE)
			rc = where(&c, req);
		else if (cmd == (unsigned int)SHORTCUT_GRANT)
			rc = grant(&c, open_file(fi->fh), req);
		else if (cmd == (unsigned int)SHORTCUT_WROTE)
			rc = wrote(&c, ino, req, in, in_len);
		else if (cmd == (unsigned int)SHORTCUT_LOST)
			rc = lost(&c, open_file(fi->fh), req, in, in_len);
	}
	if (rc)
		call_end(&c, rc);
}
