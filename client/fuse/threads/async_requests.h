/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async_requests.h - kernel requests that are in flight without a thread.
 *
 * If as many programs send requests as there are processors (poll_policy.h), the listening thread
 * starts each request as a coroutine (coroutine.h), reads the next request, and drives all
 * coroutines.  So no thread is woken to listen, or for a reply that another thread received.  Only
 * requests about names and attributes run this way.  Transfers use a buffer of their thread, and
 * readers of a directory wait for each other with a mutex.
 *
 * 	listens | starts a LOOKUP | starts a CREATE | drives, answers both | listens
 */
#ifndef ASYNC_REQUESTS_H
#define ASYNC_REQUESTS_H

#include <stdbool.h>

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "client/lib/file/fs.h"

struct async_requests;

/* max: limit of concurrent requests.  Returns 0, -ENOMEM or -errno. */
int async_requests_new(struct fuse_session *se, struct fs *fs, unsigned int max,
		       struct async_requests **out);
/* Waits for the running requests. */
void async_requests_free(struct async_requests *a);

/*
 * Starts the request with a copy of it.  Returns false if the request does not suit, or
 * if too many run.  It is sent immediately, or by drive_kick_put(*batch) after the last
 * of a series.
 */
bool async_requests_start(struct async_requests *a,
			  const struct fuse_buf *request, struct drive **batch);
/* Returns true if some requests are running. */
bool async_requests_running(const struct async_requests *a);
/*
 * Drives the requests.  Sleeps until there may be more to do, one of the n descriptors
 * is readable, or ms have passed (-1: no limit).  Returns false if ms have passed.  Only
 * one thread at a time may call it.
 */
bool async_requests_wait(struct async_requests *a, const int *fd,
			 unsigned int n, int ms);

#endif
