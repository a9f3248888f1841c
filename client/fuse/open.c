/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open.c - opening and releasing files.  An open takes these steps:
 *
 *   op_open(), op_create()  the kernel's request
 *   open_target()           makes the struct file
 *   call_run()              call.c: runs do_open() in a session, again in the next one if it ends
 *   do_open()               mgr_open() sends OPEN to the manager; file_opened() stores the reply
 *   fill_info()             how the kernel caches the file
 */
#include "client/fuse/open.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "client/fuse/attr_reply.h"
#include "client/fuse/bypass_page.h"
#include "client/fuse/cache/dentry_cache.h"
#include "client/fuse/cache/inode_cache.h"
#include "client/fuse/daemon/mount_point.h"
#include "client/fuse/libfuse_compat.h"
#include "client/fuse/lock_owners.h"
#include "client/fuse/ops.h"
#include "client/lib/names/stat.h"
#include "common/util/watched_descriptor.h"

#define FILE_FLAGS (O_ACCMODE | O_APPEND | O_SYNC | O_DSYNC)
#define FMODE_EXEC_BIT                                                         \
	0x20 /* set only by execve(): open(2) does not pass it on */

/* Converts flags of open(2).  The kernel follows links and resolves names itself. */
static uint32_t wire_flags(int flags)
{
	uint32_t wire = WIRE_O_NOFOLLOW;

	if ((flags & O_ACCMODE) != O_WRONLY)
		wire |= WIRE_O_READ;
	if ((flags & O_ACCMODE) != O_RDONLY)
		wire |= WIRE_O_WRITE;
	else if (!(flags & O_DIRECTORY))
		wire |= WIRE_O_HOLD;
	if (flags & O_TRUNC)
		wire |= WIRE_O_TRUNC;
	if (flags & O_APPEND)
		wire |= WIRE_O_APPEND;
	return wire;
}

void open_lock_pos(struct file *f)
{
	if (!pthread_mutex_trylock(&f->pos_lock))
		return;
	watched_descriptor_hand_over();
	pthread_mutex_lock(&f->pos_lock);
}

/*
 * A user may have the right to execute a program but not to read it.  The kernel then reads
 * it as root.  If the kernel checks permissions, no user can read it from the memory of the
 * process.
 */
static int open_to_run(struct session *s, const struct target *t,
		       struct opening *o, uint64_t *open)
{
	const struct cred root = { 0 };
	struct target kernel = *t;
	int rc = mgr_access(s, t, X_OK);

	kernel.as = &root;
	return rc ? rc : mgr_open(s, &kernel, &o->how, &o->attr, open);
}

static int do_open(struct session *s, const struct target *t, void *arg)
{
	struct opening *o = arg;
	uint64_t open;
	int rc = mgr_open(s, t, &o->how, &o->attr, &open);

	if (rc == -EACCES && o->to_run && t->as)
		rc = open_to_run(s, t, o, &open);
	if (rc)
		return rc;
	/* if this open is the only one, nobody has written since */
	if (o->attr.flags & WIRE_A_SOLE)
		o->attr.flags |= WIRE_A_SIZE;
	file_opened(o->f, s, &o->attr, open);
	atomic_store(&o->f->has_setid, attr_has_setid(&o->attr));
	return 0;
}

static int do_kill_setid(struct session *s, const struct target *t, void *arg)
{
	const struct setattr set = { .valid = WIRE_S_KILL };
	const struct target *as = arg;
	struct target who = *t;
	struct attr attr;

	who.as = as->as;
	return mgr_setattr(s, &who, &set, &attr);
}

int open_kill_setid(struct call *c, struct file *f)
{
	struct target as;
	int rc;

	if (!atomic_exchange(&f->has_setid, false))
		return 0;
	as = call_target(c, 0);
	rc = file_run(f, do_kill_setid, &as);
	/*
	 * A manager of an earlier version checks the mode here, although the file is already open
	 * for writing: repeat the request without a user.
	 */
	if (rc == -EACCES) {
		as.as = NULL;
		rc = file_run(f, do_kill_setid, &as);
	}
	if (rc)
		atomic_store(&f->has_setid, true);
	return rc;
}

static int complete_stat(struct session *s, const struct target *t, void *arg)
{
	struct opening *o = arg;

	return stat_of(s, &o->attr, &o->st);
}

/* The kernel sends the daemon no request for a remount, so opens look for one. */
static void notice_remount(struct fuse_daemon *d)
{
	pthread_mutex_lock(&d->mounts_lock); /* so that the last change wins */
	if (mount_point_has_changed(d->mounts_watch))
		atomic_store(&d->atime,
			     mount_point_updates_atime(d->minor, d->atime));
	pthread_mutex_unlock(&d->mounts_lock);
}

int open_target(const struct call *c, const struct target *t, int flags,
		struct opening *o)
{
	int rc;

	notice_remount(c->d);
	o->how.flags |= wire_flags(flags);
	o->to_run = flags & FMODE_EXEC_BIT && c->d->default_permissions;
	o->how.dist = (struct dist){ .base = UINT32_MAX,
				     .pcount = UINT32_MAX,
				     .ssize = UINT32_MAX };
	o->f = file_new(&c->d->fs, flags & FILE_FLAGS);
	if (!o->f)
		return -ENOMEM;
	rc = call_run(c, t, do_open, o);
	if (!rc && o->want_stat)
		rc = file_run(o->f, complete_stat, o);
	if (rc)
		file_put(o->f);
	return rc;
}

/*
 * Whether appends bypass the kernel's page cache.  With the cache, the kernel sends an append
 * page by page, and others may append in between.  But on older kernels, local readers would
 * see old pages after such a bypass, so appends there use the cache.
 */
