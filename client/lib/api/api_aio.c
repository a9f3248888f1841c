/* SPDX-License-Identifier: BSD-2-Clause */
/* api_aio.c - asynchronous requests, their queues, and what each request runs. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/api/api_int.h"
#include "client/lib/aio/aio_queue.h"
#include "client/lib/rw/rw.h"

/* The contents of the private state in struct pvfs_aio. */
struct aio_request {
	struct aio_call call;
	/* returns 0 or more, or -errno; f is the file of fd, or NULL */
	int64_t (*what)(struct aio_request *r);
	int fd; /* -1: none */
	struct file *f; /* set at submission */
	union {
		struct {
			struct iovec one;
			const struct iovec *iov;
			int niov;
			bool write;
			int64_t off;
		} rw;
		struct api_list list;
		struct {
			const char *name;
			int flags;
			mode_t mode;
			struct stat *st;
		} path;
		struct {
			struct flock *range;
			int cmd;
		} lock;
	};
};

_Static_assert(sizeof(struct aio_request) <=
		       sizeof(((struct pvfs_aio *)0)->state),
	       "a request fits");

static struct aio_request *request_of(struct pvfs_aio *aio)
{
	return (struct aio_request *)aio->state;
}

static struct pvfs_aio *aio_of(struct aio_request *r)
{
	return container_of((uint64_t(*)[24])(void *)r, struct pvfs_aio, state);
}

/* ---- preparing requests ---- */

static struct aio_request *
request_prepare(struct pvfs_aio *aio, int fd,
		int64_t (*what)(struct aio_request *r))
{
	struct aio_request *r = request_of(aio);

	memset(aio->state, 0, sizeof(aio->state));
	aio->result = 0;
	aio->error = 0;
	r->what = what;
	r->fd = fd;
	return r;
}

/* ---- reading and writing ---- */

static int64_t request_transfer(struct aio_request *r)
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
	struct aio_request *r = request_prepare(aio, fd, request_transfer);

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
	struct aio_request *r = request_prepare(aio, fd, request_transfer);

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

static int64_t transfer_list(struct aio_request *r)
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

static int64_t aio_fsync(struct aio_request *r)
{
	return api_fsync(r->fd, r->f);
}

void pvfs_aio_prep_fsync(struct pvfs_aio *aio, int fd)
{
	request_prepare(aio, fd, aio_fsync);
}

/* ---- names ---- */

static int64_t aio_open(struct aio_request *r)
{
	return api_open(r->path.name, r->path.flags, r->path.mode);
}

void pvfs_aio_prep_open(struct pvfs_aio *aio, const char *path, int flags,
			mode_t mode)
{
	struct aio_request *r = request_prepare(aio, -1, aio_open);

	r->path.name = path;
	r->path.flags = flags;
	r->path.mode = mode;
}

static int64_t aio_stat(struct aio_request *r)
{
	return api_stat(r->path.name, !(r->path.flags & O_NOFOLLOW),
			r->path.st);
}

void pvfs_aio_prep_stat(struct pvfs_aio *aio, const char *path, struct stat *st)
{
	struct aio_request *r = request_prepare(aio, -1, aio_stat);

	r->path.name = path;
	r->path.st = st;
}

void pvfs_aio_prep_lstat(struct pvfs_aio *aio, const char *path,
			 struct stat *st)
{
	pvfs_aio_prep_stat(aio, path, st);
	request_of(aio)->path.flags = O_NOFOLLOW;
}

static int64_t aio_fstat(struct aio_request *r)
{
	return api_fstat(r->fd, r->f, r->path.st);
}

void pvfs_aio_prep_fstat(struct pvfs_aio *aio, int fd, struct stat *st)
{
	request_prepare(aio, fd, aio_fstat)->path.st = st;
}

/* ---- locks ---- */

static int wait_for_ordinary(void *arg)
{
	struct aio_request *r = arg;

	return fcntl(r->fd, r->lock.cmd, r->lock.range) ? -errno : 0;
}

/*
 * SEEK_CUR is rejected: it needs the offset of the file, whose lock may be held by a call that
 * waits for this thread.
 */
static int64_t aio_lock(struct aio_request *r)
{
	if (!api_is_lock(r->lock.cmd) || r->lock.range->l_whence == SEEK_CUR)
		return -EINVAL;
	if (!r->f || !r->f->fs)
		return coroutine_aside(wait_for_ordinary, r);
	return api_lock(r->f, r->lock.cmd, r->lock.range);
}

void pvfs_aio_prep_lock(struct pvfs_aio *aio, int fd, int cmd,
			struct flock *lock)
{
	struct aio_request *r = request_prepare(aio, fd, aio_lock);

	r->lock.cmd = cmd;
	r->lock.range = lock;
}

