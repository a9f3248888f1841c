/* SPDX-License-Identifier: BSD-2-Clause */
/* job.c - the job of a file, and the requests that wait for it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mgr/jobs/jobs_int.h"

struct job *job_there(struct mgr *mgr, uint64_t handle)
{
	struct job *job;

	HASH_FIND(hh, mgr->jobs->table, &handle, sizeof(handle), job);
	return job;
}

struct job *job_find(struct mgr *mgr, uint64_t handle)
{
	struct job *job = job_there(mgr, handle);

	if (!job || !job->look)
		return job;
	job_free(job);
	return NULL;
}

static struct job *job_of(struct park *park)
{
	return container_of(park, struct job, park);
}

static void late(struct park *park, struct request *req)
{
	struct job *job = job_of(park);
	char missing[400], what[600];

	fan_missing(&job->fan, missing, sizeof(missing));
	snprintf(what, sizeof(what), "the %s of file %llu; no answer from %s",
		 job->what, job_shown(job),
		 missing[0] ? missing : "the disk of the mgr");
	if (job->owner == req)
		job->owner = NULL;
	answer_late(req, what);
	if (park_empty(park) && job->abandon)
		job->abandon(job);
}

void job_refused(struct fan *fan)
{
	struct job *job = job_of_fan(fan);
	struct request *req;

	job->owner = NULL;
	while ((req = park_take(&job->park)))
		answer_error(req, -ENXIO);
	if (job->abandon)
		job->abandon(job);
}

struct job *job_new(struct mgr *mgr, uint64_t handle, uint32_t calls,
		    const char *what)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->handle = handle;
	job->mgr = mgr;
	job->what = what;
	job->calls = calls;
	park_init(&job->park, RPC_NETWORK, late);
	HASH_ADD(hh, mgr->jobs->table, handle, sizeof(job->handle), job);
	if (!job->hh.tbl) {
		free(job);
		return NULL;
	}
	mgr->jobs->calls += calls;
	return job;
}

void job_wait(struct job *job, struct request *req)
{
	park_wait(&job->park, req);
}

void job_free(struct job *job)
{
	fan_end(&job->fan);
	rpc_timer_clear(job->mgr->ctx, &job->again);
	job->mgr->jobs->calls -= job->calls;
	HASH_DEL(job->mgr->jobs->table, job);
	free(job);
}

void job_over(struct job *job)
{
	struct request *req;

	while ((req = park_take(&job->park)))
		request_again(req);
	job_free(job);
}
