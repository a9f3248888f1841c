/* SPDX-License-Identifier: BSD-2-Clause */
/* file.c - the life of an open file: sessions, reference counts, RELEASE. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "dir.h"
#include "fan.h"

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
	return f;
}

struct file *file_get(struct file *f)
{
	atomic_fetch_add(&f->refs, 1);
	return f;
}

void file_opened(struct file *f, struct session *s, const struct attr *attr,
		 uint64_t open)
{
	f->handle = attr->handle;
	f->type = attr->mode & S_IFMT;
	f->dist = attr->dist;
	f->least = attr->flags & WIRE_A_SIZE ? attr->size : 0;
	f->s = session_get(s);
	f->open = open;
	f->writer = open != 0;
	pthread_mutex_lock(&f->fs->files_lock);
	LIST_INSERT_HEAD(&f->fs->files, f, link);
	pthread_mutex_unlock(&f->fs->files_lock);
}

/* ---- RELEASE ---- */

/* What a failed write left behind only the iods know. */
static bool settle(struct file *f)
{
	struct file_size size;

	if (!f->doubt)
		return true;
	if (size_ask(f->s, f->handle, &f->dist, NULL, NULL, &size))
		return false;
	f->end = size.size;
	f->wrote = true;
	return true;
}

/*
 * Without a RELEASE the mgr takes the file for unfinished until the session
 * ends, and asks the iods for its size: right, but slow.
 */
static void release(struct file *f)
{
	struct mgr_release rel;

	if (!f->open || !settle(f))
		return;
	rel = (struct mgr_release){
		.handle = f->handle,
		.open = f->open,
		.end = f->end,
		.mtime = f->mtime,
		.flags = (f->wrote ? WIRE_R_WROTE : 0) |
			 (f->wrote && f->timed ? WIRE_R_MTIME : 0),
	};
	mgr_release(f->s, &rel);
}

static void clean(struct file *f)
{
	f->open = 0;
	f->end = 0;
	f->wrote = false;
	f->timed = false;
	f->doubt = false;
}

void file_put(struct file *f)
{
	if (atomic_fetch_sub(&f->refs, 1) != 1)
		return;
	if (f->fs && f->handle) {
		pthread_mutex_lock(&f->fs->files_lock);
		LIST_REMOVE(f, link);
		pthread_mutex_unlock(&f->fs->files_lock);
	}
	if (f->s) {
		release(f);
		session_put(f->s);
	}
	dirbuf_free(f->dirbuf);
	pthread_mutex_destroy(&f->lock);
	pthread_mutex_destroy(&f->pos_lock);
	free(f);
}

void file_forked(struct file *f)
{
	pthread_mutex_init(&f->pos_lock, NULL);
	pthread_mutex_init(&f->lock, NULL);
	f->s = NULL;
	clean(f);
}

/* ---- sessions ---- */

static uint32_t open_flags(const struct file *f, bool append)
{
	int mode = atomic_load(&f->flags) & O_ACCMODE;

	return (mode == O_WRONLY ? 0 : WIRE_O_READ) |
	       (mode == O_RDONLY ? 0 : WIRE_O_WRITE) |
	       (append ? WIRE_O_APPEND : 0);
}

/* By the handle, with the lock. */
static int open_again(struct file *f, struct session *s, bool append,
		      uint64_t *open)
{
	struct target t = { .handle = f->handle, .path = "" };
	struct mgr_open how = { .flags = open_flags(f, append) };
	struct attr attr;

	return mgr_open(s, &t, &how, &attr, open);
}

/* Makes the file open under s, with the lock. */
static int move_to(struct file *f, struct session *s)
{
	bool append = atomic_load(&f->flags) & O_APPEND;
	uint64_t open = 0;
	int rc;

	if (f->s == s && (f->open || !f->writer))
		return 0;
	if (f->writer) {
		rc = open_again(f, s, append, &open);
		if (rc)
			return rc;
	}
	if (f->s)
		session_put(f->s);
	clean(f);
	f->s = session_get(s);
	f->open = open;
	return 0;
}

static int session_of(struct file *f, struct session **out, uint64_t *open)
{
	struct session *s;
	int rc;

	rc = fs_session(f->fs, &s);
	if (rc)
		return rc;
	pthread_mutex_lock(&f->lock);
	rc = move_to(f, s);
	*open = f->open;
	pthread_mutex_unlock(&f->lock);
	if (rc)
		session_put(s);
	else
		*out = s;
	return rc;
}

/* The mgr does not know the id any more, though it knows the session. */
static void not_open(struct file *f, struct session *s, uint64_t open)
{
	pthread_mutex_lock(&f->lock);
	if (f->s == s && f->open == open)
		f->open = 0;
	pthread_mutex_unlock(&f->lock);
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
		again = fs_lost(f->fs, s, rc);
		if (rc == -EBADF && t.open) {
			not_open(f, s, t.open);
			again = true;
		}
		session_put(s);
		if (!again || tries)
			return rc == -EBADF || again ? -ESTALE : rc;
	}
}

/* ---- what RELEASE will say ---- */

void file_wrote(struct file *f, uint64_t end, int rc)
{
	int64_t now = clock_wall();

	pthread_mutex_lock(&f->lock);
	if (rc) {
		f->doubt = true;
	} else {
		f->wrote = true;
		if (end > f->end)
			f->end = end;
	}
	f->timed = true;
	f->mtime = now;
	pthread_mutex_unlock(&f->lock);
}

void file_timed(struct fs *fs, uint64_t handle)
{
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, &fs->files, link) {
		if (f->handle != handle)
			continue;
		pthread_mutex_lock(&f->lock);
		f->timed = false;
		pthread_mutex_unlock(&f->lock);
	}
	pthread_mutex_unlock(&fs->files_lock);
}

int64_t file_written(struct fs *fs, uint64_t handle, int64_t since)
{
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, &fs->files, link) {
		if (f->handle != handle)
			continue;
		pthread_mutex_lock(&f->lock);
		if (f->timed && f->mtime > since)
			since = f->mtime;
		pthread_mutex_unlock(&f->lock);
	}
	pthread_mutex_unlock(&fs->files_lock);
	return since;
}

/* The mgr keeps the end of a file whose writers only append; so it is told
 * of one who stops to by an open of the other kind. */
int file_set_append(struct file *f, bool append)
{
	struct session *s;
	uint64_t open;
	int rc;

	if (!f->writer || append)
		goto set;
	rc = session_of(f, &s, &open);
	if (rc)
		return rc;
	pthread_mutex_lock(&f->lock);
	rc = open_again(f, s, append, &open);
	if (!rc) {
		release(f);
		clean(f);
		f->open = open;
	}
	pthread_mutex_unlock(&f->lock);
	session_put(s);
	if (rc)
		return rc;
set:
	if (append)
		atomic_fetch_or(&f->flags, O_APPEND);
	else
		atomic_fetch_and(&f->flags, ~O_APPEND);
	return 0;
}
