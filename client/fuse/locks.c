/* SPDX-License-Identifier: BSD-2-Clause */
/* locks.c - advisory locks: POSIX, OFD and flock(2). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "client/fuse/drops.h"
#include "client/fuse/expiry.h"
#include "client/fuse/kept/entries.h"
#include "client/lib/file/held.h"
#include "client/fuse/locks.h"
#include "client/fuse/marks.h"
#include "client/fuse/open.h"
#include "client/fuse/ops.h"
#include "client/fuse/owners.h"
#include "client/fuse/waits.h"

/*
 * In libpvfs, owner 0 is the process itself.  The kernel's owners are scrambled
 * addresses, so 0 may occur.
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
static struct flock told(const struct mgr_lock *lock)
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
	rc = owners_lock(open_file(fi->fh), &lock);
	if (rc) {
		call_end(&c, rc);
		return;
	}
	answer = told(&lock);
	fuse_reply_lock(req, &answer);
}

/* True: the kernel may keep data, attributes or names of the file. */
static bool is_kept(const struct fsd *d, const struct file *f)
{
	return d->cache == CACHE_OPEN || d->attr_timeout > 0 ||
	       d->entry_timeout > 0 || file_is_paged(f->fs, f->handle);
}

/*
 * Older kernels, and older releases of libfuse, can only drop a name.  A file that is open by it then seems removed.  A
 * directory would lose its working directories and mounts, so it is not dropped.
 */
static void name_expire(const struct entry_name *is, void *arg)
{
	const struct fsd *d = arg;
	fuse_ino_t dir = fsd_swap(d, is->dir);
	size_t len = strlen(is->name);

	if (d->expires)
		expiry_notify(d, dir, is->name, len);
	else if (!is->is_dir)
		fuse_lowlevel_notify_inval_entry(d->se, dir, is->name, len);
}

static void granted(struct drop *drop)
{
	const struct entries_file f = { drop->f->handle, drop->f->dir };

	entries_expire(drop->c.d->entries, &f, fuse_req_ctx(drop->c.req)->pid,
		       name_expire, drop->c.d);
	call_end(&drop->c, 0);
}

void locks_end(const struct call *c, struct file *f, int rc)
{
	const struct drop drop = { .c = *c, .f = f, .dropped = granted };

	if (rc || !is_kept(c->d, f))
		call_end(c, rc);
	else
		drops_begin(c->d->drops, &drop);
}

/*
 * Requests the lock.  If it is not free, and wait is set, the request waits without a
 * thread.
 */
static void take(const struct call *c, struct file *f,
		 const struct mgr_lock *want, bool wait)
{
	struct mgr_lock lock = *want;
	bool waits;
	int rc;

	marks_set(c->d->marks, f->handle);
	entries_lock(c->d->entries,
		     &(struct entries_file){ f->handle, f->dir });
	rc = owners_lock(f, &lock);
	waits = rc == -EAGAIN && wait;
	if (waits)
		rc = waits_begin(c, f, want, lock.session);
	if (!waits || rc)
		locks_end(c, f, rc);
}

static void written(struct drop *drop)
{
	call_end(&drop->c, owners_lock(drop->f, &drop->lock));
}

/*
 * The kernel first writes what was changed through mappings of the file, maybe through
 * another descriptor than the lock's.
 */
static void release(const struct call *c, struct file *f,
		    const struct mgr_lock *want)
{
	struct drop drop = {
		.c = *c, .f = f, .dropped = written, .lock = *want
	};

	if (file_is_paged(f->fs, f->handle) &&
	    file_is_written(f->fs, f->handle))
		drops_begin(c->d->drops, &drop);
	else
		written(&drop);
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
		rc = owners_note(c.d->owners, f, lock.owner);
	if (rc)
		call_end(&c, rc);
	else if (lock.type == WIRE_L_UNLOCK)
		release(&c, f, &lock);
	else
		take(&c, f, &lock, sleep);
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
		release(&c, f, &lock);
	else
		take(&c, f, &lock, !(op & LOCK_NB));
}
