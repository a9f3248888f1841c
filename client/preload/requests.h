/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requests.h - POSIX's asynchronous requests that go past the mount.  Each is a call
 * in a queue of ours (aio_queue.h), so that no thread of libc's is made for it.  Where it
 * ends is where libc's own do, in the control block: aio_error() and aio_return()
 * need not know whose a request is.
 */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <aio.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/preload/notify.h"

/*
 * Begins cb's transfer; group: counts it, or NULL.  False: it is libc's, and
 * nothing was done.
 */
bool request_begin(struct aiocb *cb, bool write, struct group *group);
/* fsync() behind all that is under way on cb's descriptor; the same. */
bool request_sync(struct aiocb *cb, int op);
/* Under way, and ours. */
bool request_is_ours(const struct aiocb *cb);
/* Is any under way? */
bool requests_any(void);
/* Until none of that number is under way. */
void requests_settle_of(int fd);
/*
 * Until one of ours has ended, at most until that time (clock_now()); moves them
 * on.  True: a handler of a signal ran, or another thread ends the program or makes
 * another one of it.
 */
bool requests_wait(uint64_t until);
/* AIO_CANCELED, AIO_NOTCANCELED, AIO_ALLDONE, or -1: cb is of another descriptor; cb NULL:
 * all of fd. */
int request_cancel(int fd, const struct aiocb *cb);

#endif
