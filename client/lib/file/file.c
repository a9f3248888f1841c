/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c - an open file: its lifetime, the record of its writes, and the session in which it
 * is open.
 *
 *                  join(s2)                 opened again
 *   open in s1 ---------------> moving ------------------> open in s2
 *       ^                         |  not: a later join tries again
 *       +-------------------------+
 *
 * One thread moves the file and holds no lock while it waits for the manager.  Other
 * threads that need the file in s2 sleep on file.moved meanwhile.
 */
#include "client/lib/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "client/lib/file/dir.h"
#include "client/lib/file/fs_int.h"
#include "client/lib/file/handover.h"
#include "client/lib/file/held.h"
#include "client/lib/file/unsynced.h"
#include "client/lib/names/stat.h"
#include "client/lib/session/coroutine.h"
#include "client/lib/session/broadcast.h"
#include "common/util/watched_descriptor.h"

struct file *file_new(struct fs *fs, int flags)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	atomic_init(&f->refs, 1);
	atomic_init(&f->flags, flags);
	f->fs = fs;
	pthread_mutex_init(&f->pos_lock, NULL);
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->moved, NULL);
	return f;
}

struct file *file_get(struct file *f)
{
	atomic_fetch_add(&f->refs, 1);
	return f;
}

/* The caller holds files_lock. */
static void file_list_insert(struct file *f)
{
	LIST_INSERT_HEAD(&f->fs->files, f, link);
	LIST_INSERT_HEAD(file_same(f->fs, f->handle), f, same);
}

void file_opened(struct file *f, struct session *s, const struct attr *attr,
		 uint64_t open)
{
	f->handle = attr->handle;
	f->type = attr->mode & S_IFMT;
	f->dist = attr->dist;
	if (f->type == S_IFDIR)
		stat_of(s, attr, &f->seen);
	f->least = attr->flags & WIRE_A_SIZE ? attr->size : 0;
	f->io.filled.end = f->least;
	f->s = session_get(s);
	f->keyed = true;
	f->open = open;
	f->writer = open != 0;
	f->since = clock_now();
	if (profile_on())
		f->profile = profile_file(s->fsid, f->handle, f->dist.ssize,
					  f->dist.pcount);
	pthread_mutex_lock(&f->fs->files_lock);
	lock_copy_process(f);
	file_list_insert(f);
	pthread_mutex_unlock(&f->fs->files_lock);
}

void file_inherited(struct file *f)
{
	if (profile_on())
		f->profile = profile_file(f->fsid, f->handle, f->dist.ssize,
					  f->dist.pcount);
	pthread_mutex_lock(&f->fs->files_lock);
	if (f->owner > f->fs->owners)
		f->fs->owners = f->owner;
	f->fs->process_locks |= f->locks.bytes[0].end != 0;
	file_list_insert(f);
	pthread_mutex_unlock(&f->fs->files_lock);
}

static void release_send(struct file *f, uint64_t open, struct file_io io)
{
	int64_t read_at = atomic_load(&f->read_at);
	struct mgr_release rel = {
		.handle = f->handle,
		.open = open,
		.end = io.end,
		.mtime = io.wrote ? io.mtime : read_at,
		.flags = (io.wrote ? WIRE_R_WROTE : 0) |
			 (read_at ? WIRE_R_READ : 0) |
			 (io.space || filled_has_gap(&io.filled) ? WIRE_R_SPACE
								 : 0) |
			 (io.wrote && io.timed ? WIRE_R_MTIME : 0) |
			 (io.doubt ? WIRE_R_DOUBT : 0),
		/* others wait only for the end of writers, so a reader's RELEASE may be late */
		.late = f->s && f->s->declare &&
			(atomic_load(&f->flags) & O_ACCMODE) == O_RDONLY,
	};

	if (open)
		mgr_release(f->s, &rel);
}

