/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_pool.c - the lanes, and the keeper thread that calls lane_look().  The keeper sleeps
 * while no work has to wait.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "server/store/sync_pool_int.h"

#define LOOK_MS (LANE_STUCK_MS / 2)

struct sync_client *sync_client_new(void)
{
	struct sync_client *client = malloc(sizeof(*client));

	if (!client)
		return NULL;
	atomic_init(&client->refs, 1);
	for (int i = 0; i < SYNC_KINDS; i++) {
		fairq_client_init(&client->lane[i].turn);
		client->lane[i].client = client;
	}
	return client;
}

struct sync_client *sync_client_ref(struct sync_client *client)
{
	atomic_fetch_add_explicit(&client->refs, 1, memory_order_relaxed);
	return client;
}

void sync_client_put(struct sync_client *client)
{
	if (client && atomic_fetch_sub(&client->refs, 1) == 1)
		free(client);
}

static void item_run(struct fairq_item *item)
{
	struct sync_work *work = container_of(item, struct sync_work, item);

	work->run(work);
}

static void item_over(struct fairq_client *turn)
{
	sync_client_put(
		container_of(turn, struct sync_client_lane, turn)->client);
}

static bool look(struct sync_pool *pool)
{
	bool waits = false;

	for (int i = 0; i < SYNC_KINDS; i++)
		waits |= lane_look(&pool->lane[i]);
	return waits;
}

static void sleep_ms(struct sync_pool *pool, unsigned int ms)
{
	struct timespec ts = clock_timespec(clock_after_ms(ms));

	pthread_cond_timedwait(&pool->call, &pool->lock, &ts);
}

static void *keep(void *arg)
{
	struct sync_pool *pool = arg;

	pthread_mutex_lock(&pool->lock);
	while (!pool->stop) {
		if (!atomic_load(&pool->watched)) {
			pthread_cond_wait(&pool->call, &pool->lock);
			continue;
		}
		sleep_ms(pool, LOOK_MS);
		/* before look(), so that no watch() is lost */
		atomic_store(&pool->watched, false);
		if (look(pool))
			atomic_store(&pool->watched, true);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

static void watch(struct sync_pool *pool)
{
	if (atomic_load(&pool->watched))
		return;
	pthread_mutex_lock(&pool->lock);
	atomic_store(&pool->watched, true);
	pthread_cond_signal(&pool->call);
	pthread_mutex_unlock(&pool->lock);
}

/* Most SYNC_CHANGE work comes from the manager, on behalf of many clients.  So one client of
 * this kind may use half of all threads. */
static unsigned int share_of(enum sync_kind kind, unsigned int base)
{
	return kind == SYNC_CHANGE ? LANE_MOST / 2 : base;
}

static int open_lanes(struct sync_pool *pool, unsigned int nthreads)
{
	int first = 0;

	for (int i = 0; i < SYNC_KINDS; i++) {
		unsigned int base = i == SYNC_CONTROL && nthreads ? 1
								  : nthreads;
		int rc;

		pool->lane[i].run = item_run;
		pool->lane[i].over = item_over;
		rc = lane_open(&pool->lane[i], base,
			       share_of((enum sync_kind)i, base));
		first = first ? first : rc;
	}
	return first;
}

static int start_keeper(struct sync_pool *pool)
{
	int rc = -pthread_create(&pool->keeper, NULL, keep, pool);

	pool->keeps = !rc;
	return rc;
}

static void init_locks(struct sync_pool *pool)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->call, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_mutex_init(&pool->groups, NULL);
}

int sync_pool_open(unsigned int nthreads, struct sync_pool **out)
{
	struct sync_pool *pool = calloc(1, sizeof(*pool));
	int rc;

	if (!pool)
		return -ENOMEM;
	init_locks(pool);
	rc = open_lanes(pool, nthreads);
	pool->own = sync_client_new();
	if (!pool->own)
		rc = -ENOMEM;
	if (!rc && nthreads)
		rc = start_keeper(pool);
	if (rc)
		sync_pool_close(pool);
	else
		*out = pool;
	return rc;
}

static void stop_keeper(struct sync_pool *pool)
{
	if (!pool->keeps)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pthread_cond_signal(&pool->call);
	pthread_mutex_unlock(&pool->lock);
	pthread_join(pool->keeper, NULL);
	pool->keeps = false;
}

void sync_pool_stop(struct sync_pool *pool)
{
	for (int i = 0; i < SYNC_KINDS; i++)
		lane_stop(&pool->lane[i]);
	stop_keeper(pool);
}

void sync_pool_close(struct sync_pool *pool)
{
	sync_pool_stop(pool);
	for (int i = 0; i < SYNC_KINDS; i++)
		lane_close(&pool->lane[i]);
	sync_client_put(pool->own);
	pthread_mutex_destroy(&pool->groups);
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->call);
	free(pool);
}

void sync_pool_use(struct sync_pool *pool, enum sync_kind kind,
		   struct lane_use *use)
{
	lane_use(&pool->lane[kind], use);
}

const struct timing *sync_pool_waited(const struct sync_pool *pool,
				      enum sync_kind kind)
{
	return &pool->lane[kind].waited;
}

const struct timing *sync_pool_flushed(const struct sync_pool *pool)
{
	return &pool->flushed;
}

void sync_pool_run(struct sync_pool *pool, struct sync_client *client,
		   enum sync_kind kind, struct sync_work *work)
{
	if (!client)
		client = pool->own;
	sync_client_ref(client);
	if (lane_put(&pool->lane[kind], &client->lane[kind].turn, &work->item))
		watch(pool);
}
