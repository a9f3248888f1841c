/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.h - lock requests that wait because others hold the lock.  One thread asks the
 * manager for all of them at once.  FUSE_INTERRUPT ends a wait: the manager forgets the
 * request before the process gets the reply.
 */
#ifndef WAITS_H
#define WAITS_H

#include "client/fuse/call.h"

/* Waiting requests; more fail with ENOLCK. */
#define WAITS_MAX 4096u

struct waits;

/* Starts the thread.  NULL: out of resources. */
struct waits *waits_new(struct fsd *d);
/*
 * Call it while replies are still possible: it answers the waiting requests with EINTR.
 */
void waits_free(struct waits *ws);

/*
 * Waits for want.  0: c is answered when want is granted, or when the wait ends
 * otherwise.  -ENOLCK: too many waiting requests; c is not answered.  session: where
 * the lock was not free.
 */
int waits_begin(const struct call *c, struct file *f,
		const struct mgr_lock *want, uint64_t session);

#endif
