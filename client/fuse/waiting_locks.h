/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waiting_locks.h - lock requests that wait because others hold the lock.  One thread asks the
 * manager for all of them at once.  FUSE_INTERRUPT ends a wait: the manager forgets the
 * request before the process gets the reply.
 */
#ifndef WAITING_LOCKS_H
#define WAITING_LOCKS_H

#include "client/fuse/call.h"

/* Waiting requests; more fail with ENOLCK. */
#define WAITING_LOCKS_MAX 4096u

struct waiting_locks;

/* Starts the thread.  NULL: out of resources. */
struct waiting_locks *waiting_locks_new(struct fsd *d);
/*
 * Call it while replies are still possible: it answers the waiting requests with EINTR.
 */
void waiting_locks_free(struct waiting_locks *ws);

/*
 * Waits for want.  0: c is answered when want is granted, or when the wait ends
 * otherwise.  -ENOLCK: too many waiting requests; c is not answered.  session: where
 * the lock was not free.
 */
int waiting_locks_add(const struct call *c, struct file *f,
		      const struct mgr_lock *want, uint64_t session);

#endif
