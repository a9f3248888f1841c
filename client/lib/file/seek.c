/* SPDX-License-Identifier: BSD-2-Clause */
/* seek.c - lseek on PVFS files and on partitions. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/session/call_context.h"
#include "client/lib/file/dir.h"
#include "client/lib/file/file.h"
#include "client/lib/file/handover.h"
#include "client/lib/names/space.h"
#include "client/lib/names/stat.h"

struct seek_size {
	struct file *f;
	uint64_t size;
};

/* Used as a target_op. */
static int get_size(struct session *s, const struct target *t, void *arg)
{
	struct seek_size *a = arg;
	struct loans_file lent = {
		.loans = &a->f->loans,
		.s = s,
		.handle = a->f->handle,
		.dist = &a->f->dist,
		.write = (atomic_load(&a->f->flags) & O_ACCMODE) != O_RDONLY,
	};
	struct stat st;
	struct stat_open open = { &a->f->ends, &st };
	struct file_size now;
	int rc;

	if (a->f->type == S_IFREG && loans_size(&lent, &a->size))
		return 0;
	if (a->f->type == S_IFREG &&
	    end_reads_try(&a->f->ends, s, &a->f->dist, &now)) {
		a->size = now.size;
		return 0;
	}
	rc = stat_get_open(s, t, &open);
	if (!rc)
		a->size = (uint64_t)st.st_size;
	return rc;
}

static int ordinary_size(int fd, uint64_t *size)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	*size = (uint64_t)st.st_size;
	return 0;
}

int file_size(struct file *f, int fd, uint64_t *size)
{
	struct seek_size a = { .f = f };
	int rc;

	rc = f->fs ? file_run(f, get_size, &a) : ordinary_size(fd, &a.size);
	if (rc)
		return rc;
	pthread_mutex_lock(&f->lock);
	*size = view_before(&f->view, a.size);
	pthread_mutex_unlock(&f->lock);
	return 0;
}

bool file_is_unpartitioned(struct file *f)
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
	/* a partition shows pieces as one: all is data, with a hole only at the end */
	rc = file_is_unpartitioned(f) ? file_run(f, space_seek, &seek)
				      : -ENOSYS;
	if (rc == -ENOSYS) /* also from an iod of an earlier release */
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

static bool whence_is_known(const struct file *f, int whence)
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

void file_lock_pos(struct file *f)
{
	if (!pthread_mutex_trylock(&f->pos_lock))
		return;
	deadline_began();
	pthread_mutex_lock(&f->pos_lock);
}

int64_t file_seek(struct file *f, int fd, int64_t off, int whence)
{
	int64_t pos;

	if (!whence_is_known(f, whence))
		return -EINVAL;
	file_lock_pos(f);
	pos = target_of(f, fd, off, whence);
	if (pos >= 0 && (uint64_t)pos != f->pos) {
		f->pos = (uint64_t)pos;
		handover_update_pos(f);
		dirbuf_reset(f->dirbuf);
	} else if (pos == 0) {
		dirbuf_reset(f->dirbuf);
	}
	pthread_mutex_unlock(&f->pos_lock);
	return pos;
}
