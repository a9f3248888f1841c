/* SPDX-License-Identifier: BSD-2-Clause */
/* log_writer.c - see log_writer.h. */
#include "mgr/raft/log_writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

STAILQ_HEAD(job_queue, log_job);

struct log_writer {
	struct log_writer_attr attr;

	struct job_queue working; /* of the thread that works */

	pthread_mutex_t lock; /* all below */
	struct job_queue waiting, done;
	unsigned int inside;
	uint64_t queued; /* bytes of jobs that are not yet written */
	uint64_t room, size; /* of the log after the last job */
	bool full;
	int failed;
};

static void publish_space(struct log_writer *lw, int prepared)
{
	lw->room = entry_log_room(lw->attr.el);
	lw->size = entry_log_size(lw->attr.el);
	lw->full = prepared == -ENOSPC;
	if (prepared && prepared != -ENOSPC)
		lw->failed = prepared;
}

int log_writer_open(const struct log_writer_attr *attr, struct log_writer **lw)
{
	struct log_writer *new = calloc(1, sizeof(*new));
	int rc = entry_log_prepare(attr->el);

	if (!new || (rc && rc != -ENOSPC)) {
		free(new);
		return rc ? rc : -ENOMEM;
	}
	new->attr = *attr;
	pthread_mutex_init(&new->lock, NULL);
	STAILQ_INIT(&new->waiting);
	STAILQ_INIT(&new->working);
	STAILQ_INIT(&new->done);
	publish_space(new, rc);
	*lw = new;
	return 0;
}

static void drop_jobs(struct job_queue *jobs)
{
	struct log_job *job;

	while ((job = STAILQ_FIRST(jobs))) {
		STAILQ_REMOVE_HEAD(jobs, link);
		if (job->drop)
			job->drop(job);
	}
}

void log_writer_close(struct log_writer *lw)
{
	drop_jobs(&lw->done);
	drop_jobs(&lw->working);
	drop_jobs(&lw->waiting);
	entry_log_close(lw->attr.el);
	pthread_mutex_destroy(&lw->lock);
	free(lw);
}

static uint64_t job_space(const struct log_job *job)
{
	uint64_t space = 0;

	for (size_t i = 0; i < job->n; i++)
		space += entry_log_space(job->records[i].len);
	return space;
}

void log_writer_submit(struct log_writer *lw, struct log_job *job)
{
	job->space = job_space(job);
	pthread_mutex_lock(&lw->lock);
	STAILQ_INSERT_TAIL(&lw->waiting, job, link);
	lw->queued += job->space;
	lw->inside++;
	pthread_mutex_unlock(&lw->lock);
	lw->attr.submitted(lw->attr.submitted_arg);
}

/* ---- the thread that works ---- */

static int write_jobs(struct log_writer *lw, const struct job_queue *jobs)
{
	struct log_record *records, *to;
	const struct log_job *job;
	size_t n = 0;
	int rc;

	STAILQ_FOREACH(job, jobs, link)
		n += job->n;
	if (!n)
		return 0;
	to = records = reallocarray(NULL, n, sizeof(*records));
	if (!records)
		return -ENOMEM;
	STAILQ_FOREACH(job, jobs, link)
		for (size_t i = 0; i < job->n; i++)
			*to++ = job->records[i];
	rc = entry_log_write(lw->attr.el, records, n);
	free(records);
	return rc;
}

static int cut_log(struct log_writer *lw, const struct job_queue *jobs)
{
	const struct log_job *job;
	uint64_t index = 0;

	STAILQ_FOREACH(job, jobs, link)
		index = job->cut > index ? job->cut : index;
	return index ? entry_log_cut(lw->attr.el, index) : 0;
}

static void complete_jobs(struct log_writer *lw, int rc)
{
	const struct log_job *job;
	uint64_t space = 0;

	STAILQ_FOREACH(job, &lw->working, link)
		space += job->space;
	pthread_mutex_lock(&lw->lock);
	if (rc)
		lw->failed = rc;
	else
		STAILQ_CONCAT(&lw->done, &lw->working);
	lw->queued -= space;
	lw->room = entry_log_room(lw->attr.el);
	pthread_mutex_unlock(&lw->lock);
	lw->attr.completed(lw->attr.completed_arg);
}

void log_writer_work(struct log_writer *lw)
{
	const struct job_queue *jobs = &lw->working;
	int rc;

	pthread_mutex_lock(&lw->lock);
	rc = lw->failed;
	if (!rc)
		STAILQ_CONCAT(&lw->working, &lw->waiting);
	pthread_mutex_unlock(&lw->lock);
	if (rc)
		return;
	if (!STAILQ_EMPTY(jobs)) {
		rc = write_jobs(lw, jobs);
		rc = rc ? rc : cut_log(lw, jobs);
		complete_jobs(lw, rc);
		if (rc)
			return;
	}
	rc = entry_log_prepare(lw->attr.el);
	pthread_mutex_lock(&lw->lock);
	publish_space(lw, rc);
	pthread_mutex_unlock(&lw->lock);
	if (rc && rc != -ENOSPC)
		lw->attr.completed(lw->attr.completed_arg);
}

/* ---- the event loop ---- */

int log_writer_collect(struct log_writer *lw)
{
	struct job_queue jobs = STAILQ_HEAD_INITIALIZER(jobs);
	struct log_job *job;
	int rc;

	pthread_mutex_lock(&lw->lock);
	STAILQ_CONCAT(&jobs, &lw->done);
	rc = lw->failed;
	pthread_mutex_unlock(&lw->lock);
	while ((job = STAILQ_FIRST(&jobs))) {
		STAILQ_REMOVE_HEAD(&jobs, link);
		pthread_mutex_lock(&lw->lock);
		lw->inside--;
		pthread_mutex_unlock(&lw->lock);
		job->done(job);
	}
	return rc;
}

bool log_writer_is_busy(struct log_writer *lw)
{
	unsigned int inside;

	pthread_mutex_lock(&lw->lock);
	inside = lw->inside;
	pthread_mutex_unlock(&lw->lock);
	return inside;
}

uint64_t log_writer_room(struct log_writer *lw)
{
	uint64_t room;

	pthread_mutex_lock(&lw->lock);
	room = lw->room > lw->queued ? lw->room - lw->queued : 0;
	pthread_mutex_unlock(&lw->lock);
	return room;
}

bool log_writer_is_full(struct log_writer *lw)
{
	bool full;

	pthread_mutex_lock(&lw->lock);
	full = lw->full;
	pthread_mutex_unlock(&lw->lock);
	return full;
}

uint64_t log_writer_size(struct log_writer *lw)
{
	uint64_t size;

	pthread_mutex_lock(&lw->lock);
	size = lw->size;
	pthread_mutex_unlock(&lw->lock);
	return size;
}
