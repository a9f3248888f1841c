/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvfs_aio.h - asynchronous requests: thousands under way from one thread.
 *
 *	struct pvfs_aio_queue *q;
 *	struct pvfs_aio aio = { .data = mine }, *list = &aio, *ended;
 *
 *	pvfs_aio_queue_new(0, &q);
 *	pvfs_aio_prep_read(&aio, fd, buf, len, off);
 *	pvfs_aio_submit(q, &list, 1);
 *	...
 *	if (pvfs_aio_wait(q, &ended, 1, 1, -1) == 1)
 *		use(ended->data, ended->result, ended->error);
 *
 * A request is one of the calls of <pvfs.h>, with its meaning, its errors and its
 * deadline; of those that are under way at the same time none is before another.
 * No thread is made for them: they go on in threads that wait for some
 * (pvfs_aio_wait()) or make other calls of the library, and whenever the program
 * was elsewhere for half a second, in the one thread that the library has for each
 * file system.  Requests on ordinary files are carried out when they begin.
 *
 * Of a queue's requests so many are under way at a time as PVFS_AIO_DEPTH says;
 * the others wait their turn, in the order in which they were submitted.  The time
 * of a request counts from when it was submitted, or a request of the queue last
 * ended.
 *
 * All calls may be made from any thread.  After fork() a queue and its requests are
 * the parent's: calls on it answer ECHILD.  Only when a server answers no more does
 * a request take a thread of its own for a while: to make a new session, or to wait
 * until that server cannot touch its memory any more.
 */
#ifndef PVFS_AIO_H
#define PVFS_AIO_H

/* Tables, their comments in columns: laid out by hand. */
/* clang-format off */

#include <pvfs.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PVFS_AIO_DEPTH 256

/*
 * A request.  The caller's until it is submitted and again once it has ended; it
 * stays where it is meanwhile, as do the buffers, arrays and paths that it
 * names.
 */
struct pvfs_aio {
	void *data;		/* the caller's; not looked at */
	/* NULL: pvfs_aio_wait() returns the request; else it is called when the
	 * request has ended, see pvfs_aio_queue_new() */
	void (*done)(struct pvfs_aio *aio);
	int64_t result;		/* what the call returned */
	int error;		/* result is -1: errno; else 0 */
	uint64_t state[24];	/* the library's */
};

struct pvfs_aio_queue;

/*
 * done() of requests is called in pvfs_aio_wait(), and may make any call but
 * pvfs_aio_wait() and pvfs_aio_queue_free() on this queue.  With flags
 * PVFS_AIO_TENDED requests also go on while the program computes, in the library's
 * thread, and done() is called at once in any thread that is inside of the
 * library, one call at a time; then it must be short, and call nothing of the
 * library but pvfs_aio_prep_*() and pvfs_aio_submit().
 *
 * 0 and the queue, which is the caller's to pvfs_aio_queue_free(); or -1: EINVAL
 * another flag, EMFILE or ENFILE no descriptors (it has three), ENOMEM.
 */
#define PVFS_AIO_TENDED 1u
int pvfs_aio_queue_new(unsigned int flags, struct pvfs_aio_queue **queue);
/*
 * Waits until no request is under way; those whose turn had not come end with
 * ECANCELED.  What nobody waited for has its result then (done() is called).
 */
void pvfs_aio_queue_free(struct pvfs_aio_queue *queue);

/*
 * Prepare a request: everything but data and done is set.  The parameters, results
 * and errors are those of the calls that the names contain; off is an
 * offset as that of pvfs_pread(), and the offset of fd is neither used nor moved.
 * Paths are looked at when the request begins.
 */
void pvfs_aio_prep_read(struct pvfs_aio *aio, int fd, void *buf, size_t len,
			int64_t off);
void pvfs_aio_prep_write(struct pvfs_aio *aio, int fd, const void *buf,
			 size_t len, int64_t off);
void pvfs_aio_prep_readv(struct pvfs_aio *aio, int fd, const struct iovec *iov,
			 int iovcnt, int64_t off);
void pvfs_aio_prep_writev(struct pvfs_aio *aio, int fd, const struct iovec *iov,
			  int iovcnt, int64_t off);
/* As pvfs_read_list64(), pvfs_write_list64(). */
void pvfs_aio_prep_read_list(struct pvfs_aio *aio, int fd, size_t mem_count,
			     char *const mem_offsets[],
			     const size_t mem_lengths[],
			     char *const allocation_offsets[],
			     const size_t allocation_lengths[],
			     size_t file_count, const int64_t file_offsets[],
			     const int64_t file_lengths[]);
void pvfs_aio_prep_write_list(struct pvfs_aio *aio, int fd, size_t mem_count,
			      char *const mem_offsets[],
			      const size_t mem_lengths[],
			      char *const allocation_offsets[],
			      const size_t allocation_lengths[],
			      size_t file_count, const int64_t file_offsets[],
			      const int64_t file_lengths[]);
/* What was written by requests that have ended before this one is submitted. */
void pvfs_aio_prep_fsync(struct pvfs_aio *aio, int fd);
/* flags without O_META and O_PART (EINVAL). */
void pvfs_aio_prep_open(struct pvfs_aio *aio, const char *path, int flags,
			mode_t mode);
void pvfs_aio_prep_stat(struct pvfs_aio *aio, const char *path, struct stat *st);
void pvfs_aio_prep_lstat(struct pvfs_aio *aio, const char *path,
			 struct stat *st);
void pvfs_aio_prep_fstat(struct pvfs_aio *aio, int fd, struct stat *st);
/* cmd: a lock command of pvfs_fcntl().  No signal ends a wait. */
void pvfs_aio_prep_lock(struct pvfs_aio *aio, int fd, int cmd,
			struct flock *lock);

/*
 * Submits n prepared requests, in this order; what one cannot do is the
 * request's own error.  0, or -1: ECHILD, and nothing was taken.
 */
int pvfs_aio_submit(struct pvfs_aio_queue *queue, struct pvfs_aio *const aio[],
		    unsigned int n);
/*
 * Waits until at least min requests have ended that were not waited for, none is
 * under way any more, or timeout_ms have passed (0: not at all, -1: for ever, as
 * each request has its deadline), and moves on what is under way.  At most max of
 * them are put into ended, in the order in which they ended; those with done() are
 * called instead, and count for min.  Returns the number in ended, or -1: ECHILD;
 * EINVAL timeout_ms is below -1; EAGAIN another thread waits on the queue, and did
 * so for all that time.
 */
int pvfs_aio_wait(struct pvfs_aio_queue *queue, struct pvfs_aio *ended[],
		  unsigned int max, unsigned int min, int timeout_ms);
/*
 * A descriptor for poll(2), select(2) and epoll(7), readable when there is
 * something to do: then pvfs_aio_wait(queue, ..., 0, 0) does it.  It is the queue's,
 * and is not read from.  -1: ECHILD.
 */
int pvfs_aio_fd(struct pvfs_aio_queue *queue);
/*
 * Takes back a request whose turn has not come: it ends with ECANCELED.  0, or -1:
 * EALREADY it is under way, or has ended; ECHILD.
 */
int pvfs_aio_cancel(struct pvfs_aio_queue *queue, struct pvfs_aio *aio);

#ifdef __cplusplus
}
#endif

#endif
