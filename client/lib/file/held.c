/* SPDX-License-Identifier: BSD-2-Clause */
/* held.c - see held.h. */
#include "client/lib/file/held.h"

#include <errno.h>

#include "client/lib/file/handover.h"

uint64_t file_owner(struct file *f)
{
	uint64_t owner;

	pthread_mutex_lock(&f->fs->files_lock);
	if (!f->owner)
		f->owner = ++f->fs->owners;
	owner = f->owner;
	pthread_mutex_unlock(&f->fs->files_lock);
	return owner;
}

static bool held_own(const struct file *f)
{
	return f->locks.whole || f->locks.bytes[1].end;
}

static bool held_process(const struct file *f)
{
	return f->locks.bytes[0].end;
}

static void note_session(struct file *f, const struct mgr_lock *lock)
{
	if (!(lock->owner ? held_own(f) : held_process(f)))
		f->locks.bytes[lock->owner != 0].session = lock->session;
}

static void note_bytes(struct file *f, const struct mgr_lock *lock)
{
	uint64_t *start = &f->locks.bytes[lock->owner != 0].start;
	uint64_t *end = &f->locks.bytes[lock->owner != 0].end;

	if (lock->type != WIRE_L_UNLOCK) {
		*start = *end && *start < lock->start ? *start : lock->start;
		*end = *end > lock->end ? *end : lock->end;
	} else if (lock->start <= *start && lock->end >= *end) {
		*start = *end = 0;
	}
}

static void note_here(struct file *f, const struct mgr_lock *lock)
{
	pthread_mutex_lock(&f->lock);
	note_session(f, lock);
	if (lock->flags & WIRE_L_WHOLE)
		f->locks.whole = lock->type != WIRE_L_UNLOCK;
	else
		note_bytes(f, lock);
	f->locks.lost = f->locks.lost && (held_own(f) || held_process(f));
	handover_update(f);
	pthread_mutex_unlock(&f->lock);
}

void lock_record(struct file *f, const struct mgr_lock *lock)
{
	struct file *other;

	if (lock->owner) {
		note_here(f, lock);
		return;
	}
	pthread_mutex_lock(&f->fs->files_lock);
	f->fs->process_locks = true;
	LIST_FOREACH(other, file_same(f->fs, f->handle), same) {
		if (other->handle == f->handle)
			note_here(other, lock);
	}
	pthread_mutex_unlock(&f->fs->files_lock);
}

void lock_copy_process(struct file *f)
{
	struct file *other;

	if (!f->fs->process_locks)
		return;
	LIST_FOREACH(other, file_same(f->fs, f->handle), same) {
		if (other->handle != f->handle)
			continue;
		pthread_mutex_lock(&other->lock);
		if (held_process(other))
			f->locks.bytes[0] = other->locks.bytes[0];
		pthread_mutex_unlock(&other->lock);
	}
}

bool lock_is_lost(const struct file *f, uint64_t session)
{
	return (held_process(f) && f->locks.bytes[0].session != session) ||
	       (held_own(f) && f->locks.bytes[1].session != session);
}

void lock_log_lost(struct file *f, const struct session *s)
{
	if (!f->locks.lost)
		log_error(s->log,
			  "file %016llx: its locks are lost, the servers ended "
			  "the session; close it",
			  (unsigned long long)f->handle);
	f->locks.lost = true;
}

bool file_is_evicted(struct file *f, const struct session *s)
{
	if (!f->s || f->s == s || !atomic_load(&f->s->evicted))
		return false;
	if (!f->evicted)
		log_error(s->log,
			  "file %016llx: an administrator ended the session "
			  "that had it open (pvfs-evict): close it, and open "
			  "it again",
			  (unsigned long long)f->handle);
	f->evicted = true;
	return true;
}

/* handle 0: any file. */
static bool process_lost(struct fs *fs, const struct session *s,
			 uint64_t handle)
{
	struct file *f;
	bool lost = false;

	pthread_mutex_lock(&fs->files_lock);
	if (!fs->process_locks)
		goto out;
	LIST_FOREACH(f, &fs->files, link) {
		if (handle && f->handle != handle)
			continue;
		pthread_mutex_lock(&f->lock);
		lost = held_process(f) && f->locks.bytes[0].session != s->id;
		if (lost && handle)
			lock_log_lost(f, s);
		pthread_mutex_unlock(&f->lock);
		if (lost)
			break;
	}
out:
	pthread_mutex_unlock(&fs->files_lock);
	return lost;
}

/* The lookup of the file costs a request, so do it only if locks were lost. */
int lock_check_cut(struct fs *fs, struct session *s, const struct target *t)
{
	struct attr attr;
	int rc;

	if (!process_lost(fs, s, 0))
		return 0;
	rc = mgr_getattr(s, t, &attr);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	return process_lost(fs, s, attr.handle) ? -ESTALE : 0;
}

static bool forget_process_locks(struct file *f)
{
	const struct mgr_lock all = { .end = INT64_MAX };

	note_here(f, &all);
	return atomic_exchange(&f->process_locks, false);
}

bool lock_forget(struct file *f)
{
	struct file *other;
	bool had = false;

	pthread_mutex_lock(&f->fs->files_lock);
	LIST_FOREACH(other, file_same(f->fs, f->handle), same) {
		if (other->handle == f->handle)
			had |= forget_process_locks(other);
	}
	pthread_mutex_unlock(&f->fs->files_lock);
	return had;
}

/* ---- release ---- */

static void unlock_all(struct file *f, uint64_t owner, uint32_t flags)
{
	struct mgr_lock lock = { .owner = owner,
				 .end = INT64_MAX,
				 .flags = flags };

	mgr_unlock(f->s, f->handle, &lock);
}

void lock_release_own(struct file *f)
{
	if (!f->owner)
		return;
	unlock_all(f, f->owner, 0);
	unlock_all(f, f->owner, WIRE_L_WHOLE);
}
