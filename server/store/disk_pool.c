/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk_pool.c - the queues, and the keeper thread that calls disk_queue_replace_stuck().  The
 * keeper sleeps while no work has to wait.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "server/store/disk_pool.h"
#include "server/store/disk_queue.h"

#define LOOK_MS (DISK_QUEUE_STUCK_MS / 2)

struct disk_client {
	atomic_uint refs; /* of the owner, of each work and of each wait */
	struct disk_client_queue {
		struct fair_queue_client turn; /* under the queue's lock */
		struct disk_client *client;
	} queue[DISK_WORK_KINDS];
};

struct disk_pool {
	struct disk_queue queue[DISK_WORK_KINDS];
	struct disk_client *own;
	pthread_mutex_t lock; /* of the fields below */
	pthread_cond_t wake;
	bool stop;
	/*
	 * work may be waiting, so keeper calls disk_queue_replace_stuck(); set with the lock held
	 */
	atomic_bool called;
	bool has_keeper; /* the keeper thread was started */
	pthread_t keeper;
};

struct disk_client *disk_client_new(void)
{
	struct disk_client *client = malloc(sizeof(*client));

	if (!client)
		return NULL;
	atomic_init(&client->refs, 1);
	for (int i = 0; i < DISK_WORK_KINDS; i++) {
		fair_queue_client_init(&client->queue[i].turn);
		client->queue[i].client = client;
	}
	return client;
}

struct disk_client *disk_client_ref(struct disk_client *client)
{
	atomic_fetch_add_explicit(&client->refs, 1, memory_order_relaxed);
	return client;
}

void disk_client_put(struct disk_client *client)
{
	if (client && atomic_fetch_sub(&client->refs, 1) == 1)
		free(client);
}

static void run_item(struct fair_queue_item *item)
{
	struct disk_work *work = container_of(item, struct disk_work, item);

	work->run(work);
}

static void on_item_complete(struct fair_queue_client *turn)
{
	disk_client_put(
		container_of(turn, struct disk_client_queue, turn)->client);
}

static bool replace_stuck_threads(struct disk_pool *pool)
{
	bool waits = false;

	for (int i = 0; i < DISK_WORK_KINDS; i++)
		waits |= disk_queue_replace_stuck(&pool->queue[i]);
	return waits;
}

static void sleep_ms(struct disk_pool *pool, unsigned int ms)
{
	struct timespec ts = clock_timespec(clock_after_ms(ms));

	pthread_cond_timedwait(&pool->wake, &pool->lock, &ts);
}

static void *keeper_main(void *arg)
{
	struct disk_pool *pool = arg;

	pthread_mutex_lock(&pool->lock);
	while (!pool->stop) {
		if (!atomic_load(&pool->called)) {
			pthread_cond_wait(&pool->wake, &pool->lock);
			continue;
		}
		sleep_ms(pool, LOOK_MS);
		/* before replace_stuck_threads(), so that no call_keeper() is lost */
		atomic_store(&pool->called, false);
		if (replace_stuck_threads(pool))
			atomic_store(&pool->called, true);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

static void call_keeper(struct disk_pool *pool)
{
	if (atomic_load(&pool->called))
		return;
	pthread_mutex_lock(&pool->lock);
	atomic_store(&pool->called, true);
	pthread_cond_signal(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
}

/* Most DISK_CHANGE work comes from the manager, on behalf of many clients.  So one client of
 * this kind may use half of all threads. */
static unsigned int share_of(enum disk_work_kind kind, unsigned int base)
{
	return kind == DISK_CHANGE ? DISK_QUEUE_THREADS / 2 : base;
}

static int open_queues(struct disk_pool *pool, unsigned int nthreads)
{
	int first = 0;

	for (int i = 0; i < DISK_WORK_KINDS; i++) {
		unsigned int base = i == DISK_CONTROL && nthreads ? 1
								  : nthreads;
		int rc;

		pool->queue[i].run = run_item;
		pool->queue[i].over = on_item_complete;
		rc = disk_queue_open(&pool->queue[i], base,
				     share_of((enum disk_work_kind)i, base));
		first = first ? first : rc;
	}
	return first;
}

static int start_keeper(struct disk_pool *pool)
{
	int rc = -pthread_create(&pool->keeper, NULL, keeper_main, pool);

	pool->has_keeper = !rc;
	return rc;
}

static void init_locks(struct disk_pool *pool)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->wake, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&pool->lock, NULL);
}

int disk_pool_open(unsigned int nthreads, struct disk_pool **out)
{
	struct disk_pool *pool = calloc(1, sizeof(*pool));
	int rc;

	if (!pool)
		return -ENOMEM;
	init_locks(pool);
	rc = open_queues(pool, nthreads);
	pool->own = disk_client_new();
	if (!pool->own)
		rc = -ENOMEM;
	if (!rc && nthreads)
		rc = start_keeper(pool);
	if (rc)
		disk_pool_close(pool);
	else
		*out = pool;
	return rc;
}

static void stop_keeper(struct disk_pool *pool)
{
	if (!pool->has_keeper)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pthread_cond_signal(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
	pthread_join(pool->keeper, NULL);
	pool->has_keeper = false;
}

void disk_pool_stop(struct disk_pool *pool)
{
	for (int i = 0; i < DISK_WORK_KINDS; i++)
		disk_queue_stop(&pool->queue[i]);
	stop_keeper(pool);
}

void disk_pool_close(struct disk_pool *pool)
{
	disk_pool_stop(pool);
	for (int i = 0; i < DISK_WORK_KINDS; i++)
		disk_queue_close(&pool->queue[i]);
	disk_client_put(pool->own);
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->wake);
	free(pool);
}

void disk_pool_queue_use(struct disk_pool *pool, enum disk_work_kind kind,
			 struct disk_queue_use *use)
{
	disk_queue_use(&pool->queue[kind], use);
}

const struct timing *disk_pool_wait_times(const struct disk_pool *pool,
					  enum disk_work_kind kind)
{
	return &pool->queue[kind].waited;
}

void disk_pool_run(struct disk_pool *pool, struct disk_client *client,
		   enum disk_work_kind kind, struct disk_work *work)
{
	if (!client)
		client = pool->own;
	disk_client_ref(client);
	if (disk_queue_put(&pool->queue[kind], &client->queue[kind].turn,
			   &work->item))
		call_keeper(pool);
}
