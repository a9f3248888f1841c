/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool.h - a few threads for calls that can block: of the name service and of munged.  A call
 * that never returns blocks only its thread.
 *
 * pool_add() and pool_collect() may be called from any thread.
 */
#ifndef POOL_H
#define POOL_H

#include <sys/queue.h>

struct pool;

/* Owned by the pool from pool_add() to pool_collect(). */
struct pool_job {
	/* In a thread of the pool.  It touches only the job, because the pool's owner can be
	 * closed before it returns. */
	void (*work)(struct pool_job *job);
	/* For the caller of pool_collect(), after work(). */
	void (*done)(struct pool_job *job);
	/* Frees a job that is not collected because the pool is closed.  In any thread. */
	void (*drop)(struct pool_job *job);
	STAILQ_ENTRY(pool_job) link;
};

/*
 * Starts this number of threads for at most this number of jobs.  wake(arg): a job can be
 * collected; called from a thread of the pool, with its lock held.  -ENOMEM, -EAGAIN.
 */
int pool_open(unsigned int threads, unsigned int jobs, void (*wake)(void *arg),
	      void *arg, struct pool **pool);
/* Does not wait: a thread that is inside work() ends after it.  NULL: nothing happens. */
void pool_close(struct pool *pool);
/* -EAGAIN: too many jobs; the job stays the caller's. */
int pool_add(struct pool *pool, struct pool_job *job);
/* A job whose work() has returned, which is the caller's again; or NULL. */
struct pool_job *pool_collect(struct pool *pool);

#endif
