/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool.h - a few threads for calls of the name service and of munged, which can block. A call that
 * never returns blocks only its thread.
 *
 * pool_add() and pool_collect() may be called from any thread.
 */
#ifndef POOL_H
#define POOL_H

#include <sys/queue.h>

struct pool;

/* The pool owns a job from pool_add() to pool_collect(). */
struct pool_job {
	/*
	 * Called in a thread of the pool. It must access only the job, because the pool's owner can
	 * be closed before work() returns.
	 */
	void (*work)(struct pool_job *job);
	/* The caller of pool_collect() calls it, after work(). */
	void (*done)(struct pool_job *job);
	/* Frees a job that is not collected because the pool is closed. Called in any thread. */
	void (*drop)(struct pool_job *job);
	STAILQ_ENTRY(pool_job) link;
};

/*
 * Starts this number of threads for at most this number of jobs. wake(arg) is called when a job can
 * be collected, from a thread of the pool, with the pool's lock held. Returns 0, -ENOMEM or
 * -EAGAIN.
 */
int pool_open(unsigned int threads, unsigned int jobs, void (*wake)(void *arg),
	      void *arg, struct pool **pool);
/* Does not wait: a thread that is inside work() ends after work() returns. pool may be NULL. */
void pool_close(struct pool *pool);
/* Returns 0, or -EAGAIN if there are too many jobs: then the caller still owns the job. */
int pool_add(struct pool *pool, struct pool_job *job);
/* Returns a job whose work() has returned, which the caller now owns again, or NULL. */
struct pool_job *pool_collect(struct pool *pool);

#endif
