/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_group.c - one flush for all requests that wait for a flush of the same object.  It takes
 * the turn of the client that has waited longest.
 */
#include "common/util/clock.h"
#include "common/util/container.h"
#include "server/store/fdcache.h"
#include "server/store/store.h"
#include "server/store/sync_pool_int.h"

static void take_waits(struct sync_group *group, struct sync_waits *waits)
{
	pthread_mutex_lock(&group->pool->groups);
	STAILQ_CONCAT(waits, &group->waits);
	pthread_mutex_unlock(&group->pool->groups);
}

static void answer(struct sync_waits *waits, int status)
{
	struct sync_client *client;
	struct sync_wait *wait;

	while ((wait = STAILQ_FIRST(waits))) {
		STAILQ_REMOVE_HEAD(waits, link);
		client = wait->client;
		wait->done(wait, status);
		sync_client_put(client);
	}
}

/* The client whose turn the next flush takes; NULL: no request waits. */
static struct sync_client *next_client(struct sync_group *group)
{
	struct sync_client *client = NULL;
	struct sync_wait *wait;

	pthread_mutex_lock(&group->pool->groups);
	wait = STAILQ_FIRST(&group->waits);
	if (wait)
		client = sync_client_ref(wait->client);
	else
		group->busy = false;
	pthread_mutex_unlock(&group->pool->groups);
	return client;
}

/* The kernel reports an error to one flush only, so no two flushes of an object run
 * concurrently. */
static int flush(struct store_obj *obj, const struct sync_waits *waits)
{
	const struct sync_wait *wait;

	STAILQ_FOREACH(wait, waits, link)
		if (!wait->data_only)
			return store_obj_sync(obj);
	return store_obj_write_out(obj);
}

static int timed_flush(struct sync_pool *pool, struct store_obj *obj,
		       const struct sync_waits *waits)
{
	uint64_t start = clock_now();
	int rc = flush(obj, waits);

	timing_add(&pool->flushed, clock_now() - start, 0, rc);
	return rc;
}

/* Requests that arrive during the flush need another one. */
static void group_run(struct sync_work *work)
{
	struct sync_group *group = container_of(work, struct sync_group, work);
	struct store_obj *obj = container_of(group, struct store_obj, group);
	struct sync_waits waits = STAILQ_HEAD_INITIALIZER(waits);
	struct sync_client *next;

	take_waits(group, &waits);
	answer(&waits, timed_flush(group->pool, obj, &waits));
	next = next_client(group);
	if (next) {
		sync_pool_run(group->pool, next, SYNC_FLUSH, work);
		sync_client_put(next);
	} else {
		store_obj_put(obj);
	}
}

void sync_group_init(struct sync_group *group)
{
	group->work.run = group_run;
	group->busy = false;
	STAILQ_INIT(&group->waits);
}

static void join(struct sync_pool *pool, struct sync_client *client,
		 struct store_obj *obj, struct sync_wait *wait)
{
	struct sync_group *group = &obj->group;
	bool busy;

	wait->client = sync_client_ref(client);
	pthread_mutex_lock(&pool->groups);
	STAILQ_INSERT_TAIL(&group->waits, wait, link);
	busy = group->busy;
	group->busy = true;
	if (!busy)
		group->pool = pool; /* otherwise a pool thread is reading it */
	pthread_mutex_unlock(&pool->groups);
	if (busy)
		return;
	store_obj_ref(obj);
	sync_pool_run(pool, client, SYNC_FLUSH, &group->work);
}

void sync_pool_flush(struct sync_pool *pool, struct sync_client *client,
		     struct store_obj *obj, struct sync_wait *wait)
{
	wait->data_only = false;
	join(pool, client ? client : pool->own, obj, wait);
}

void sync_pool_write_out(struct sync_pool *pool, struct store_obj *obj,
			 struct sync_wait *wait)
{
	wait->data_only = true;
	join(pool, pool->own, obj, wait);
}
