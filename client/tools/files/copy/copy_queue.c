/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_queue.c - a bounded queue of copy jobs between the walk and the threads. */
#include <stdlib.h>

#include "client/tools/files/copy/copy.h"

struct copy_queue {
	pthread_mutex_t lock;
	pthread_cond_t put, got;
	STAILQ_HEAD(, copy_job) jobs;
	unsigned int n, max;
	bool closed;
};

struct copy_queue *copy_queue_new(unsigned int max)
{
	struct copy_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->put, NULL);
	pthread_cond_init(&q->got, NULL);
	STAILQ_INIT(&q->jobs);
	q->max = max;
	return q;
}

void copy_queue_free(struct copy_queue *q)
{
	pthread_cond_destroy(&q->got);
	pthread_cond_destroy(&q->put);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

void copy_queue_put(struct copy_queue *q, struct copy_job *job)
{
	pthread_mutex_lock(&q->lock);
	while (q->n >= q->max)
		pthread_cond_wait(&q->got, &q->lock);
	STAILQ_INSERT_TAIL(&q->jobs, job, link);
	q->n++;
	pthread_cond_signal(&q->put);
	pthread_mutex_unlock(&q->lock);
}

struct copy_job *copy_queue_get(struct copy_queue *q)
{
	struct copy_job *job;

	pthread_mutex_lock(&q->lock);
	while (!q->n && !q->closed)
		pthread_cond_wait(&q->put, &q->lock);
	job = STAILQ_FIRST(&q->jobs);
	if (job) {
		STAILQ_REMOVE_HEAD(&q->jobs, link);
		q->n--;
		pthread_cond_signal(&q->got);
	}
	pthread_mutex_unlock(&q->lock);
	return job;
}

void copy_queue_close(struct copy_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	pthread_cond_broadcast(&q->put);
	pthread_mutex_unlock(&q->lock);
}
