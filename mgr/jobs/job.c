/* SPDX-License-Identifier: BSD-2-Clause */
/* job.c - a file's job, and the requests that wait for it. */
#include <errno.h>
#include <stdlib.h>

#include "jobs_impl.h"

struct job *job_find(struct mgr *mgr, uint64_t handle)
{
	struct job *job;

	HASH_FIND(hh, mgr->jobs->table, &handle, sizeof(handle), job);
	return job;
}

struct job *job_new(struct mgr *mgr, uint64_t handle, const char *what)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->handle = handle;
	job->mgr = mgr;
	job->what = what;
	TAILQ_INIT(&job->waiting);
	HASH_ADD(hh, mgr->jobs->table, handle, sizeof(job->handle), job);
	return job;
}

static void stop_waiting(struct request *req)
{
	struct job *job = req->job;

	rpc_timer_clear(req->mgr->ctx, &req->timer);
	TAILQ_REMOVE(&job->waiting, req, wait);
	req->job = NULL;
	if (job->owner == req)
		job->owner = NULL;
}

static void timed_out(struct rpc_timer *timer)
{
	struct request *req = request_of_timer(timer);
	struct job *job = req->job;
	char missing[400];

	fan_missing(&job->fan, missing, sizeof(missing));
	log_error(req->mgr->log,
		  "%s of a client: the %s of file %llu was not finished in "
		  "time; no answer from %s",
		  wire_op_name(req->rpc->op), job->what,
		  (unsigned long long)job->handle,
		  missing[0] ? missing : "the disk of the mgr");
	stop_waiting(req);
	request_fail(req, -ETIMEDOUT);
	if (TAILQ_EMPTY(&job->waiting) && job->abandon)
		job->abandon(job);
}

void job_wait(struct job *job, struct request *req)
{
	req->job = job;
	TAILQ_INSERT_TAIL(&job->waiting, req, wait);
	req->timer.fire = timed_out;
	rpc_timer_set(req->mgr->ctx, &req->timer, req->rpc->deadline);
}

void job_free(struct job *job)
{
	fan_end(&job->fan);
	HASH_DEL(job->mgr->jobs->table, job);
	free(job);
}

void job_over(struct job *job)
{
	struct request_queue again = TAILQ_HEAD_INITIALIZER(again);
	struct request *req;

	while ((req = TAILQ_FIRST(&job->waiting))) {
		stop_waiting(req);
		TAILQ_INSERT_TAIL(&again, req, wait);
	}
	job_free(job);
	while ((req = TAILQ_FIRST(&again))) {
		TAILQ_REMOVE(&again, req, wait);
		request_run(req);
	}
}
