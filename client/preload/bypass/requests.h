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
 * Starts the transfer of cb, and adds it to group (may be NULL).  Returns false if nothing was
 * started: the caller then passes the request to libc.
 */
bool requests_transfer(struct aiocb *cb, bool write,
		       struct notify_group *group);
/* Starts an fsync() after all requests in flight on cb's descriptor.  False: libc must do it. */
bool requests_sync(struct aiocb *cb, int op);

/* Waits until no request of the descriptor is in flight. */
void requests_settle_fd(int fd);

#endif
