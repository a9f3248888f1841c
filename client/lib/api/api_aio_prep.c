/* SPDX-License-Identifier: BSD-2-Clause */
/* api_aio_prep.c - preparing requests, and what each request runs. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/api/api_aio_int.h"
#include "client/lib/rw/rw.h"

static struct request *request_prepare(struct pvfs_aio *aio, int fd,
				       int64_t (*what)(struct request *r))
{
	struct request *r = request_of(aio);

	memset(aio->state, 0, sizeof(aio->state));
	aio->result = 0;
	aio->error = 0;
	r->what = what;
	r->fd = fd;
	return r;
}

/* ---- reading and writing ---- */

static int64_t request_transfer(struct request *r)
{
	const struct rw rw = { .iov = r->rw.iov ? r->rw.iov : &r->rw.one,
			       .niov = r->rw.niov,
			       .write = r->rw.write,
			       .at = true,
			       .off = r->rw.off };
	ssize_t n;

	if (r->f)
		return rw_run(r->f, r->fd, &rw);
	n = rw.write ? pwritev(r->fd, rw.iov, rw.niov, rw.off)
		     : preadv(r->fd, rw.iov, rw.niov, rw.off);
	return n < 0 ? -errno : n;
}

static void prep_rw(struct pvfs_aio *aio, int fd, bool write, void *buf,
		    size_t len, int64_t off)
{
	struct request *r = request_prepare(aio, fd, request_transfer);

	r->rw.one = (struct iovec){ buf, len };
	r->rw.niov = 1;
	r->rw.write = write;
	r->rw.off = off;
}

void pvfs_aio_prep_read(struct pvfs_aio *aio, int fd, void *buf, size_t len,
			int64_t off)
{
	prep_rw(aio, fd, false, buf, len, off);
}

void pvfs_aio_prep_write(struct pvfs_aio *aio, int fd, const void *buf,
			 size_t len, int64_t off)
{
	prep_rw(aio, fd, true, (void *)(uintptr_t)buf, len, off);
}

static void prep_rwv(struct pvfs_aio *aio, int fd, bool write,
		     const struct iovec *iov, int iovcnt, int64_t off)
{
	struct request *r = request_prepare(aio, fd, request_transfer);

	r->rw.iov = iov;
	r->rw.niov = iovcnt;
	r->rw.write = write;
	r->rw.off = off;
}

void pvfs_aio_prep_readv(struct pvfs_aio *aio, int fd, const struct iovec *iov,
			 int iovcnt, int64_t off)
{
	prep_rwv(aio, fd, false, iov, iovcnt, off);
}

void pvfs_aio_prep_writev(struct pvfs_aio *aio, int fd, const struct iovec *iov,
			  int iovcnt, int64_t off)
{
	prep_rwv(aio, fd, true, iov, iovcnt, off);
}

static int64_t transfer_list(struct request *r)
{
	return api_list(r->fd, r->f, &r->list);
}

void pvfs_aio_prep_read_list(struct pvfs_aio *aio, int fd, size_t mem_count,
			     char *const mem_offsets[],
			     const size_t mem_lengths[],
			     char *const allocation_offsets[],
			     const size_t allocation_lengths[],
			     size_t file_count, const int64_t file_offsets[],
			     const int64_t file_lengths[])
{
	request_prepare(aio, fd, transfer_list)->list = (struct api_list){
		false,
		mem_count,
		file_count,
		mem_offsets,
		mem_lengths,
		allocation_offsets,
		allocation_lengths,
		file_offsets,
		file_lengths,
	};
}

void pvfs_aio_prep_write_list(struct pvfs_aio *aio, int fd, size_t mem_count,
			      char *const mem_offsets[],
			      const size_t mem_lengths[],
			      char *const allocation_offsets[],
			      const size_t allocation_lengths[],
			      size_t file_count, const int64_t file_offsets[],
			      const int64_t file_lengths[])
{
	pvfs_aio_prep_read_list(aio, fd, mem_count, mem_offsets, mem_lengths,
				allocation_offsets, allocation_lengths,
				file_count, file_offsets, file_lengths);
	request_of(aio)->list.write = true;
}

static int64_t sync_it(struct request *r)
{
	return api_fsync(r->fd, r->f);
}

void pvfs_aio_prep_fsync(struct pvfs_aio *aio, int fd)
{
	request_prepare(aio, fd, sync_it);
}

/* ---- names ---- */

static int64_t open_it(struct request *r)
{
	return api_open(r->path.name, r->path.flags, r->path.mode);
}

void pvfs_aio_prep_open(struct pvfs_aio *aio, const char *path, int flags,
			mode_t mode)
{
	struct request *r = request_prepare(aio, -1, open_it);

	r->path.name = path;
	r->path.flags = flags;
	r->path.mode = mode;
}

static int64_t stat_it(struct request *r)
{
	return api_stat(r->path.name, !(r->path.flags & O_NOFOLLOW),
			r->path.st);
}

void pvfs_aio_prep_stat(struct pvfs_aio *aio, const char *path, struct stat *st)
{
	struct request *r = request_prepare(aio, -1, stat_it);

	r->path.name = path;
	r->path.st = st;
}

void pvfs_aio_prep_lstat(struct pvfs_aio *aio, const char *path,
			 struct stat *st)
{
	pvfs_aio_prep_stat(aio, path, st);
	request_of(aio)->path.flags = O_NOFOLLOW;
}

static int64_t fstat_it(struct request *r)
{
	return api_fstat(r->fd, r->f, r->path.st);
}

void pvfs_aio_prep_fstat(struct pvfs_aio *aio, int fd, struct stat *st)
{
	request_prepare(aio, fd, fstat_it)->path.st = st;
}

/* ---- locks ---- */

static int wait_for_ordinary(void *arg)
{
	struct request *r = arg;

	return fcntl(r->fd, r->lock.cmd, r->lock.range) ? -errno : 0;
}

static bool is_lock(int cmd)
{
	switch (cmd) {
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return true;
	}
	return false;
}

/*
 * SEEK_CUR would need the offset of the file, whose lock may be held by a call that waits
 * for this thread.
 */
static int64_t lock_it(struct request *r)
{
	if (!is_lock(r->lock.cmd) || r->lock.range->l_whence == SEEK_CUR)
		return -EINVAL;
	if (!r->f || !r->f->fs)
		return strand_aside(wait_for_ordinary, r);
	return api_lock(r->f, r->lock.cmd, r->lock.range);
}

void pvfs_aio_prep_lock(struct pvfs_aio *aio, int fd, int cmd,
			struct flock *lock)
{
	struct request *r = request_prepare(aio, fd, lock_it);

	r->lock.cmd = cmd;
	r->lock.range = lock;
}
