/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk_pool.c - the queues of works, one for each kind, and their threads.
 *
 * Only a few threads of a queue work at a time, because more would not make a disk faster.  A
 * thread that needs more than DISK_QUEUE_STUCK_MS for one work counts as stuck.  The keeper thread
 * then starts another thread, up to DISK_QUEUE_THREADS in all.  So a work that hangs delays the
 * others only by that time.  The last half of the threads serves only clients that have no other
 * work running.  While no work has to wait, the keeper sleeps.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "server/store/disk_pool.h"

#define DISK_QUEUE_STUCK_MS 100u
#define LOOK_MS (DISK_QUEUE_STUCK_MS / 2)
#define STACK_SIZE (256u * 1024)
#define STUCK_NS (DISK_QUEUE_STUCK_MS * CLOCK_NS_PER_MS)

struct disk_client {
	atomic_uint refs; /* of the owner, of each work and of each wait */
	struct disk_client_queue {
		struct fair_queue_client turn; /* under the queue's lock */
		struct disk_client *client;
	} queue[DISK_WORK_KINDS];
};

struct disk_queue_thread {
	struct disk_queue *queue;
	pthread_t thread;
	enum { DISK_THREAD_NONE, DISK_THREAD_RUNS, DISK_THREAD_ENDED } state;
	uint64_t began; /* when its work began, clock_now(); 0: it has none */
	bool stuck;
};

struct disk_queue {
	pthread_mutex_t lock; /* of all fields below */
	pthread_cond_t more, ended;
	struct fair_queue items;
	/* threads that work at a time; 0: the caller of queue_put() works */
	unsigned int base;
	unsigned int threads, stuck, busy;
	/* threads asleep; threads woken and not yet running */
	unsigned int idle, wakes;
	/* works in the queue, now and at most so far */
	unsigned int waiting, most;
	/* time in the queue until a thread began; needs no lock */
	struct timing waited;
	bool stop;
	struct disk_queue_thread thread[DISK_QUEUE_THREADS];
};

struct disk_pool {
	struct disk_queue queue[DISK_WORK_KINDS];
	struct disk_client *own;
	pthread_mutex_t lock; /* of the fields below */
	pthread_cond_t wake;
	bool stop;
	/* work may be waiting, so keeper calls queue_replace_stuck(); set with the lock held */
	atomic_bool called;
	bool has_keeper; /* the keeper thread was started */
	pthread_t keeper;
};

/* ---- clients ---- */

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

/* ---- the threads of a queue ---- */

/* Needs the lock, as do all functions below that do not take it. */
static bool may_serve_busy_clients(const struct disk_queue *queue)
{
	return queue->busy < DISK_QUEUE_THREADS / 2;
}

static bool has_work(const struct disk_queue *queue)
{
	return queue->busy < DISK_QUEUE_THREADS &&
	       fair_queue_has_item(&queue->items,
				   may_serve_busy_clients(queue));
}

/* Stuck threads count only towards DISK_QUEUE_THREADS. */
static bool is_surplus(const struct disk_queue *queue)
{
	return queue->threads - queue->stuck > queue->base;
}

static void do_one(struct disk_queue *queue, struct fair_queue_item *item)
{
	struct disk_work *work = container_of(item, struct disk_work, item);
	struct fair_queue_client *turn = item->client;

	queue->busy++;
	queue->waiting--;
	pthread_mutex_unlock(&queue->lock);
	work->run(work); /* may free it, but not its client */
	pthread_mutex_lock(&queue->lock);
	queue->busy--;
	fair_queue_item_done(&queue->items, turn);
	disk_client_put(
		container_of(turn, struct disk_client_queue, turn)->client);
}

static void do_work(struct disk_queue *queue, struct disk_queue_thread *me,
		    struct fair_queue_item *item)
{
	me->began = item->began = clock_now();
	timing_add(&queue->waited, item->began - item->put, 0, false);
	do_one(queue, item);
	me->began = 0;
	if (me->stuck)
		queue->stuck--;
	me->stuck = false;
}

static void wake_one(struct disk_queue *queue)
{
	if (!queue->idle)
		return;
	queue->idle--;
	queue->wakes++;
	pthread_cond_signal(&queue->more);
}

static void sleep_until_called(struct disk_queue *queue)
{
	queue->idle++;
	while (!queue->wakes && !queue->stop)
		pthread_cond_wait(&queue->more, &queue->lock);
	if (queue->wakes)
		queue->wakes--;
	else
		queue->idle--;
}

/* If work is ready, a sleeping thread takes over. */
static void end_thread(struct disk_queue *queue, struct disk_queue_thread *me)
{
	queue->threads--;
	me->state = DISK_THREAD_ENDED;
	if (has_work(queue))
		wake_one(queue);
	pthread_cond_signal(&queue->ended);
}

