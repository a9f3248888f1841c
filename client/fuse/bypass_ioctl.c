/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bypass_ioctl.c - ioctls of programs that bypass the mount for their data, each with a
 * session of its own (client/preload).
 */
#include "client/preload/shortcut.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "client/fuse/bypass_page.h"
#include "client/fuse/fsync_errors.h"
#include "client/fuse/open.h"
#include "client/fuse/ops.h"
#include "common/util/watched_descriptor.h"

_Static_assert(sizeof(((struct shortcut_grant *)0)->token) == WIRE_TOKEN_LEN,
	       "token");

static int ioctl_where(const struct call *c, fuse_req_t req)
{
	struct shortcut_where out = { 0 };

	strcpy(out.path, bypass_page_path(c->d->bypass_page));
	return fuse_reply_ioctl(req, 0, &out, sizeof(out));
}

/* ---- a token ---- */

struct grant_args {
	uint32_t flags;
	struct shortcut_grant out;
};

static int do_grant(struct session *s, const struct target *t, void *arg)
{
	struct grant_args *g = arg;

	if (!t->open)
		return -EOPNOTSUPP;
	return mgr_grant(s, t, g->out.flags, g->out.token);
}

static uint32_t access_rights(const struct file *f)
{
	switch (atomic_load(&f->flags) & O_ACCMODE) {
	case O_RDONLY:
		return WIRE_O_READ;
	case O_WRONLY:
		return WIRE_O_WRITE;
	}
	return WIRE_O_READ | WIRE_O_WRITE;
}

static int ioctl_grant(const struct call *c, struct file *f, fuse_req_t req)
{
	struct grant_args g = { .out.flags = access_rights(f) };
	int rc;

	/* a write removes the set-id bits, for most writers */
	if (g.out.flags & WIRE_O_WRITE && atomic_load(&f->has_setid))
		bypass_page_forbid(c->d->bypass_page, f->handle);
	rc = bypass_page_is_forbidden(c->d->bypass_page, f->handle)
		     ? -EBUSY
		     : file_run(f, do_grant, &g);
	return rc ? rc : fuse_reply_ioctl(req, 0, &g.out, sizeof(g.out));
}

/* ---- outdated pages ---- */

static int ioctl_wrote(const struct call *c, fuse_ino_t ino, fuse_req_t req,
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
 * Reports that a program's data was lost.  Rejects a program without write access: it could
 * make others believe that stored data is lost.
 */
static int ioctl_lost(const struct call *c, struct file *f, fuse_req_t req,
		      const void *in, size_t len)
{
	struct shortcut_lost what;

	if (len < sizeof(what))
		return -EINVAL;
	memcpy(&what, in, sizeof(what));
	if (!(access_rights(f) & WIRE_O_WRITE))
		return -EBADF;
	if (what.error > INT_MAX ||
	    !fsync_errors_report(c->d->fsync_errors, f, -(int)what.error))
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
	if (c.d->bypass_page && !(flags & FUSE_IOCTL_DIR)) {
		if (cmd == (unsigned int)SHORTCUT_WHERE)
			rc = ioctl_where(&c, req);
		else if (cmd == (unsigned int)SHORTCUT_GRANT)
			rc = ioctl_grant(&c, open_file(fi->fh), req);
		else if (cmd == (unsigned int)SHORTCUT_WROTE)
			rc = ioctl_wrote(&c, ino, req, in, in_len);
		else if (cmd == (unsigned int)SHORTCUT_LOST)
			rc = ioctl_lost(&c, open_file(fi->fh), req, in, in_len);
	}
	if (rc)
		call_end(&c, rc);
}
