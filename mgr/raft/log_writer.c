/* SPDX-License-Identifier: BSD-2-Clause */
/* log_writer.c - see log_writer.h. */
#include "mgr/raft/log_writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/util/clock.h"

#define HERE_BYTES (64u << 10) /* more is for the thread */

STAILQ_HEAD(job_queue, log_job);

struct log_writer {
	struct log_writer_attr attr;

	pthread_mutex_t writing; /* of the entry log, and of working */
	struct job_queue working;

	bool kept; /* of the event loop: jobs wait for log_writer_write_here() */

	pthread_mutex_t lock; /* all below */
	struct job_queue waiting, done;
	unsigned int inside;
	uint64_t queued; /* bytes of jobs that are not yet written */
	uint64_t room, size; /* of the log after the last job */
	bool full;
	uint64_t took; /* average duration of recent writes, ns */
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
	pthread_mutex_init(&new->writing, NULL);
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
	pthread_mutex_destroy(&lw->writing);
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
	lw->kept = lw->took < lw->attr.quick_ns;
	pthread_mutex_unlock(&lw->lock);
	if (!lw->kept)
		lw->attr.submitted(lw->attr.submitted_arg);
}

/* ---- writing: in the thread or the event loop ---- */

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

static void complete_jobs(struct log_writer *lw, int rc, uint64_t took)
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
	lw->took = (lw->took * 7 + took) / 8;
	pthread_mutex_unlock(&lw->lock);
}

/* Whether log_writer_collect() has work. */
static bool write_waiting(struct log_writer *lw)
{
	const struct job_queue *jobs = &lw->working;
	uint64_t start = clock_now();
	int rc;

	pthread_mutex_lock(&lw->lock);
	if (!lw->failed)
		STAILQ_CONCAT(&lw->working, &lw->waiting);
	pthread_mutex_unlock(&lw->lock);
	if (STAILQ_EMPTY(jobs))
		return false;
	rc = write_jobs(lw, jobs);
	complete_jobs(lw, rc ? rc : cut_log(lw, jobs), clock_now() - start);
	return true;
}

/* Whether log_writer_collect() has work: it failed. */
static bool prepare_next(struct log_writer *lw)
{
	int rc = lw->failed ? 0 : entry_log_prepare(lw->attr.el);

	pthread_mutex_lock(&lw->lock);
	publish_space(lw, rc);
	pthread_mutex_unlock(&lw->lock);
	return rc && rc != -ENOSPC;
}

void log_writer_work(struct log_writer *lw)
{
	pthread_mutex_lock(&lw->writing);
	if (write_waiting(lw))
		lw->attr.completed(lw->attr.completed_arg);
	if (prepare_next(lw))
		lw->attr.completed(lw->attr.completed_arg);
	pthread_mutex_unlock(&lw->writing);
}

/* ---- the event loop ---- */

/* Small, and without the creation or removal of a file. */
static bool may_write_here(struct log_writer *lw)
{
	const struct log_job *job;
	bool may;

	pthread_mutex_lock(&lw->lock);
	may = lw->queued <= HERE_BYTES && entry_log_is_prepared(lw->attr.el);
	STAILQ_FOREACH(job, &lw->waiting, link)
		may = may && !job->cut;
	pthread_mutex_unlock(&lw->lock);
	return may;
}

bool log_writer_write_here(struct log_writer *lw)
{
	bool written = false, prepared = false;

	if (!lw->kept)
		return false;
	lw->kept = false;
	if (!pthread_mutex_trylock(&lw->writing)) {
		written = may_write_here(lw) && write_waiting(lw);
		prepared = entry_log_is_prepared(lw->attr.el);
		pthread_mutex_unlock(&lw->writing);
	}
	if (!written || !prepared)
		lw->attr.submitted(lw->attr.submitted_arg);
	return written;
}

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