static void *queue_main(void *arg)
{
	struct disk_queue_thread *me = arg;
	struct disk_queue *queue = me->queue;

	pthread_mutex_lock(&queue->lock);
	while (!is_surplus(queue)) {
		if (has_work(queue))
			do_work(queue, me,
				fair_queue_take(&queue->items,
						may_serve_busy_clients(queue)));
		else if (!queue->stop)
			sleep_until_called(queue);
		else
			break;
	}
	end_thread(queue, me);
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

static struct disk_queue_thread *place_for_one(struct disk_queue *queue)
{
	struct disk_queue_thread *t;

	for (t = queue->thread; t < queue->thread + DISK_QUEUE_THREADS; t++) {
		/* only returns, without the lock */
		if (t->state == DISK_THREAD_ENDED) {
			pthread_join(t->thread, NULL);
			t->state = DISK_THREAD_NONE;
		}
		if (t->state == DISK_THREAD_NONE)
			return t;
	}
	return NULL;
}

static int add_thread(struct disk_queue *queue)
{
	struct disk_queue_thread *t = place_for_one(queue);
	pthread_attr_t attr;
	int rc;

	if (!t)
		return -EAGAIN;
	*t = (struct disk_queue_thread){ .queue = queue };
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	rc = -pthread_create(&t->thread, &attr, queue_main, t);
	pthread_attr_destroy(&attr);
	if (rc)
		return rc;
	t->state = DISK_THREAD_RUNS;
	queue->threads++;
	return 0;
}

/*
 * Opens a queue with up to `base` threads that are not stuck. share: the maximum number of threads
 * that one client may use, including stuck ones.
 */
static int queue_open(struct disk_queue *queue, unsigned int base,
		      unsigned int share)
{
	int rc;

	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->more, NULL);
	pthread_cond_init(&queue->ended, NULL);
	fair_queue_init(&queue->items, share ? share : 1);
	queue->base = base;
	pthread_mutex_lock(&queue->lock);
	rc = base ? add_thread(queue) : 0;
	pthread_mutex_unlock(&queue->lock);
	return rc;
}

/* The caller of queue_put() works, because there is no thread. */
static void do_all_works(struct disk_queue *queue)
{
	while (!queue->threads && has_work(queue))
		do_one(queue, fair_queue_take(&queue->items,
					      may_serve_busy_clients(queue)));
}

static bool wants_thread(const struct disk_queue *queue)
{
	return queue->threads < DISK_QUEUE_THREADS && !queue->idle &&
	       !queue->stop && queue->threads - queue->stuck < queue->base &&
	       has_work(queue);
}

/*
 * Puts the item into the queue, and wakes or creates a thread if one is needed.  Returns true if
 * the work may have to wait for a busy thread; the caller then calls the keeper.
 */
static bool queue_put(struct disk_queue *queue,
		      struct fair_queue_client *client,
		      struct fair_queue_item *item)
{
	bool asleep, wait;

	item->put = clock_now();
	pthread_mutex_lock(&queue->lock);
	fair_queue_put(&queue->items, client, item);
	if (++queue->waiting > queue->most)
		queue->most = queue->waiting;
	asleep = queue->idle;
	wait = queue->threads && !asleep;
	if (asleep)
		wake_one(queue);
	else if (!queue->threads)
		do_all_works(queue);
	else if (wants_thread(queue))
		/* if this fails, a running thread does it later */
		add_thread(queue);
	pthread_mutex_unlock(&queue->lock);
	return wait;
}

static void find_stuck(struct disk_queue *queue, uint64_t now)
{
	struct disk_queue_thread *t;

	for (t = queue->thread; t < queue->thread + DISK_QUEUE_THREADS; t++) {
		if (t->state != DISK_THREAD_RUNS || t->stuck || !t->began ||
		    now < t->began + STUCK_NS)
			continue;
		t->stuck = true;
		queue->stuck++;
	}
}

/* Starts threads in place of the stuck ones.  False: no work is waiting. */
static bool queue_replace_stuck(struct disk_queue *queue)
{
	bool waits;

	pthread_mutex_lock(&queue->lock);
	waits = queue->threads && fair_queue_has_item(&queue->items, true);
	if (waits)
		find_stuck(queue, clock_now());
	while (wants_thread(queue) && !add_thread(queue))
		;
	pthread_mutex_unlock(&queue->lock);
	return waits;
}

static void queue_stop(struct disk_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->stop = true;
	pthread_cond_broadcast(&queue->more);
	while (queue->threads)
		pthread_cond_wait(&queue->ended, &queue->lock);
	pthread_mutex_unlock(&queue->lock);
	for (unsigned int i = 0; i < DISK_QUEUE_THREADS; i++) {
		if (queue->thread[i].state == DISK_THREAD_ENDED)
			pthread_join(queue->thread[i].thread, NULL);
		queue->thread[i].state = DISK_THREAD_NONE;
	}
}

static void queue_close(struct disk_queue *queue)
{
	pthread_cond_destroy(&queue->ended);
	pthread_cond_destroy(&queue->more);
	pthread_mutex_destroy(&queue->lock);
}

/* ---- the keeper ---- */

static bool replace_stuck_threads(struct disk_pool *pool)
{
	bool waits = false;

	for (int i = 0; i < DISK_WORK_KINDS; i++)
		waits |= queue_replace_stuck(&pool->queue[i]);
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

		rc = queue_open(&pool->queue[i], base,
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
		queue_stop(&pool->queue[i]);
	stop_keeper(pool);
}

void disk_pool_close(struct disk_pool *pool)
{
	disk_pool_stop(pool);
	for (int i = 0; i < DISK_WORK_KINDS; i++)
		queue_close(&pool->queue[i]);
	disk_client_put(pool->own);
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->wake);
	free(pool);
}

void disk_pool_queue_use(struct disk_pool *pool, enum disk_work_kind kind,
			 struct disk_queue_use *use)
{
	struct disk_queue *queue = &pool->queue[kind];

	pthread_mutex_lock(&queue->lock);
	*use = (struct disk_queue_use){ .waiting = queue->waiting,
					.most = queue->most,
					.working = queue->busy,
					.stuck = queue->stuck };
	pthread_mutex_unlock(&queue->lock);
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
	if (queue_put(&pool->queue[kind], &client->queue[kind].turn,
		      &work->item))
		call_keeper(pool);
}
