/* SPDX-License-Identifier: BSD-2-Clause */
/* jobs.c - start and end of the work at the iods. */
#include <errno.h>
#include <stdlib.h>

#include "jobs_impl.h"

int jobs_open(struct mgr *mgr)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));
	int rc;

	if (!jobs)
		return -ENOMEM;
	mgr->jobs = jobs;
	LIST_INIT(&jobs->fences);
	room_open(mgr);
	rc = claim_open(mgr);
	if (!rc)
		rc = clear_open(mgr);
	if (rc)
		return rc;
	/* what recovery found is durable, and that is all below our own id */
	jobs->remove_limit = jobs->self.id;
	mgr->remove_id = mgr->mark.id = jobs->self.id;
	rc = iods_open(mgr);
	return rc ? rc : resize_resume(mgr);
}

void jobs_close(struct mgr *mgr)
{
	struct jobs *jobs = mgr->jobs;
	struct job *job, *next;

	if (!jobs)
		return;
	clear_close(mgr);
	HASH_ITER(hh, jobs->table, job, next)
		job_free(job);
	fences_close(mgr);
	iods_close(mgr);
	free(jobs->old);
	free(jobs);
	mgr->jobs = NULL;
}
