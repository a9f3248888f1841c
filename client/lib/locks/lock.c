/* SPDX-License-Identifier: BSD-2-Clause */
/* lock.c - see lock.h. */
#include "client/lib/locks/lock.h"

#include <errno.h>
#include <sys/file.h>

#include "client/lib/file/held.h"
#include "client/lib/locks/lock_ask_int.h"
#include "client/lib/names/stat.h"

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

/* ---- asking the manager ---- */

static int lock_request(struct file *f, struct mgr_lock *lock)
{
	struct mgr_lock want = *lock;
	int rc = lock_ask(f, lock);

	want.session = lock->session;
	if (!rc && !(want.flags & WIRE_L_TEST))
		lock_note(f, &want);
	return rc;
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
		return file_seek(f, -1, 0, SEEK_CUR);
	case SEEK_END:
		rc = file_run(f, stat_get, &st);
		return rc ? rc : st.st_size;
	}
	return -EINVAL;
}

/* The range from start; a negative length extends backwards. */
static int span_of(int64_t start, int64_t len, struct mgr_lock *lock)
{
	int64_t end = INT64_MAX;

	if (start < 0 || (len < 0 && start + len < 0))
		return -EINVAL;
	if (len > 0 && __builtin_add_overflow(start, len - 1, &end))
		return -EOVERFLOW;
	if (len < 0) {
		end = start;
		start += len;
	} else if (end < INT64_MAX) {
		end++;
	}
	lock->start = mgr_lock_start((uint64_t)start);
	lock->end = (uint64_t)end;
	return 0;
}

/* The bytes that lk covers. */
static int range_of(struct file *f, const struct flock *lk,
		    struct mgr_lock *lock)
{
	int64_t base = base_of(f, lk->l_whence), start;

	if (base < 0)
		return (int)base;
	if (__builtin_add_overflow(base, lk->l_start, &start))
		return -EOVERFLOW;
	return span_of(start, lk->l_len, lock);
}

/* As in the kernel, a lock requires a descriptor that permits the access. */
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

/* l_pid is -1, because the owner may be on another host. */
static void flock_from_lock(struct flock *lk, const struct mgr_lock *lock)
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
	lock.owner = of_process(cmd) ? 0 : file_owner(f);
	lock.flags = (is_test(cmd) ? WIRE_L_TEST : 0) |
		     (is_wait(cmd) ? WIRE_L_WAIT : 0);
	if (of_process(cmd) && !is_test(cmd))
		atomic_store(&f->process_locks, true);
	rc = lock_request(f, &lock);
	if (!rc && is_test(cmd))
		flock_from_lock(lk, &lock);
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
	lock.owner = file_owner(f);
	if (!(operation & LOCK_NB))
		lock.flags |= WIRE_L_WAIT;
	rc = lock_request(f, &lock);
	return rc == -EAGAIN ? -EWOULDBLOCK : rc;
}

/* ---- close ---- */

void lock_closed(struct file *f)
{
	struct mgr_lock lock = { .end = INT64_MAX };
	struct session *s;

	if (!f->fs || f->type != S_IFREG || !lock_forget(f) ||
	    fs_session(f->fs, &s))
		return;
	mgr_unlock(s, f->handle, &lock);
	session_put(s);
}