void file_put(struct file *f)
{
	if (atomic_fetch_sub(&f->refs, 1) != 1)
		return;
	handover_remove(f);
	loans_close(&f->loans, f->dist.pcount);
	words_close(&f->words);
	end_reads_close(&f->ends);
	/* the file stays in the lists until RELEASE has reported its times */
	if (f->s) {
		lock_release_own(f);
		release_send(f, f->open, f->io);
		if (f->keyed)
			keychain_drop(f->s->keys, f->handle);
	}
	if (f->fs && f->handle) {
		pthread_mutex_lock(&f->fs->files_lock);
		LIST_REMOVE(f, link);
		LIST_REMOVE(f, same);
		pthread_mutex_unlock(&f->fs->files_lock);
	}
	if (f->s)
		session_put(f->s);
	free(f->heir);
	free(f->dirbuf);
	if (f->mdbi)
		f->mdbi_free(f->mdbi);
	pthread_cond_destroy(&f->moved);
	pthread_mutex_destroy(&f->lock);
	pthread_mutex_destroy(&f->pos_lock);
	free(f);
}

void file_forked(struct file *f)
{
	loans_forked(&f->loans, f->dist.pcount);
	words_close(&f->words);
	end_reads_close(&f->ends);
	pthread_mutex_init(&f->pos_lock, NULL);
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->moved, NULL);
	f->moving = false;
	f->s = NULL;
	f->keyed = false;
	f->open = 0;
	free(f->heir);
	f->heir = NULL;
	f->handed = NULL; /* not mapped in the child */
	f->owner = 0; /* locks stay the parent's */
	atomic_store(&f->process_locks, false);
	f->locks = (struct file_locks){ 0 };
	f->io = (struct file_io){ 0 };
}

/* ---- the record for RELEASE ---- */

void file_record_write(struct file *f, uint64_t from, uint64_t end, int rc,
		       unsigned int since)
{
	int64_t now = clock_wall();

	if (!rc && since)
		unsynced_wrote(f, since);
	pthread_mutex_lock(&f->lock);
	if (rc) {
		f->io.doubt = true;
	} else {
		f->io.wrote = true;
		if (end > f->io.end)
			f->io.end = end;
		filled_add(&f->io.filled, from, end);
	}
	f->io.timed = true;
	f->io.mtime = now;
	pthread_mutex_unlock(&f->lock);
}

void file_record_counter(struct file *f)
{
	pthread_mutex_lock(&f->lock);
	f->io.wrote = true;
	pthread_mutex_unlock(&f->lock);
}

void file_doubt_space(struct file *f)
{
	pthread_mutex_lock(&f->lock);
	f->io.space = true;
	pthread_mutex_unlock(&f->lock);
}

void file_record_truncate(struct file *f, uint64_t size)
{
	pthread_mutex_lock(&f->lock);
	if (size > f->io.end && size > f->least)
		f->io.space = true;
	pthread_mutex_unlock(&f->lock);
}

/* ---- moving: begin and end with the lock, open without it ---- */

static void move_begin(struct file *f)
{
	while (f->moving)
		pthread_cond_wait(&f->moved, &f->lock);
	f->moving = true;
}

static void move_end(struct file *f)
{
	f->moving = false;
	pthread_cond_broadcast(&f->moved);
}

static uint32_t open_flags(const struct file *f)
{
	int flags = atomic_load(&f->flags), mode = flags & O_ACCMODE;

	return (mode == O_WRONLY ? 0 : WIRE_O_READ) |
	       (mode == O_RDONLY ? WIRE_O_HOLD : WIRE_O_WRITE) |
	       (flags & O_APPEND ? WIRE_O_APPEND : 0);
}

/* Opens by the handle.  *open stays 0 for a file that is only read and not held. */
static int open_again(const struct file *f, struct session *s, uint64_t *open)
{
	struct target t = { .handle = f->handle, .path = "" };
	struct mgr_open how = { .flags = open_flags(f) };
	struct attr attr;

	*open = 0;
	return f->writer ? mgr_open(s, &t, &how, &attr, open) : 0;
}

/* ---- capabilities ---- */

static enum keychain_state key_of(const struct file *f, const struct session *s)
{
	return f->type == S_IFREG
		       ? keychain_look(s->keys, f->handle,
				       keychain_rights(open_flags(f)))
		       : KEY_GOOD;
}

/*
 * Opens and releases the file at the manager to get its capability, for a file that was opened in
 * this session without one.  The caller does not hold the lock.
 */
