/* SPDX-License-Identifier: BSD-2-Clause */
/* lock.c - see lock.h. */
#include "lock.h"

#include <errno.h>
#include <sys/file.h>

#include "lock_ask.h"
#include "rw.h"
#include "stat.h"

static bool of_process(int cmd)
{
	return cmd == F_GETLK || cmd == F_SETLK || cmd == F_SETLKW;
}

static bool is_test(int cmd)
{
	return cmd == F_GETLK || cmd == F_OFD_GETLK;
}

static bool is_wait(int cmd)
{
	return cmd == F_SETLKW || cmd == F_OFD_SETLKW;
}

/* ---- what is held ---- */

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
	pthread_mutex_unlock(&f->lock);
}

/* The process' locks count for whatever descriptors of the file it has. */
static void note(struct file *f, const struct mgr_lock *lock)
{
	struct file *other;

	if (lock->owner) {
		note_here(f, lock);
		return;
	}
	pthread_mutex_lock(&f->fs->files_lock);
	f->fs->process_locks = true;
	LIST_FOREACH(other, &f->fs->files, link) {
		if (other->handle == f->handle)
			note_here(other, lock);
	}
	pthread_mutex_unlock(&f->fs->files_lock);
}

void lock_opened(struct file *f)
{
	struct file *other;

	if (!f->fs->process_locks)
		return;
	LIST_FOREACH(other, &f->fs->files, link) {
		if (other->handle != f->handle)
			continue;
		pthread_mutex_lock(&other->lock);
		if (held_process(other))
			f->locks.bytes[0] = other->locks.bytes[0];
		pthread_mutex_unlock(&other->lock);
	}
}

bool lock_lost(const struct file *f, uint64_t session)
{
	return (held_process(f) && f->locks.bytes[0].session != session) ||
	       (held_own(f) && f->locks.bytes[1].session != session);
}

void lock_say_lost(struct file *f, const struct session *s)
{
	if (!f->locks.lost)
		log_error(s->log,
			  "file %016llx: its locks are lost, the servers ended "
			  "the session; close it",
			  (unsigned long long)f->handle);
	f->locks.lost = true;
}

/* handle 0: of any file. */
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
			lock_say_lost(f, s);
		pthread_mutex_unlock(&f->lock);
		if (lost)
			break;
	}
out:
	pthread_mutex_unlock(&fs->files_lock);
	return lost;
}

/* Which file it is costs a request, so only then. */
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

/* ---- asking the mgr ---- */

static int ask(struct file *f, struct mgr_lock *lock)
{
	struct mgr_lock want = *lock;
	int rc = lock_ask(f, lock);

	want.session = lock->session;
	if (!rc && !(want.flags & WIRE_L_TEST))
		note(f, &want);
	return rc;
}

/* A number that no other open file of the process has, once it is needed. */
static uint64_t owner_of(struct file *f)
{
	pthread_mutex_lock(&f->fs->files_lock);
	if (!f->owner)
		f->owner = ++f->fs->owners;
	pthread_mutex_unlock(&f->fs->files_lock);
	return f->owner;
}

/* ---- fcntl ---- */

static int64_t base_of(struct file *f, int whence)
{
	struct stat st;
	int rc;

	switch (whence) {
	case SEEK_SET:
		return 0;
	case SEEK_CUR:
		return rw_seek(f, -1, 0, SEEK_CUR);
	case SEEK_END:
		rc = file_run(f, stat_get, &st);
		return rc ? rc : st.st_size;
	}
	return -EINVAL;
}

/* The bytes that lk names; a negative length reaches backwards. */
static int range_of(struct file *f, const struct flock *lk,
		    struct mgr_lock *lock)
{
	int64_t base = base_of(f, lk->l_whence), start, end;

	if (base < 0)
		return (int)base;
	if (__builtin_add_overflow(base, lk->l_start, &start))
		return -EOVERFLOW;
	if (__builtin_add_overflow(start, lk->l_len, &end))
		return -EOVERFLOW;
	if (lk->l_len < 0) {
		int64_t last = end;

		end = start;
		start = last;
	} else if (lk->l_len == 0) {
		end = INT64_MAX;
	}
	if (start < 0)
		return -EINVAL;
	lock->start = (uint64_t)start;
	lock->end = (uint64_t)end;
	return start < end ? 0 : -EOVERFLOW;
}

