/* SPDX-License-Identifier: BSD-2-Clause */
/* locks.c - advisory locks: POSIX, OFD and flock(2). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "client/fuse/bypass_page.h"
#include "client/fuse/cache/dentry_cache.h"
#include "client/fuse/inval_queue.h"
#include "client/fuse/libfuse_compat.h"
#include "client/fuse/lock_owners.h"
#include "client/fuse/open.h"
#include "client/fuse/ops.h"
#include "client/fuse/waiting_locks.h"
#include "client/lib/file/held.h"

/*
 * In libpvfs, owner 0 stands for the process itself.  The kernel's owners are scrambled
 * addresses, one of which may be 0.
 */
static uint64_t owner_of(const struct fuse_file_info *fi)
{
	return fi->lock_owner ? fi->lock_owner : UINT64_MAX;
}

static uint32_t type_of(int type)
{
	switch (type) {
	case F_RDLCK:
		return WIRE_L_SHARED;
	case F_WRLCK:
		return WIRE_L_EXCLUSIVE;
	}
	return WIRE_L_UNLOCK;
}

/* The kernel has converted the range: it starts from the beginning of the file. */
static struct mgr_lock lock_of(const struct flock *lk,
			       const struct fuse_file_info *fi)
{
	int64_t end = INT64_MAX;

	if (lk->l_len && __builtin_add_overflow(lk->l_start, lk->l_len, &end))
		end = INT64_MAX;
	return (struct mgr_lock){ .owner = owner_of(fi),
				  .start = mgr_lock_start(
					  (uint64_t)lk->l_start),
				  .end = (uint64_t)end,
				  .type = type_of(lk->l_type) };
}

/* Without a pid, because a process of another host may hold the lock. */
static struct flock flock_of(const struct mgr_lock *lock)
{
	struct flock lk = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	if (lock->type == WIRE_L_UNLOCK)
		return lk;
	lk.l_type = lock->type == WIRE_L_SHARED ? F_RDLCK : F_WRLCK;
	lk.l_start = (off_t)lock->start;
	lk.l_len = lock->end == INT64_MAX ? 0
					  : (off_t)(lock->end - lock->start);
	return lk;
}

void op_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
	      struct flock *lk)
{
	struct mgr_lock lock = lock_of(lk, fi);
	struct flock answer;
	struct call c;
	int rc;

	call_begin(&c, req);
	lock.flags = WIRE_L_TEST;
	rc = lock_owners_send_lock(open_file(fi->fh), &lock);
	if (rc) {
		call_end(&c, rc);
		return;
	}
	answer = flock_of(&lock);
	fuse_reply_lock(req, &answer);
}

/* Returns true if the kernel may keep data, attributes or names of the file. */
static bool is_cached(const struct fuse_daemon *d, const struct file *f)
{
	return d->cache == CACHE_OPEN || d->attr_timeout > 0 ||
	       d->entry_timeout > 0 || file_is_paged(f->fs, f->handle);
}

/*
 * Older kernels and older releases of libfuse cannot expire a name, only drop it.  A file that
 * was opened by a dropped name then seems removed.  Dropping a directory would break the
 * working directories and mounts in it, so it is not dropped.
 */
static void expire_name(const struct dentry *is, void *arg)
{
	const struct fuse_daemon *d = arg;
	fuse_ino_t dir = fuse_daemon_swap_ino(d, is->dir);
	size_t len = strlen(is->name);

	if (d->can_expire_names)
		libfuse_compat_expire_entry(d, dir, is->name, len);
	else if (!is->is_dir)
		fuse_lowlevel_notify_inval_entry(d->se, dir, is->name, len);
}

static void end_granted(struct inval *inval)
{
	const struct dentry_file f = { inval->f->handle, inval->f->dir };

	dentry_cache_expire(inval->c.d->dentry_cache, &f,
			    fuse_req_ctx(inval->c.req)->pid, expire_name,
			    inval->c.d);
	call_end(&inval->c, 0);
}

/*
 * Answers c with rc.  rc 0: f has the lock.  Before this answer, the kernel must drop what it
 * caches of the file, because another lock holder may have changed the file.
 */
static void end_lock(const struct call *c, struct file *f, int rc)
{
	const struct inval inval = { .c = *c, .f = f, .done = end_granted };

	if (rc || !is_cached(c->d, f))
		call_end(c, rc);
	else
		inval_queue_add(c->d->inval_queue, &inval);
}

/*
 * Requests the lock.  If it is not free and wait is set, the request waits, but does not
 * occupy a thread.
 */
static void take_lock(const struct call *c, struct file *f,
		      const struct mgr_lock *want, bool wait)
{
	struct mgr_lock lock = *want;
	bool waits;
	int rc;

	bypass_page_forbid(c->d->bypass_page, f->handle);
	dentry_cache_lock_dir(c->d->dentry_cache,
			      &(struct dentry_file){ f->handle, f->dir });
	rc = lock_owners_send_lock(f, &lock);
	waits = rc == -EAGAIN && wait;
	if (waits)
		rc = waiting_locks_add(c, f, want, lock.session, end_lock);
	if (!waits || rc)
		end_lock(c, f, rc);
}

static void end_release(struct inval *inval)
{
	call_end(&inval->c, lock_owners_send_lock(inval->f, &inval->lock));
}

/*
 * Before the unlock, the kernel must write what was changed through mappings of the file,
 * possibly of another descriptor than the lock's.
 */
static void release_lock(const struct call *c, struct file *f,
			 const struct mgr_lock *want)
{
	struct inval inval = {
		.c = *c, .f = f, .done = end_release, .lock = *want
	};

	if (file_is_paged(f->fs, f->handle) &&
	    file_is_written(f->fs, f->handle))
		inval_queue_add(c->d->inval_queue, &inval);
	else
		end_release(&inval);
}

void op_setlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
	      struct flock *lk, int sleep)
{
	struct file *f = open_file(fi->fh);
	struct mgr_lock lock = lock_of(lk, fi);
	struct call c;
	int rc = 0;

	call_begin(&c, req);
	if (lock.type != WIRE_L_UNLOCK)
		rc = lock_owners_add(c.d->lock_owners, f, lock.owner);
	if (rc)
		call_end(&c, rc);
	else if (lock.type == WIRE_L_UNLOCK)
		release_lock(&c, f, &lock);
	else
		take_lock(&c, f, &lock, sleep);
}

void op_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int op)
{
	struct file *f = open_file(fi->fh);
	struct mgr_lock lock = { .owner = file_owner(f),
				 .end = INT64_MAX,
				 .flags = WIRE_L_WHOLE };
	struct call c;

	call_begin(&c, req);
	if (op & LOCK_SH)
		lock.type = WIRE_L_SHARED;
	else if (op & LOCK_EX)
		lock.type = WIRE_L_EXCLUSIVE;
	if (lock.type == WIRE_L_UNLOCK)
		release_lock(&c, f, &lock);
	else
		take_lock(&c, f, &lock, !(op & LOCK_NB));
}