static int key_fetch(const struct file *f, struct session *s)
{
	struct target t = { .handle = f->handle, .path = "" };
	struct mgr_open how = { .flags = open_flags(f) & ~WIRE_O_HOLD };
	struct mgr_release rel = { .handle = f->handle };
	struct attr attr;
	int rc = mgr_open(s, &t, &how, &attr, &rel.open);

	if (!rc && rel.open)
		mgr_release(s, &rel);
	return rc;
}

/* The caller holds the lock and has set moving.  The lock is released meanwhile. */
static int complete_key(struct file *f, struct session *s)
{
	enum keychain_state state = key_of(f, s);
	bool had = f->keyed;
	int rc;

	if (state == KEY_GOOD)
		return 0;
	pthread_mutex_unlock(&f->lock);
	rc = state == KEY_STALE ? keychain_renew(s) : 0;
	state = key_of(f, s);
	if (state == KEY_NONE)
		rc = key_fetch(f, s);
	pthread_mutex_lock(&f->lock);
	if (rc || state != KEY_NONE)
		return rc;
	if (had) /* the key was taken twice */
		keychain_drop(s->keys, f->handle);
	f->keyed = true;
	return 0;
}

static bool is_joined(const struct file *f, const struct session *s)
{
	return f->s == s && (f->open || !f->writer);
}

/* The caller holds the lock.  True: s can be used without further steps. */
static bool is_ready(const struct file *f, const struct session *s)
{
	return is_joined(f, s) && !lock_is_lost(f, s->id) &&
	       key_of(f, s) == KEY_GOOD;
}

/* Records that the file is open under s.  Returns the previous session, with its reference. */
static struct session *file_enter_session(struct file *f, struct session *s,
					  uint64_t open)
{
	struct session *old = f->s;

	if (old && f->keyed)
		keychain_drop(old->keys, f->handle);
	f->keyed = f->writer;
	f->s = session_get(s);
	f->open = open;
	f->since = clock_now();
	f->io = (struct file_io){ 0 };
	handover_update(f);
	return old;
}

/* Called and returns with the lock held.  The caller owns *old. */
static int move_to(struct file *f, struct session *s, struct session **old)
{
	uint64_t open;
	int rc;

	pthread_mutex_unlock(&f->lock);
	rc = open_again(f, s, &open);
	pthread_mutex_lock(&f->lock);
	if (!rc)
		*old = file_enter_session(f, s, open);
	return rc;
}

struct join {
	struct file *f;
	struct session *s;
	uint64_t open; /* open id for requests, 0: none needed */
};

static int wait_to_join(void *arg)
{
	struct join *j = arg;
	struct file *f = j->f;
	struct session *old = NULL;
	int rc = 0;

	watched_descriptor_hand_over();
	pthread_mutex_lock(&f->lock);
	if (file_is_evicted(f, j->s)) {
		rc = -ESTALE;
	} else if (!is_joined(f, j->s) || key_of(f, j->s) != KEY_GOOD) {
		move_begin(f);
		if (!lock_is_lost(f, j->s->id) && !is_joined(f, j->s))
			rc = move_to(f, j->s, &old);
		if (!rc && f->s == j->s)
			rc = complete_key(f, j->s);
		move_end(f);
	}
	if (!rc && lock_is_lost(f, j->s->id)) {
		lock_log_lost(f, j->s);
		rc = -ESTALE;
	}
	if (!rc)
		j->open = f->open;
	pthread_mutex_unlock(&f->lock);
	if (old)
		session_put(old);
	return rc;
}

/* Opens the file under s, unless it is. */
static int file_join(struct file *f, struct session *s, uint64_t *open)
{
	struct join j = { .f = f, .s = s };
	bool ready;
	int rc;

	if (f->fsid && f->fsid != s->fsid)
		return -ESTALE;
	pthread_mutex_lock(&f->lock);
	ready = is_ready(f, s);
	j.open = f->open;
	pthread_mutex_unlock(&f->lock);
	rc = ready ? 0 : coroutine_aside(wait_to_join, &j);
	if (!rc)
		*open = j.open;
	return rc;
}

