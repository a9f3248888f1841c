/* SPDX-License-Identifier: BSD-2-Clause */
/* lane.c - the threads of a lane. */
#include <errno.h>

#include "common/util/clock.h"
#include "server/store/lane.h"

#define STACK_SIZE (256u * 1024)
#define STUCK_NS (LANE_STUCK_MS * CLOCK_NS_PER_MS)

/* Needs the lock, as do all functions below that do not take it. */
static bool may_more(const struct lane *lane)
{
	return lane->busy < LANE_MOST / 2;
}

static bool ready(const struct lane *lane)
{
	return lane->busy < LANE_MOST &&
	       fairq_ready(&lane->queue, may_more(lane));
}

/* Stuck threads count only towards LANE_MOST. */
static bool surplus(const struct lane *lane)
{
	return lane->threads - lane->stuck > lane->base;
}

static void do_one(struct lane *lane, struct fairq_item *item)
{
	struct fairq_client *client = item->client;

	lane->busy++;
	lane->waiting--;
	pthread_mutex_unlock(&lane->lock);
	lane->run(item); /* may free the item, but not its client */
	pthread_mutex_lock(&lane->lock);
	lane->busy--;
	fairq_done(&lane->queue, client);
	lane->over(client);
}

static void work(struct lane *lane, struct lane_thread *me,
		 struct fairq_item *item)
{
	me->began = item->began = clock_now();
	timing_add(&lane->waited, item->began - item->put, 0, false);
	do_one(lane, item);
	me->began = 0;
	if (me->stuck)
		lane->stuck--;
	me->stuck = false;
}

static void wake_one(struct lane *lane)
{
	if (!lane->idle)
		return;
	lane->idle--;
	lane->wakes++;
	pthread_cond_signal(&lane->more);
}

static void sleep_until_called(struct lane *lane)
{
	lane->idle++;
	while (!lane->wakes && !lane->stop)
		pthread_cond_wait(&lane->more, &lane->lock);
	if (lane->wakes)
		lane->wakes--;
	else
		lane->idle--;
}

/* If work is ready, a sleeping thread takes over. */
static void end_thread(struct lane *lane, struct lane_thread *me)
{
	lane->threads--;
	me->state = LANE_OVER;
	if (ready(lane))
		wake_one(lane);
	pthread_cond_signal(&lane->ended);
}

static void *lane_main(void *arg)
{
	struct lane_thread *me = arg;
	struct lane *lane = me->lane;

	pthread_mutex_lock(&lane->lock);
	while (!surplus(lane)) {
		if (ready(lane))
			work(lane, me,
			     fairq_take(&lane->queue, may_more(lane)));
		else if (!lane->stop)
			sleep_until_called(lane);
		else
			break;
	}
	end_thread(lane, me);
	pthread_mutex_unlock(&lane->lock);
	return NULL;
}

static struct lane_thread *place_for_one(struct lane *lane)
{
	struct lane_thread *t;

	for (t = lane->thread; t < lane->thread + LANE_MOST; t++) {
		/* only returns, without the lock */
		if (t->state == LANE_OVER) {
			pthread_join(t->thread, NULL);
			t->state = LANE_NONE;
		}
		if (t->state == LANE_NONE)
			return t;
	}
	return NULL;
}

static int add_thread(struct lane *lane)
{
	struct lane_thread *t = place_for_one(lane);
	pthread_attr_t attr;
	int rc;

	if (!t)
		return -EAGAIN;
	*t = (struct lane_thread){ .lane = lane };
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	rc = -pthread_create(&t->thread, &attr, lane_main, t);
	pthread_attr_destroy(&attr);
	if (rc)
		return rc;
	t->state = LANE_RUNS;
	lane->threads++;
	return 0;
}

int lane_open(struct lane *lane, unsigned int base, unsigned int share)
{
	int rc;

	pthread_mutex_init(&lane->lock, NULL);
	pthread_cond_init(&lane->more, NULL);
	pthread_cond_init(&lane->ended, NULL);
	fairq_init(&lane->queue, share ? share : 1);
	lane->base = base;
	pthread_mutex_lock(&lane->lock);
	rc = base ? add_thread(lane) : 0;
	pthread_mutex_unlock(&lane->lock);
	return rc;
}

/* The caller of lane_put() works, because there is no thread. */
static void do_all(struct lane *lane)
{
	while (!lane->threads && ready(lane))
		do_one(lane, fairq_take(&lane->queue, may_more(lane)));
}

static bool wants_thread(const struct lane *lane)
{
	return lane->threads < LANE_MOST && !lane->idle && !lane->stop &&
	       lane->threads - lane->stuck < lane->base && ready(lane);
}

bool lane_put(struct lane *lane, struct fairq_client *client,
	      struct fairq_item *item)
{
	bool asleep, wait;

	item->put = clock_now();
	pthread_mutex_lock(&lane->lock);
	fairq_put(&lane->queue, client, item);
	if (++lane->waiting > lane->most)
		lane->most = lane->waiting;
	asleep = lane->idle;
	wait = lane->threads && !asleep;
	if (asleep)
		wake_one(lane);
	else if (!lane->threads)
		do_all(lane);
	else if (wants_thread(lane))
		/* if this fails, a running thread does it later */
		add_thread(lane);
	pthread_mutex_unlock(&lane->lock);
	return wait;
}

void lane_use(struct lane *lane, struct lane_use *use)
{
	pthread_mutex_lock(&lane->lock);
	*use = (struct lane_use){ .waiting = lane->waiting,
				  .most = lane->most,
				  .working = lane->busy,
				  .stuck = lane->stuck };
	pthread_mutex_unlock(&lane->lock);
}

static void find_stuck(struct lane *lane, uint64_t now)
{
	struct lane_thread *t;

	for (t = lane->thread; t < lane->thread + LANE_MOST; t++) {
		if (t->state != LANE_RUNS || t->stuck || !t->began ||
		    now < t->began + STUCK_NS)
			continue;
		t->stuck = true;
		lane->stuck++;
	}
}

bool lane_look(struct lane *lane)
{
	bool waits;

	pthread_mutex_lock(&lane->lock);
	waits = lane->threads && fairq_ready(&lane->queue, true);
	if (waits)
		find_stuck(lane, clock_now());
	while (wants_thread(lane) && !add_thread(lane))
		;
	pthread_mutex_unlock(&lane->lock);
	return waits;
}

void lane_stop(struct lane *lane)
{
	pthread_mutex_lock(&lane->lock);
	lane->stop = true;
	pthread_cond_broadcast(&lane->more);
	while (lane->threads)
		pthread_cond_wait(&lane->ended, &lane->lock);
	pthread_mutex_unlock(&lane->lock);
	for (unsigned int i = 0; i < LANE_MOST; i++) {
		if (lane->thread[i].state == LANE_OVER)
			pthread_join(lane->thread[i].thread, NULL);
		lane->thread[i].state = LANE_NONE;
	}
}

void lane_close(struct lane *lane)
{
	pthread_cond_destroy(&lane->ended);
	pthread_cond_destroy(&lane->more);
	pthread_mutex_destroy(&lane->lock);
}
