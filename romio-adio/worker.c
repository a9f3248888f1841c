/* SPDX-License-Identifier: BSD-2-Clause */
/* worker.c - see worker.h. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "worker.h"

#define WORKERS_MAX 4u
#define IDLE_S 2 /* a worker without work ends after that */

/* One for the process, as MPI is. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static STAILQ_HEAD(, job) queue = STAILQ_HEAD_INITIALIZER(queue);
static unsigned int nthreads, idle, queued;

static struct timespec in_seconds(double seconds)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += (time_t)seconds;
	t.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

/* The next job; NULL: there was none for a while. */
static struct job *take(void)
{
	struct timespec end = in_seconds(IDLE_S);
	struct job *job;
	int err = 0;

	idle++;
	while (STAILQ_EMPTY(&queue) && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&work, &lock, &end);
	idle--;
	job = STAILQ_FIRST(&queue);
	if (job) {
		STAILQ_REMOVE_HEAD(&queue, link);
		queued--;
	}
	return job;
}

static void *worker(void *arg)
{
	struct job *job;

	pthread_mutex_lock(&lock);
	while ((job = take())) {
		pthread_mutex_unlock(&lock);
		job->run(job);
		pthread_mutex_lock(&lock);
		job->done = true;
		pthread_cond_broadcast(&finished);
	}
	nthreads--;
	pthread_mutex_unlock(&lock);
	return arg;
}

/* Enough threads for one more job? */
static int hire(void)
{
	pthread_t thread;
	int err;

	if (idle > queued || nthreads == WORKERS_MAX)
		return 0;
	err = pthread_create(&thread, NULL, worker, NULL);
	if (err)
		return nthreads ? 0 : -EAGAIN;
	pthread_detach(thread);
	nthreads++;
	return 0;
}

int worker_start(struct job *job)
{
	int err;

	pthread_mutex_lock(&lock);
	err = hire();
	if (!err) {
		job->done = false;
		STAILQ_INSERT_TAIL(&queue, job, link);
		queued++;
		pthread_cond_signal(&work);
	}
	pthread_mutex_unlock(&lock);
	return err;
}

bool worker_done(struct job *job)
{
	bool done;

	pthread_mutex_lock(&lock);
	done = job->done;
	pthread_mutex_unlock(&lock);
	return done;
}

void worker_wait(struct job *job, double seconds)
{
	struct timespec end = in_seconds(seconds);
	int err = 0;

	pthread_mutex_lock(&lock);
	while (!job->done && err != ETIMEDOUT)
		err = seconds > 0
			      ? pthread_cond_timedwait(&finished, &lock, &end)
			      : pthread_cond_wait(&finished, &lock);
	pthread_mutex_unlock(&lock);
}
