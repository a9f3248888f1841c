/* SPDX-License-Identifier: BSD-2-Clause */
/* seek.c - lseek on PVFS files and on partitions. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dir.h"
#include "file.h"
#include "handover.h"
#include "space.h"
#include "stat.h"

int file_size(struct file *f, int fd, uint64_t *size)
{
	struct stat st;
	int rc;

	if (f->fs)
		rc = file_run(f, stat_get, &st);
	else
		rc = fstat(fd, &st) ? -errno : 0;
	if (rc)
		return rc;
	pthread_mutex_lock(&f->lock);
	*size = view_before(&f->view, (uint64_t)st.st_size);
	pthread_mutex_unlock(&f->lock);
	return 0;
}

bool file_seen_whole(struct file *f)
{
	bool whole;

	pthread_mutex_lock(&f->lock);
	whole = !f->view.off && !f->view.gsize;
	pthread_mutex_unlock(&f->lock);
	return f->fs && whole;
}

static int64_t seek_data(struct file *f, uint64_t size, int64_t off, int whence)
{
	struct space_seek seek = { .dist = &f->dist,
				   .off = (uint64_t)off,
				   .hole = whence == SEEK_HOLE };
	int rc;

	if (off < 0 || (uint64_t)off >= size)
		return -ENXIO;
	/* pieces that are seen as one: all is data, a hole only behind the end */
	rc = file_seen_whole(f) ? file_run(f, space_seek, &seek) : -ENOSYS;
	if (rc == -ENOSYS) /* also of an earlier version of an iod */
		return seek.hole ? (int64_t)size : off;
	if (rc)
		return rc;
	if (seek.found < size)
		return (int64_t)seek.found;
	return seek.hole ? (int64_t)size : -ENXIO;
}

static int64_t target_of(struct file *f, int fd, int64_t off, int whence)
{
	uint64_t base = 0;
	int64_t sum;
	int rc;

	if (whence == SEEK_CUR) {
		base = f->pos;
	} else if (whence != SEEK_SET) {
		rc = file_size(f, fd, &base);
		if (rc)
			return rc;
		if (whence != SEEK_END)
			return seek_data(f, base, off, whence);
	}
	if (__builtin_add_overflow((int64_t)base, off, &sum))
		return -EOVERFLOW;
	return sum < 0 ? -EINVAL : sum;
}

static bool known(const struct file *f, int whence)
{
	switch (whence) {
	case SEEK_SET:
	case SEEK_CUR:
		return true;
	case SEEK_END:
	case SEEK_DATA:
	case SEEK_HOLE:
		return f->type != S_IFDIR;
	}
	return false;
}

int64_t file_seek(struct file *f, int fd, int64_t off, int whence)
{
	int64_t pos;

	if (!known(f, whence))
		return -EINVAL;
	pthread_mutex_lock(&f->pos_lock);
	pos = target_of(f, fd, off, whence);
	if (pos >= 0 && (uint64_t)pos != f->pos) {
		f->pos = (uint64_t)pos;
		handover_moved(f);
		dirbuf_reset(f->dirbuf);
	} else if (pos == 0) {
		dirbuf_reset(f->dirbuf);
	}
	pthread_mutex_unlock(&f->pos_lock);
	return pos;
}