/* As with the kernel's, a lock needs a descriptor that could do the access. */
static int type_of(struct file *f, const struct flock *lk, bool test,
		   uint32_t *type)
{
	int mode = atomic_load(&f->flags) & O_ACCMODE;

	switch (lk->l_type) {
	case F_RDLCK:
		*type = WIRE_L_SHARED;
		return mode == O_WRONLY && !test ? -EBADF : 0;
	case F_WRLCK:
		*type = WIRE_L_EXCLUSIVE;
		return mode == O_RDONLY && !test ? -EBADF : 0;
	case F_UNLCK:
		*type = WIRE_L_UNLOCK;
		return test ? -EINVAL : 0;
	}
	return -EINVAL;
}

/* Another process may hold it, perhaps on another host: no pid. */
static void tell(struct flock *lk, const struct mgr_lock *lock)
{
	if (lock->type == WIRE_L_UNLOCK) {
		lk->l_type = F_UNLCK;
		return;
	}
	lk->l_type = lock->type == WIRE_L_SHARED ? F_RDLCK : F_WRLCK;
	lk->l_whence = SEEK_SET;
	lk->l_start = (int64_t)lock->start;
	lk->l_len = lock->end == INT64_MAX ? 0
					   : (int64_t)(lock->end - lock->start);
	lk->l_pid = -1;
}

int lock_fcntl(struct file *f, int cmd, struct flock *lk)
{
	struct mgr_lock lock = { 0 };
	int rc;

	if (f->type != S_IFREG || (!of_process(cmd) && lk->l_pid))
		return -EINVAL;
	rc = type_of(f, lk, is_test(cmd), &lock.type);
	if (!rc)
		rc = range_of(f, lk, &lock);
	if (rc)
		return rc;
	lock.owner = of_process(cmd) ? 0 : owner_of(f);
	lock.flags = (is_test(cmd) ? WIRE_L_TEST : 0) |
		     (is_wait(cmd) ? WIRE_L_WAIT : 0);
	if (of_process(cmd) && !is_test(cmd))
		atomic_store(&f->process_locks, true);
	rc = ask(f, &lock);
	if (!rc && is_test(cmd))
		tell(lk, &lock);
	return rc;
}

/* ---- flock ---- */

int lock_flock(struct file *f, int operation)
{
	struct mgr_lock lock = { .end = INT64_MAX, .flags = WIRE_L_WHOLE };
	int rc;

	switch (operation & ~LOCK_NB) {
	case LOCK_SH:
		lock.type = WIRE_L_SHARED;
		break;
	case LOCK_EX:
		lock.type = WIRE_L_EXCLUSIVE;
		break;
	case LOCK_UN:
		lock.type = WIRE_L_UNLOCK;
		break;
	default:
		return -EINVAL;
	}
	lock.owner = owner_of(f);
	if (!(operation & LOCK_NB))
		lock.flags |= WIRE_L_WAIT;
	rc = ask(f, &lock);
	return rc == -EAGAIN ? -EWOULDBLOCK : rc;
}

/* ---- the end ---- */

static void unlock_all(struct file *f, uint64_t owner, uint32_t flags)
{
	struct mgr_lock lock = { .owner = owner,
				 .end = INT64_MAX,
				 .flags = flags };

	mgr_unlock(f->s, f->handle, &lock);
}

static bool forget(struct file *f)
{
	const struct mgr_lock all = { .end = INT64_MAX };

	note_here(f, &all);
	return atomic_exchange(&f->process_locks, false);
}

/* True: some descriptor of this file was used to lock for the process. */
static bool forget_process_locks(struct file *f)
{
	struct file *other;
	bool had = false;

	pthread_mutex_lock(&f->fs->files_lock);
	LIST_FOREACH(other, &f->fs->files, link) {
		if (other->handle == f->handle)
			had |= forget(other);
	}
	pthread_mutex_unlock(&f->fs->files_lock);
	return had;
}

void lock_closed(struct file *f)
{
	struct mgr_lock lock = { .end = INT64_MAX };
	struct session *s;

	if (!f->fs || f->type != S_IFREG || !forget_process_locks(f) ||
	    fs_session(f->fs, &s))
		return;
	mgr_unlock(s, f->handle, &lock);
	session_put(s);
}

void lock_dropped(struct file *f)
{
	if (!f->owner)
		return;
	unlock_all(f, f->owner, 0);
	unlock_all(f, f->owner, WIRE_L_WHOLE);
}
