/* SPDX-License-Identifier: BSD-2-Clause */
/* file.c - the lifetime of an open file, and the record of its writes. */
#include "client/lib/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "client/lib/file/dir.h"
#include "client/lib/file/handover.h"
#include "client/lib/file/held.h"
#include "client/lib/names/stat.h"
#include "client/lib/file/unsynced.h"

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
	lock_opened(f);
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

void file_put(struct file *f)
{
	if (atomic_fetch_sub(&f->refs, 1) != 1)
		return;
	handover_dropped(f);
	loans_close(&f->loans, f->dist.pcount);
	words_close(&f->words);
	end_reads_close(&f->ends);
	/* the file stays in the lists until RELEASE has reported its times */
	if (f->s) {
		lock_dropped(f);
		file_release(f);
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
	dirbuf_free(f->dirbuf);
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

void file_wrote(struct file *f, uint64_t from, uint64_t end, int rc,
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

void file_counted(struct file *f)
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

void file_cut(struct file *f, uint64_t size)
{
	pthread_mutex_lock(&f->lock);
	if (size > f->io.end && size > f->least)
		f->io.space = true;
	pthread_mutex_unlock(&f->lock);
}

void file_timed(struct fs *fs, uint64_t handle)
{
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, file_same(fs, handle), same) {
		if (f->handle != handle)
			continue;
		pthread_mutex_lock(&f->lock);
		f->io.timed = false;
		pthread_mutex_unlock(&f->lock);
	}
	pthread_mutex_unlock(&fs->files_lock);
}

/* Returns the later of since and the time (ns) when this process last wrote to the file. */
static int64_t last_write_time(struct fs *fs, uint64_t handle, int64_t since)
{
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, file_same(fs, handle), same) {
		if (f->handle != handle)
			continue;
		pthread_mutex_lock(&f->lock);
		if (f->io.timed && f->io.mtime > since)
			since = f->io.mtime;
		pthread_mutex_unlock(&f->lock);
	}
	pthread_mutex_unlock(&fs->files_lock);
	return since;
}

void file_show_writes(struct fs *fs, struct stat *st)
{
	int64_t mtime, last;

	if (!S_ISREG(st->st_mode))
		return;
	mtime = stat_ns(&st->st_mtim);
	last = last_write_time(fs, st->st_ino, mtime);
	if (last == mtime)
		return;
	st->st_mtim = stat_time(last);
	if (last > stat_ns(&st->st_ctim))
		st->st_ctim = st->st_mtim;
}

static bool opened_for_writing(const struct file *f)
{
	return (atomic_load(&f->flags) & O_ACCMODE) != O_RDONLY;
}

static bool end_known(struct file *f, const struct session *s, uint64_t begun,
		      uint64_t *end)
{
	bool is;

	pthread_mutex_lock(&f->lock);
	is = f->s == s && f->open && f->since < begun && !f->io.doubt &&
	     !f->io.space && !filled_has_gap(&f->io.filled);
	*end = f->io.end;
	pthread_mutex_unlock(&f->lock);
	return is;
}

bool file_sole_end(struct fs *fs, const struct session *s, uint64_t handle,
		   uint64_t begun, uint64_t *end)
{
	unsigned int n = 0;
	bool known = true;
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, file_same(fs, handle), same)
		if (f->handle == handle && opened_for_writing(f)) {
			n++;
			known &= end_known(f, s, begun, end);
		}
	pthread_mutex_unlock(&fs->files_lock);
	return n == 1 && known;
}

void file_atimed(struct fs *fs, uint64_t handle)
{
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, file_same(fs, handle), same)
		if (f->handle == handle)
			atomic_store(&f->read_at, 0);
	pthread_mutex_unlock(&fs->files_lock);
}

int64_t file_read(struct fs *fs, uint64_t handle)
{
	int64_t last = 0, at;
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, file_same(fs, handle), same) {
		at = f->handle == handle ? atomic_load(&f->read_at) : 0;
		last = at > last ? at : last;
	}
	pthread_mutex_unlock(&fs->files_lock);
	return last;
}

void file_lends(struct fs *fs, uint64_t handle)
{
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, file_same(fs, handle), same)
		if (f->handle == handle)
			atomic_store(&f->lends, true);
	pthread_mutex_unlock(&fs->files_lock);
}

bool file_is_open(struct fs *fs, uint64_t handle)
{
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, file_same(fs, handle), same) {
		if (f->handle == handle)
			break;
	}
	pthread_mutex_unlock(&fs->files_lock);
	return f != NULL;
}

bool file_is_paged(struct fs *fs, uint64_t handle)
{
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, file_same(fs, handle), same) {
		if (f->handle == handle && atomic_load(&f->paged))
			break;
	}
	pthread_mutex_unlock(&fs->files_lock);
	return f != NULL;
}

bool file_is_written(struct fs *fs, uint64_t handle)
{
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, file_same(fs, handle), same) {
		if (f->handle == handle && opened_for_writing(f))
			break;
	}
	pthread_mutex_unlock(&fs->files_lock);
	return f != NULL;
}
