/* SPDX-License-Identifier: BSD-2-Clause */
/* disk_queue.c - the threads of a queue. */
#include <errno.h>

#include "common/util/clock.h"
#include "server/store/disk_queue.h"

#define STACK_SIZE (256u * 1024)
#define STUCK_NS (DISK_QUEUE_STUCK_MS * CLOCK_NS_PER_MS)

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
	struct fair_queue_client *client = item->client;

	queue->busy++;
	queue->waiting--;
	pthread_mutex_unlock(&queue->lock);
	queue->run(item); /* may free the item, but not its client */
	pthread_mutex_lock(&queue->lock);
	queue->busy--;
	fair_queue_item_done(&queue->items, client);
	queue->over(client);
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

static void *disk_queue_main(void *arg)
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
	rc = -pthread_create(&t->thread, &attr, disk_queue_main, t);
	pthread_attr_destroy(&attr);
	if (rc)
		return rc;
	t->state = DISK_THREAD_RUNS;
	queue->threads++;
	return 0;
}

int disk_queue_open(struct disk_queue *queue, unsigned int base,
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

/* The caller of disk_queue_put() works, because there is no thread. */
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

bool disk_queue_put(struct disk_queue *queue, struct fair_queue_client *client,
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

void disk_queue_use(struct disk_queue *queue, struct disk_queue_use *use)
{
	pthread_mutex_lock(&queue->lock);
	*use = (struct disk_queue_use){ .waiting = queue->waiting,
					.most = queue->most,
					.working = queue->busy,
					.stuck = queue->stuck };
	pthread_mutex_unlock(&queue->lock);
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

bool disk_queue_replace_stuck(struct disk_queue *queue)
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

void disk_queue_stop(struct disk_queue *queue)
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

void disk_queue_close(struct disk_queue *queue)
{
	pthread_cond_destroy(&queue->ended);
	pthread_cond_destroy(&queue->more);
	pthread_mutex_destroy(&queue->lock);
}
