/* SPDX-License-Identifier: BSD-2-Clause */
/* attr.c - attributes of objects, and of the file system. */
#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>

#include "client/fuse/attr_reply.h"
#include "client/fuse/bypass_page.h"
#include "client/fuse/cache/inode_cache.h"
#include "client/fuse/call.h"
#include "client/fuse/open.h"
#include "client/fuse/ops.h"
#include "client/lib/file/held.h"
#include "client/lib/names/server_query.h"
#include "client/lib/names/stat.h"

static void end_stat(struct call *c, const struct target *t)
{
	struct attr_reply now = { .c = c };
	int rc = call_run(c, t, attr_reply_fetch, &now);

	if (!rc)
		call_end_attr(c, &now.attr, &now.st);
	else if (rc == -ESTALE && call_is_removed(c, t->handle, &now.st))
		call_end_attr(c, NULL, &now.st);
	else
		call_end(c, rc);
}

void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct target t;
	struct call c;

	call_begin(&c, req);
	if (c.hint.has_attr &&
	    c.hint.attr.st_ino == fuse_daemon_swap_ino(c.d, ino)) {
		call_end_attr(&c, NULL, &c.hint.attr);
		return;
	}
	t = call_target(&c, ino);
	end_stat(&c, &t);
}

struct truncate_args {
	const struct cred *as;
	off_t size;
};

static int do_truncate(struct session *s, const struct target *t, void *arg)
{
	const struct truncate_args *args = arg;
	struct target who = *t;

	who.as = args->as;
	return mgr_truncate(s, &who, (uint64_t)args->size);
}

/* A file that is open for writing can be truncated, whatever its mode is now. */
static int truncate_open_file(const struct call *c, struct file *f,
			      struct truncate_args *args)
{
	int rc = kernel_truncate_check(&c->hint.truncate, f->handle,
				       (uint64_t)args->size);

	if (rc)
		return rc < 0 ? rc : 0;
	rc = file_run(f, do_truncate, args);
	if (!rc)
		file_record_truncate(f, (uint64_t)args->size);
	return rc;
}

static int truncate_target(const struct call *c, const struct target *t,
			   off_t size, struct fuse_file_info *fi)
{
	struct file *f = fi ? open_file(fi->fh) : NULL;
	struct truncate_args args = { t->as, size };

	if (!f || (atomic_load(&f->flags) & O_ACCMODE) == O_RDONLY)
		return call_run(c, t, do_truncate, &args);
	return truncate_open_file(c, f, &args);
}

/* valid 0: chown(-1, -1) */
static struct setattr wire_setattr(const struct stat *st, int valid)
{
	static const struct {
		int fuse;
		uint32_t wire;
	} map[] = {
		{ FUSE_SET_ATTR_MODE, WIRE_S_MODE },
		{ FUSE_SET_ATTR_UID, WIRE_S_UID },
		{ FUSE_SET_ATTR_GID, WIRE_S_GID },
		{ FUSE_SET_ATTR_ATIME, WIRE_S_ATIME },
		{ FUSE_SET_ATTR_MTIME, WIRE_S_MTIME },
		{ FUSE_SET_ATTR_ATIME_NOW, WIRE_S_ATIME_NOW },
		{ FUSE_SET_ATTR_MTIME_NOW, WIRE_S_MTIME_NOW },
	};
	struct setattr set = { .mode = st->st_mode & 07777,
			       .uid = st->st_uid,
			       .gid = st->st_gid,
			       .atime = stat_ns(&st->st_atim),
			       .mtime = stat_ns(&st->st_mtim) };

	if (!valid)
		return (struct setattr){ .valid = WIRE_S_UID | WIRE_S_GID,
					 .uid = UINT32_MAX,
					 .gid = UINT32_MAX };
	if (valid & FUSE_SET_ATTR_ATIME_NOW)
		valid &= ~FUSE_SET_ATTR_ATIME;
	if (valid & FUSE_SET_ATTR_MTIME_NOW)
		valid &= ~FUSE_SET_ATTR_MTIME;
	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (valid & map[i].fuse)
			set.valid |= map[i].wire;
	return set;
}

struct setattr_args {
	const struct setattr *how;
	struct attr *attr;
};

static int do_setattr(struct session *s, const struct target *t, void *arg)
{
	const struct setattr_args *a = arg;

	return mgr_setattr(s, t, a->how, a->attr);
}

/*
 * Records that the file now has set-id bits.  If it is open for writing, programs must write
 * through the mount: only the kernel knows whether a write removes the bits.
 */