/*
 * Returns the session in which the file is ready, with a reference; NULL: further steps
 * are necessary.
 */
static struct session *ready_in(struct file *f, uint64_t *open)
{
	struct session *s;

	pthread_mutex_lock(&f->lock);
	s = f->s;
	if (s && s == atomic_load(&f->fs->ready) && is_ready(f, s))
		session_get(s);
	else
		s = NULL;
	*open = f->open;
	pthread_mutex_unlock(&f->lock);
	return s;
}

/* Sets *again if joining failed and there is another session, or another ticket. */
static int join_present(struct file *f, struct session **out, uint64_t *open,
			bool *again)
{
	struct session *s;
	int rc = fs_session(f->fs, &s);

	*again = false;
	if (rc)
		return rc;
	rc = file_join(f, s, open);
	*again = session_is_over(rc) && fs_must_retry(f->fs, s, rc);
	if (rc)
		session_put(s);
	else
		*out = s;
	return rc;
}

/* The present session may end during the join.  Then try once with the next one. */
static int session_of(struct file *f, struct session **out, uint64_t *open)
{
	bool again;
	int rc;

	*out = ready_in(f, open);
	if (*out)
		return 0;
	rc = join_present(f, out, open, &again);
	return again ? join_present(f, out, open, &again) : rc;
}

/* The manager knows the session, but no longer the open id. */
static void forget_open_id(struct file *f, struct session *s, uint64_t open)
{
	pthread_mutex_lock(&f->lock);
	if (f->s == s && f->open == open)
		f->open = 0;
	handover_update(f);
	pthread_mutex_unlock(&f->lock);
}

/*
 * Whether an iod does not have this client's capability.  Then the operation is repeated with the
 * capability, or with a new one.
 */
static bool key_is_missing(const struct file *f, struct session *s, int rc)
{
	if (rc != -ENOKEY && rc != -EKEYREVOKED)
		return false;
	keychain_refused(s->keys, f->handle, rc);
	/* the iod may have dropped its key, and with it that of our ticket */
	if (rc == -EKEYREVOKED)
		session_renew_ticket_soon(s);
	return true;
}

int file_run(struct file *f, target_op op, void *arg)
{
	struct target t = { .handle = f->handle, .path = "" };
	struct session *s;
	bool again;
	int tries, rc;

	for (tries = 0;; tries++) {
		rc = session_of(f, &s, &t.open);
		if (rc)
			return rc;
		rc = op(s, &t, arg);
		again = fs_must_retry(f->fs, s, rc);
		if (rc == -EBADF && t.open) {
			forget_open_id(f, s, t.open);
			again = true;
		}
		again |= key_is_missing(f, s, rc);
		session_put(s);
		if (!again || tries == FS_TRIES - 1)
			return rc == -EBADF || again ? fs_retry_result(rc) : rc;
	}
}

/* ---- O_APPEND ---- */

/*
 * While all writers of a file only append, the manager itself knows the end of the file.  So a
 * client that will write in another way tells the manager.
 */
static int do_place(struct session *s, const struct target *t, void *arg)
{
	uint64_t end;

	(void)arg;
	return mgr_append(s, t, 0, &end);
}

int file_grows(struct file *f)
{
	bool appends = atomic_load(&f->flags) & O_APPEND;

	return f->writer && appends ? file_run(f, do_place, NULL) : 0;
}

int file_set_append(struct file *f, bool append)
{
	int rc;

	if (append == (bool)(atomic_load(&f->flags) & O_APPEND))
		return 0;
	rc = append ? 0 : file_grows(f);
	if (rc)
		return rc;
	if (append)
		atomic_fetch_or(&f->flags, O_APPEND);
	else
		atomic_fetch_and(&f->flags, ~O_APPEND);
	pthread_mutex_lock(&f->lock);
	handover_update(f);
	pthread_mutex_unlock(&f->lock);
	return 0;
}

/* ---- fsync ---- */

static int do_sync(struct session *s, const struct target *t, void *arg)
{
	return size_sync(s, t->handle, arg);
}

int file_sync(struct file *f)
{
	unsigned int taken = unsynced_take(f);

	return unsynced_end(f, taken, file_run(f, do_sync, &f->dist));
}
