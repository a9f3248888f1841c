/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requests.h - POSIX asynchronous requests that bypass the mount.  Each is a call in a
 * queue of ours (aio_queue.h), so libc creates no thread for it.  The result is stored in
 * the control block, like libc's.  So aio_error() and aio_return() work for both.
 */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <aio.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/preload/notify.h"

/*
 * Begins cb's transfer.  group counts it, or is NULL.  False: nothing was done, and libc
 * must execute it.
 */
bool request_begin(struct aiocb *cb, bool write, struct group *group);
/* The same for an fsync() after all requests in flight on cb's descriptor. */
bool request_sync(struct aiocb *cb, int op);
/* True: cb is in flight, and ours. */
bool request_is_ours(const struct aiocb *cb);
/* True: any request is in flight. */
bool requests_any(void);
/* Waits until no request of the descriptor is in flight. */
void requests_settle_of(int fd);
/*
 * Drives the requests until one of ours has ended, at most until the given clock_now().
 * True: a signal handler ran, or another thread ends the program or calls exec().
 */
bool requests_wait(uint64_t until);
/*
 * Returns AIO_CANCELED, AIO_NOTCANCELED, AIO_ALLDONE, or -1: cb belongs to another
 * descriptor.  cb NULL: all requests of fd.
 */
int request_cancel(int fd, const struct aiocb *cb);

#endif