static void note_setid(const struct call *c, uint64_t handle)
{
	file_note_setid(&c->d->fs, handle);
	if (file_is_written(&c->d->fs, handle))
		bypass_page_forbid(c->d->bypass_page, handle);
}

/* *attr: the attributes after the change. */
static int set_attr(const struct call *c, const struct target *t,
		    const struct setattr *how, struct attr *attr)
{
	struct setattr_args a = { how, attr };
	int rc = call_run(c, t, do_setattr, &a);

	if (!rc && how->valid & (WIRE_S_MTIME | WIRE_S_MTIME_NOW))
		file_forget_write_time(&c->d->fs, attr->handle);
	if (!rc && how->valid & (WIRE_S_ATIME | WIRE_S_ATIME_NOW))
		file_forget_read_time(&c->d->fs, attr->handle);
	if (!rc && how->valid & WIRE_S_MODE && attr_has_setid(attr))
		note_setid(c, attr->handle);
	return rc;
}

static void end_set_removed(struct call *c, const struct target *t,
			    const struct setattr *how)
{
	uid_t who = c->d->per_user ? fuse_req_ctx(c->req)->uid : 0;
	struct stat st;
	int rc = -ESTALE;

	if (call_is_removed(c, t->handle, &st))
		rc = inode_cache_set_removed(c->d->inode_cache, t->handle, who,
					     how, &st);
	if (rc)
		call_end(c, rc);
	else
		call_end_attr(c, NULL, &st);
}

/*
 * The change is a call_run() separate from that of attr_reply_complete(), so that it is not
 * repeated if an iod does not answer.
 *
 * nothing: the change is empty.  The kernel sends such a change for chown(-1, -1), and to
 * remove set-id bits before a write or fallocate.  A process that has the file open for
 * writing may write even if it may not change the mode (EPERM); then the write itself removes
 * the bits.
 */
static void end_set(struct call *c, const struct target *t,
		    const struct setattr *how, bool nothing)
{
	struct attr_reply now = { .c = c };
	int rc = set_attr(c, t, how, &now.attr);

	if (rc == -ESTALE) {
		end_set_removed(c, t, how);
		return;
	}
	if (rc == -EPERM && nothing && file_is_written(&c->d->fs, t->handle)) {
		end_stat(c, t);
		return;
	}
	if (!rc)
		rc = call_run(c, t, attr_reply_complete, &now);
	if (rc)
		call_end(c, rc);
	else
		call_end_attr(c, &now.attr, &now.st);
}

void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int valid,
		struct fuse_file_info *fi)
{
	struct setattr how = wire_setattr(st, valid);
	struct target t;
	struct call c;
	int rc = 0;

	call_begin(&c, req);
	t = call_target(&c, ino);
	if (valid & FUSE_SET_ATTR_SIZE && !fi)
		rc = open_check_truncate(&c, &t, ino);
	if (!rc && valid & FUSE_SET_ATTR_SIZE)
		rc = truncate_target(&c, &t, st->st_size, fi);
	if (rc)
		call_end(&c, rc);
	else if (how.valid)
		end_set(&c, &t, &how, !valid);
	else
		end_stat(&c, &t);
}

static int do_access(struct session *s, const struct target *t, void *arg)
{
	const uint32_t *mask = arg;

	return mgr_access(s, t, *mask);
}

void op_access(fuse_req_t req, fuse_ino_t ino, int mask)
{
	uint32_t bits = (uint32_t)mask & (R_OK | W_OK | X_OK);
	struct target t;
	struct stat st;
	struct call c;
	int rc;

	call_begin(&c, req);
	t = call_target(&c, ino);
	rc = call_run(&c, &t, do_access, &bits);
	call_end(&c,
		 rc == -ESTALE && call_is_removed(&c, t.handle, &st) ? 0 : rc);
}

void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statfs now;
	struct target t;
	struct call c;
	int rc;

	call_begin(&c, req);
	t = call_target(&c, FUSE_ROOT_ID);
	t.as = NULL;
	rc = call_run(&c, &t, server_statfs, &now);
	if (rc) {
		call_end(&c, rc);
		return;
	}
	fuse_reply_statfs(req,
			  &(struct statvfs){
				  .f_bsize = (unsigned long)now.f_bsize,
				  .f_frsize = (unsigned long)now.f_frsize,
				  .f_blocks = now.f_blocks,
				  .f_bfree = now.f_bfree,
				  .f_bavail = now.f_bavail,
				  .f_files = now.f_files,
				  .f_ffree = now.f_ffree,
				  .f_favail = now.f_ffree,
				  .f_namemax = (unsigned long)now.f_namelen,
			  });
}
