/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open_files.c - finds all open files (struct file) of a handle in this process, and combines what
 * they know about the file.
 */
#include "client/lib/file/file.h"

#include <fcntl.h>

#include "client/lib/names/stat.h"

void file_forget_write_time(struct fs *fs, uint64_t handle)
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

void file_apply_write_time(struct fs *fs, struct stat *st)
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

void file_forget_read_time(struct fs *fs, uint64_t handle)
{
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, file_same(fs, handle), same)
		if (f->handle == handle)
			atomic_store(&f->read_at, 0);
	pthread_mutex_unlock(&fs->files_lock);
}

int64_t file_last_read(struct fs *fs, uint64_t handle)
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

void file_note_setid(struct fs *fs, uint64_t handle)
{
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, file_same(fs, handle), same)
		if (f->handle == handle)
			atomic_store(&f->has_setid, true);
	pthread_mutex_unlock(&fs->files_lock);
}

static bool any_file(struct fs *fs, uint64_t handle,
		     bool (*matches)(const struct file *))
{
	struct file *f;

	pthread_mutex_lock(&fs->files_lock);
	LIST_FOREACH(f, file_same(fs, handle), same)
		if (f->handle == handle && matches(f))
			break;
	pthread_mutex_unlock(&fs->files_lock);
	return f != NULL;
}

static bool opened_at_all(const struct file *f)
{
	(void)f;
	return true;
}

static bool opened_with_pages(const struct file *f)
{
	return atomic_load(&f->paged);
}

bool file_is_open(struct fs *fs, uint64_t handle)
{
	return any_file(fs, handle, opened_at_all);
}

bool file_is_paged(struct fs *fs, uint64_t handle)
{
	return any_file(fs, handle, opened_with_pages);
}

bool file_is_written(struct fs *fs, uint64_t handle)
{
	return any_file(fs, handle, opened_for_writing);
}
