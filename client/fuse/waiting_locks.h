/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waiting_locks.h - lock requests that wait because others hold the lock.  One thread
 * asks the manager for all of them at once (LOCK_ANY).  FUSE_INTERRUPT ends a wait: the
 * manager forgets the request before the process gets the reply.
 */
#ifndef WAITING_LOCKS_H
#define WAITING_LOCKS_H

#include "client/fuse/call.h"

/* Waiting requests; more fail with ENOLCK. */
#define WAITING_LOCKS_MAX 4096u

struct waiting_locks;

/* Starts the thread.  Returns NULL if memory or threads are short. */
struct waiting_locks *waiting_locks_new(struct fuse_daemon *d);
/*
 * Ends the waiting requests with -EINTR, so it must be called while replies are still
 * possible.  Waits for the thread.
 */
void waiting_locks_free(struct waiting_locks *ws);

/* Answers c with rc, when its wait has ended.  0: f has the lock. */
typedef void waiting_lock_end_fn(const struct call *c, struct file *f, int rc);

/*
 * Waits for the lock want on f, for c.  Returns 0: end(c, f, rc) is called once, by
 * the thread, when the lock is granted, or when the wait fails or is interrupted.
 * Returns -ENOLCK: too many requests wait; end() is not called.  session: the one in
 * which the lock was not free.
 */
int waiting_locks_add(const struct call *c, struct file *f,
		      const struct mgr_lock *want, uint64_t session,
		      waiting_lock_end_fn *end);

#endif