static bool append_bypasses_pages(const struct fuse_daemon *d, int flags)
{
	return flags & O_APPEND && d->kernel.direct_mmap;
}

static void fill_info(const struct call *c, const struct opening *o,
		      struct fuse_file_info *fi)
{
	o->f->dir = dentry_cache_dir_of(c->d->dentry_cache, o->f->handle);
	fi->fh = (uint64_t)(uintptr_t)o->f;
	fi->direct_io = c->d->cache == CACHE_NONE ||
			append_bypasses_pages(c->d, fi->flags);
	fi->keep_cache = c->d->cache == CACHE_OPEN &&
			 inode_cache_same_version(c->d->inode_cache, &o->st);
}

/*
 * Whether to answer ESTALE.  The file has no name, but the kernel may have found it by a name
 * that it cached.  After ESTALE the kernel looks the name up again, and opens the file that
 * has the name now.  If it found the file in another way (/proc/PID/fd), it repeats the open.
 */
static bool is_stale_name(const struct call *c, fuse_ino_t ino,
			  const struct attr *attr)
{
	return !attr->nlink &&
	       dentry_cache_may_hold(c->d->dentry_cache, attr->handle) &&
	       call_retry_stale(c, ino);
}

static int do_getattr(struct session *s, const struct target *t, void *arg)
{
	return mgr_getattr(s, t, arg);
}

int open_check_truncate(const struct call *c, const struct target *t,
			fuse_ino_t ino)
{
	struct attr attr;
	int rc;

	if (c->d->entry_timeout <= 0)
		return 0;
	rc = call_run(c, t, do_getattr, &attr);
	return !rc && is_stale_name(c, ino, &attr) ? -ESTALE : rc;
}

void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	const bool truncates = fi->flags & O_TRUNC;
	struct opening o = { 0 };
	struct target t;
	struct call c;
	int rc;

	call_begin(&c, req);
	o.want_stat = c.d->cache == CACHE_OPEN;
	t = call_target(&c, ino);
	rc = truncates ? open_check_truncate(&c, &t, ino) : 0;
	if (!rc)
		rc = open_target(&c, &t, fi->flags, &o);
	if (!rc && !truncates && is_stale_name(&c, ino, &o.attr)) {
		file_put(o.f);
		rc = -ESTALE;
	}
	if (rc) {
		call_end(&c, rc);
		return;
	}
	fill_info(&c, &o, fi);
	attr_reply_invalidate_opened(c.d, ino, fi->keep_cache ? NULL : &o.st);
	if (libfuse_compat_reply_open(&c, fi))
		file_put(o.f); /* the requester is gone */
}

/* A new file is empty, so no iod is asked. */
static int create_new(const struct call *c, const struct target *t, mode_t mode,
		      int flags, struct opening *o)
{
	int rc;

	*o = (struct opening){ .how = { .flags = WIRE_O_CREAT | WIRE_O_EXCL,
					.mode = call_mode(c, mode & 07777) } };
	rc = open_target(c, t, flags, o);
	if (rc)
		return rc;
	o->attr.flags |= WIRE_A_SIZE;
	rc = file_run(o->f, complete_stat, o);
	if (rc)
		file_put(o->f);
	return rc;
}

/* The kernel found no such file, but another client may have created it since. */
static int create_or_open(const struct call *c, const struct target *t,
			  mode_t mode, int flags, struct opening *o)
{
	int rc = create_new(c, t, mode, flags, o);

	if (rc != -EEXIST || flags & O_EXCL)
		return rc;
	*o = (struct opening){ .how = { .flags = WIRE_O_CREAT,
					.mode = call_mode(c, mode & 07777) },
			       .want_stat = true };
	return open_target(c, t, flags, o);
}

void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
	       struct fuse_file_info *fi)
{
	struct opening o;
	struct fuse_entry_param e;
	struct target t;
	struct call c;
	int rc;

	call_begin(&c, req);
	t = call_entry(&c, parent, name);
	rc = create_or_open(&c, &t, mode, fi->flags, &o);
	if (rc) {
		call_end(&c, call_removed_dir_error(&c, &t, rc));
		return;
	}
	call_fill_entry(&c, &o.attr, &o.st, &e);
	fill_info(&c, &o, fi);
	/* the kernel requests the attributes next: it may not keep those of an open file */
	if (attr_reply_by_ticks(c.d))
		thread_hints_set_attr(c.d->thread_hints, fuse_req_ctx(req)->pid,
				      &o.st);
	if (libfuse_compat_reply_create(&c, &e, fi))
		file_put(o.f);
}

void open_create_closed(const struct call *c, const struct target *t,
			mode_t mode)
{
	struct opening o;
	int rc = create_new(c, t, mode, O_RDONLY, &o);

	if (rc) {
		call_end(c, call_removed_dir_error(c, t, rc));
		return;
	}
	file_put(o.f);
	call_end_entry(c, &o.attr, &o.st);
}

void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct call c;

	call_begin(&c, req);
	lock_owners_drop(c.d->lock_owners, open_file(fi->fh), fi->lock_owner);
	call_end(&c, 0);
}

void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct file *f = open_file(fi->fh);
	uint64_t handle = f->handle;
	struct call c;

	call_begin(&c, req);
	lock_owners_release(c.d->lock_owners, f);
	if (fi->flock_release)
		lock_owners_release_flock(f);
	file_put(f);
	bypass_page_release(c.d->bypass_page, &c.d->fs, handle);
	call_end(&c, 0);
}
