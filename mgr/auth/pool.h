/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool.h - a few threads for what may take long outside of this program: the name
 * service, munged.  What they never finish holds up nobody but them.
 */
#ifndef POOL_H
#define POOL_H

#include <sys/queue.h>

struct pool;

/* Owned by the pool from pool_add() to pool_collect(). */
struct pool_job {
	/* In a thread of the pool: it touches nothing but the job, for the pool
	 * may be gone when it ends. */
	void (*work)(struct pool_job *job);
	/* Behind it: the owner's, for who collects it. */
	void (*done)(struct pool_job *job);
	/* Frees one that nobody collects any more; in any thread. */
	void (*drop)(struct pool_job *job);
	STAILQ_ENTRY(pool_job) link;
};

/*
 * So many threads, and so many jobs at a time.  woken(arg): there is something to
 * collect; from a thread of the pool.  -ENOMEM, -EAGAIN
 */
int pool_open(unsigned int threads, unsigned int jobs, void (*woken)(void *arg),
	      void *arg, struct pool **pool);
/* Never waits: a thread that is at work goes when it is done.  NULL is fine. */
void pool_close(struct pool *pool);
/* -EAGAIN: there are too many */
int pool_add(struct pool *pool, struct pool_job *job);
/* One that is done, the caller's again; or NULL. */
struct pool_job *pool_collect(struct pool *pool);

#endif
