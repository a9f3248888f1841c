/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requests.h - POSIX asynchronous requests that bypass the mount (request_queue.h).  The
 * result is stored in the control block, like libc's.  So aio_error() and aio_return()
 * work for both.
 */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <aio.h>
#include <stdbool.h>

#include "client/preload/bypass/notify.h"

/*
 * Begins cb's transfer.  group counts it, or is NULL.  False: nothing was done, and libc
 * must execute it.
 */
bool requests_transfer(struct aiocb *cb, bool write,
		       struct notify_group *group);
/* The same for an fsync() after all requests in flight on cb's descriptor. */
bool requests_sync(struct aiocb *cb, int op);

/* Waits until no request of the descriptor is in flight. */
void requests_settle_fd(int fd);

#endif
