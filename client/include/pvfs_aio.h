/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvfs_aio.h - asynchronous requests: thousands in flight from one thread.
 *
 * 	struct pvfs_aio_queue *q;
 * 	struct pvfs_aio aio = { .data = mine }, *list = &aio, *ended;
 *
 * 	pvfs_aio_queue_new(0, &q);
 * 	pvfs_aio_prep_read(&aio, fd, buf, len, off);
 * 	pvfs_aio_submit(q, &list, 1);
 * 	...
 * 	if (pvfs_aio_wait(q, &ended, 1, 1, -1) == 1)
 * 		use(ended->data, ended->result, ended->error);
 *
 * A request is one of the calls of <pvfs.h>, with its meaning, errors and timeout.
 * Requests in flight at the same time have no order.  The library creates no thread for a
 * request.  A request progresses in threads that wait in pvfs_aio_wait() or make other
 * calls of the library.  If the program makes none for half a second, the one thread that
 * the library has for each file system takes over.  Requests on ordinary files run to
 * completion when they start.
 *
 * A queue has at most PVFS_AIO_DEPTH requests in flight; the others wait in the order of
 * submission.  The timeout of a request starts when it is submitted, or when a request of
 * the queue last ended, whichever is later.
 *
 * Any thread may make all calls.  After fork(), a queue and its requests belong to the
 * parent: in the child, calls on it fail with ECHILD.  A request takes a thread of its
 * own only if a server no longer answers: to create a new session, or to wait until that
 * server can no longer access the memory of the request.
 */
#ifndef PVFS_AIO_H
#define PVFS_AIO_H

/* The tables have their comments in columns, formatted by hand. */
/* clang-format off */

#include <pvfs.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PVFS_AIO_DEPTH 256

/*
 * A request.  The caller owns it before it is submitted and after it has ended.  In
 * between, the request, its buffers, arrays and paths must stay at their addresses.
 */
struct pvfs_aio {
	void *data;		/* the caller's; the library ignores it */
	/* NULL: pvfs_aio_wait() returns the request.  Otherwise the library calls it when the
	 * request has ended, see pvfs_aio_queue_new() */
	void (*done)(struct pvfs_aio *aio);
	int64_t result;		/* return value of the call */
	int error;		/* errno if result is -1; else 0 */
	uint64_t state[24];	/* private to the library */
};

struct pvfs_aio_queue;

/*
 * Creates a queue.  The library calls done() of requests in pvfs_aio_wait().  There,
 * done() may make any call but pvfs_aio_wait() and pvfs_aio_queue_free() on this queue.
 * With the flag PVFS_AIO_TENDED, requests also progress in the library's thread while the
 * program computes.  done() then runs immediately in any thread inside the library, one
 * at a time.  It must be short, and may call only pvfs_aio_prep_*() and pvfs_aio_submit()
 * of the library.
 *
 * Returns 0 and the queue, which the caller releases with pvfs_aio_queue_free(); or -1:
 * EINVAL: another flag; EMFILE or ENFILE: no descriptors left (a queue has three);
 * ENOMEM.
 */
#define PVFS_AIO_TENDED 1u
int pvfs_aio_queue_new(unsigned int flags, struct pvfs_aio_queue **queue);
/*
 * Frees the queue.  Requests that have not started end with ECANCELED.  The function waits
 * for those in flight.  It calls done() of the requests that have one.  The others, if
 * pvfs_aio_wait() has not returned them, have their result when the function returns.
 */
void pvfs_aio_queue_free(struct pvfs_aio_queue *queue);

/*
 * Prepare a request: set everything but data and done.  Parameters, results and errors
 * are those of the calls that the names contain.  off is an offset as in pvfs_pread();
 * the offset of fd is neither used nor changed.  Paths are read when the request starts.
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
/* Flushes the data of all writes that ended before this request is submitted. */
void pvfs_aio_prep_fsync(struct pvfs_aio *aio, int fd);
/* EINVAL: flags contains O_META or O_PART. */
void pvfs_aio_prep_open(struct pvfs_aio *aio, const char *path, int flags,
			mode_t mode);
void pvfs_aio_prep_stat(struct pvfs_aio *aio, const char *path, struct stat *st);
void pvfs_aio_prep_lstat(struct pvfs_aio *aio, const char *path,
			 struct stat *st);
void pvfs_aio_prep_fstat(struct pvfs_aio *aio, int fd, struct stat *st);
/* cmd: a lock command of pvfs_fcntl().  No signal ends the wait. */
void pvfs_aio_prep_lock(struct pvfs_aio *aio, int fd, int cmd,
			struct flock *lock);

/*
 * Submits n prepared requests, in the order of aio.  An invalid request ends with an error of
 * its own; the others are not affected.  Returns 0, or -1 with ECHILD in a child after
 * fork(): then no request was submitted.
 */
int pvfs_aio_submit(struct pvfs_aio_queue *queue, struct pvfs_aio *const aio[],
		    unsigned int n);
/*
 * Drives the requests in flight until one of these is true:
 * - At least min requests have ended since the last call.
 * - No request is in flight.
 * - timeout_ms milliseconds have passed.  0: the call does not wait; -1: no limit, because
 *   each request has a timeout of its own.
 *
 * Puts at most max of the ended requests into ended, in the order in which they ended.  A
 * request with done() counts for min, but the library calls done() instead of returning it.
 * Returns the number of requests in ended, or -1:
 * - ECHILD: this is a child after fork().
 * - EINVAL: timeout_ms is below -1.
 * - EAGAIN: another thread waited on the queue for all that time.
 */
int pvfs_aio_wait(struct pvfs_aio_queue *queue, struct pvfs_aio *ended[],
		  unsigned int max, unsigned int min, int timeout_ms);
/*
 * Returns a descriptor for poll(2), select(2) and epoll(7).  If it is readable, call
 * pvfs_aio_wait(queue, ..., 0, 0) to do the pending work.  The queue owns the descriptor;
 * do not read from it.  -1: ECHILD.
 */
int pvfs_aio_fd(struct pvfs_aio_queue *queue);
/*
 * Cancels a request that has not started: it ends with ECANCELED.  Returns 0, or -1:
 * EALREADY: the request is in flight or has ended; ECHILD: this is a child after fork().
 */
int pvfs_aio_cancel(struct pvfs_aio_queue *queue, struct pvfs_aio *aio);

#ifdef __cplusplus
}
#endif

#endif
