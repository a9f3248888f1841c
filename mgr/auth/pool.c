/* SPDX-License-Identifier: BSD-2-Clause */
/* pool.c - threads for work that can block. */
#include "mgr/auth/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

STAILQ_HEAD(pool_jobs, pool_job);

/* Freed when the last thread has left. */
struct pool {
	pthread_mutex_t lock; /* of all */
	pthread_cond_t more;
	unsigned int refs; /* threads, and the owner */
	unsigned int jobs, max; /* added and not collected yet */
	bool closed;
	struct pool_jobs todo, done;
	void (*wake)(void *arg);
	void *arg;
};

/* With the lock, which it releases. */
static void leave_pool(struct pool *pool)
{
	bool last = !--pool->refs;

	pthread_mutex_unlock(&pool->lock);
	if (!last)
		return;
	pthread_cond_destroy(&pool->more);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

static void drop_all(struct pool_jobs *jobs)
{
	struct pool_job *job;

	while ((job = STAILQ_FIRST(jobs))) {
		STAILQ_REMOVE_HEAD(jobs, link);
		job->drop(job);
	}
}

/* With the lock, which it releases during the work. */
static void run_one(struct pool *pool)
{
	struct pool_job *job = STAILQ_FIRST(&pool->todo);

	STAILQ_REMOVE_HEAD(&pool->todo, link);
	pthread_mutex_unlock(&pool->lock);
	job->work(job);
	pthread_mutex_lock(&pool->lock);
	if (pool->closed) {
		job->drop(job);
		return;
	}
	STAILQ_INSERT_TAIL(&pool->done, job, link);
	pool->wake(pool->arg);
}

static void *thread_main(void *arg)
{
	struct pool *pool = arg;

	pthread_mutex_lock(&pool->lock);
	while (!pool->closed) {
		if (STAILQ_EMPTY(&pool->todo))
			pthread_cond_wait(&pool->more, &pool->lock);
		else
			run_one(pool);
	}
	leave_pool(pool);
	return NULL;
}

static int start_thread(struct pool *pool)
{
	pthread_t thread;
	int rc;

	pool->refs++;
	rc = -pthread_create(&thread, NULL, thread_main, pool);
	if (rc)
		pool->refs--;
	else
		pthread_detach(thread);
	return rc;
}

int pool_open(unsigned int threads, unsigned int jobs, void (*wake)(void *arg),
	      void *arg, struct pool **out)
{
	struct pool *pool = calloc(1, sizeof(*pool));
	int rc = 0;

	if (!pool)
		return -ENOMEM;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->more, NULL);
	STAILQ_INIT(&pool->todo);
	STAILQ_INIT(&pool->done);
	pool->refs = 1;
	pool->max = jobs;
	pool->wake = wake;
	pool->arg = arg;
	pthread_mutex_lock(&pool->lock);
	while (!rc && threads--)
		rc = start_thread(pool);
	pthread_mutex_unlock(&pool->lock);
	if (rc)
		pool_close(pool);
	else
		*out = pool;
	return rc;
}

void pool_close(struct pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->closed = true;
	drop_all(&pool->todo);
	drop_all(&pool->done);
	pthread_cond_broadcast(&pool->more);
	leave_pool(pool);
}

int pool_add(struct pool *pool, struct pool_job *job)
{
	int rc = 0;

	pthread_mutex_lock(&pool->lock);
	if (pool->jobs == pool->max) {
		rc = -EAGAIN;
	} else {
		pool->jobs++;
		STAILQ_INSERT_TAIL(&pool->todo, job, link);
		pthread_cond_signal(&pool->more);
	}
	pthread_mutex_unlock(&pool->lock);
	return rc;
}

struct pool_job *pool_collect(struct pool *pool)
{
	struct pool_job *job;

	pthread_mutex_lock(&pool->lock);
	job = STAILQ_FIRST(&pool->done);
	if (job) {
		STAILQ_REMOVE_HEAD(&pool->done, link);
		pool->jobs--;
	}
	pthread_mutex_unlock(&pool->lock);
	return job;
}
