/* SPDX-License-Identifier: BSD-2-Clause */
/* sync_pool.c - threads that wait for the disk. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "container.h"
#include "fdcache.h"
#include "store.h"
#include "sync_pool.h"

#define STACK_SIZE (256u * 1024)

struct sync_pool {
	pthread_mutex_t lock;
	pthread_cond_t more;
	STAILQ_HEAD(, sync_work) queue; /* lock */
	bool stop; /* lock */
	unsigned int nthreads;
	pthread_t threads[];
};

static void *pool_thread(void *arg)
{
	struct sync_pool *pool = arg;
	struct sync_work *work;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		work = STAILQ_FIRST(&pool->queue);
		if (work) {
			STAILQ_REMOVE_HEAD(&pool->queue, link);
			pthread_mutex_unlock(&pool->lock);
			work->run(work);
			pthread_mutex_lock(&pool->lock);
		} else if (pool->stop) {
			break;
		} else {
			pthread_cond_wait(&pool->more, &pool->lock);
		}
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

int sync_pool_open(unsigned int nthreads, struct sync_pool **out)
{
	struct sync_pool *pool;
	pthread_attr_t attr;
	int rc = 0;

	pool = calloc(1, sizeof(*pool) + nthreads * sizeof(pool->threads[0]));
	if (!pool)
		return -ENOMEM;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->more, NULL);
	STAILQ_INIT(&pool->queue);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	while (!rc && pool->nthreads < nthreads) {
		rc = -pthread_create(&pool->threads[pool->nthreads], &attr,
				     pool_thread, pool);
		if (!rc)
			pool->nthreads++;
	}
	pthread_attr_destroy(&attr);
	if (rc)
		sync_pool_close(pool);
	else
		*out = pool;
	return rc;
}

void sync_pool_stop(struct sync_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pthread_cond_broadcast(&pool->more);
	pthread_mutex_unlock(&pool->lock);
	while (pool->nthreads)
		pthread_join(pool->threads[--pool->nthreads], NULL);
}

void sync_pool_close(struct sync_pool *pool)
{
	sync_pool_stop(pool);
	pthread_cond_destroy(&pool->more);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

/* With the lock held. */
static void enqueue(struct sync_pool *pool, struct sync_work *work)
{
	STAILQ_INSERT_TAIL(&pool->queue, work, link);
	pthread_cond_signal(&pool->more);
}

/* Without threads the caller does it. */
static void run_stopped(struct sync_pool *pool)
{
	struct sync_work *work;

	if (pool->nthreads)
		return;
	while ((work = STAILQ_FIRST(&pool->queue))) {
		STAILQ_REMOVE_HEAD(&pool->queue, link);
		work->run(work);
	}
}

void sync_pool_run(struct sync_pool *pool, struct sync_work *work)
{
	pthread_mutex_lock(&pool->lock);
	enqueue(pool, work);
	pthread_mutex_unlock(&pool->lock);
	run_stopped(pool);
}

/* One flush for all that wait now; those who come meanwhile need another. */
static void group_run(struct sync_work *work)
{
	struct sync_group *group = (struct sync_group *)work;
	struct store_obj *obj = container_of(group, struct store_obj, group);
	struct sync_waits waits = STAILQ_HEAD_INITIALIZER(waits);
	struct sync_pool *pool = group->pool;
	struct sync_wait *wait;
	bool again;
	int status;

	pthread_mutex_lock(&pool->lock);
	STAILQ_CONCAT(&waits, &group->waits);
	pthread_mutex_unlock(&pool->lock);

	status = store_obj_sync(obj);
	while ((wait = STAILQ_FIRST(&waits))) {
		STAILQ_REMOVE_HEAD(&waits, link);
		wait->done(wait, status);
	}

	pthread_mutex_lock(&pool->lock);
	again = !STAILQ_EMPTY(&group->waits);
	if (again)
		enqueue(pool, work);
	else
		group->busy = false;
	pthread_mutex_unlock(&pool->lock);
	if (!again)
		store_obj_put(obj);
}

void sync_group_init(struct sync_group *group)
{
	group->work.run = group_run;
	group->busy = false;
	STAILQ_INIT(&group->waits);
}

void sync_pool_flush(struct sync_pool *pool, struct store_obj *obj,
		     struct sync_wait *wait)
{
	struct sync_group *group = &obj->group;

	pthread_mutex_lock(&pool->lock);
	STAILQ_INSERT_TAIL(&group->waits, wait, link);
	if (!group->busy) {
		group->busy = true;
		group->pool = pool;
		store_obj_ref(obj);
		enqueue(pool, &group->work);
	}
	pthread_mutex_unlock(&pool->lock);
	run_stopped(pool);
}