struct pvfs_aio_queue {
	struct aio_queue *queue;
	unsigned int forks; /* process_forks() of the owner at creation */
};

/* ---- start and end of a request ---- */

/* Releases what the request holds before its end is reported. */
static int64_t request_run(struct aio_call *call)
{
	struct aio_request *r = container_of(call, struct aio_request, call);
	unsigned int counts = r->f ? r->f->profile : PROFILE_NAMES;
	uint64_t begun = r->f && !r->f->fs ? 0 : profile_start();
	int64_t n = r->what(r);

	if (r->f)
		file_put(r->f);
	r->f = NULL;
	profile_done(PROFILE_AIO, counts, begun, n, true);
	return n;
}

/* A request that never ran still holds its file. */
static struct pvfs_aio *request_taken(struct aio_call *call)
{
	struct aio_request *r = container_of(call, struct aio_request, call);
	struct pvfs_aio *aio = aio_of(r);

	if (r->f)
		file_put(r->f);
	r->f = NULL;
	aio->error = call->result < 0 ? (int)-call->result : 0;
	aio->result = call->result < 0 ? -1 : call->result;
	return aio;
}

static void request_report(struct aio_call *call)
{
	struct pvfs_aio *aio = request_taken(call);

	aio->done(aio);
}

/* ---- queues ---- */

static bool is_ours(const struct pvfs_aio_queue *q)
{
	return q->forks == process_forks();
}

int pvfs_aio_queue_new(unsigned int flags, struct pvfs_aio_queue **queue)
{
	struct pvfs_aio_queue *q;
	int rc;

	if (flags & ~PVFS_AIO_TENDED)
		return api_int(-EINVAL);
	q = calloc(1, sizeof(*q));
	if (!q)
		return api_int(-ENOMEM);
	q->forks = process_forks();
	rc = aio_queue_new(flags & PVFS_AIO_TENDED, &q->queue);
	if (rc)
		free(q);
	else
		*queue = q;
	return api_int(rc);
}

/* Drops the remaining requests without a report, and releases their files. */
static void free_queue(struct pvfs_aio_queue *q)
{
	struct aio_calls rest = STAILQ_HEAD_INITIALIZER(rest);
	struct aio_call *call;

	aio_queue_free(q->queue, &rest);
	while ((call = STAILQ_FIRST(&rest))) {
		STAILQ_REMOVE_HEAD(&rest, link);
		request_taken(call);
	}
}

void pvfs_aio_queue_free(struct pvfs_aio_queue *q)
{
	int saved = errno;

	if (is_ours(q))
		free_queue(q);
	else
		aio_queue_abandon(q->queue);
	free(q);
	errno = saved;
}

int pvfs_aio_submit(struct pvfs_aio_queue *q, struct pvfs_aio *const aio[],
		    unsigned int n)
{
	int saved = errno;
	unsigned int i;

	if (!is_ours(q))
		return api_int(-ECHILD);
	for (i = 0; i < n; i++) {
		struct aio_request *r = request_of(aio[i]);

		r->f = r->fd < 0 ? NULL : process_file(r->fd);
		r->call.run = request_run;
		r->call.done = aio[i]->done ? request_report : NULL;
		aio_queue_add(q->queue, &r->call);
	}
	aio_queue_start(q->queue);
	errno = saved;
	return 0;
}

int pvfs_aio_wait(struct pvfs_aio_queue *q, struct pvfs_aio *ended[],
		  unsigned int max, unsigned int min, int timeout_ms)
{
	uint64_t until = timeout_ms < 0 ? CLOCK_NEVER
					: clock_after_ms((uint64_t)timeout_ms);
	struct aio_calls calls = STAILQ_HEAD_INITIALIZER(calls);
	uint64_t begun = profile_start();
	int saved = errno, n, i;

	if (!is_ours(q) || timeout_ms < -1)
		return api_int(is_ours(q) ? -EINVAL : -ECHILD);
	n = aio_queue_wait(q->queue, &calls, max, min, until);
	for (i = 0; i < n; i++) {
		struct aio_call *call = STAILQ_FIRST(&calls);

		STAILQ_REMOVE_HEAD(&calls, link);
		ended[i] = request_taken(call);
	}
	profile_done(PROFILE_WAIT, PROFILE_NAMES, begun, n, false);
	errno = saved;
	return api_int(n);
}

int pvfs_aio_fd(struct pvfs_aio_queue *q)
{
	return api_int(is_ours(q) ? aio_queue_fd(q->queue) : -ECHILD);
}

int pvfs_aio_cancel(struct pvfs_aio_queue *q, struct pvfs_aio *aio)
{
	if (!is_ours(q))
		return api_int(-ECHILD);
	return api_int(aio_queue_cancel(q->queue, &request_of(aio)->call));
}
