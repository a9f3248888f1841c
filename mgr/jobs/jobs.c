/* SPDX-License-Identifier: BSD-2-Clause */
/* jobs.c - start and end of the work at the iods. */
#include <errno.h>
#include <stdlib.h>

#include "mgr/jobs/jobs_int.h"

int jobs_open(struct mgr *mgr,
	      void (*fenced)(struct mgr *mgr, uint64_t session))
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));
	int rc;

	if (!jobs)
		return -ENOMEM;
	jobs->fenced = fenced;
	mgr->jobs = jobs;
	mgr->mark.item.durable = remove_durable;
	ends_open(mgr);
	room_open(mgr);
	rc = claim_open(mgr);
	if (!rc)
		rc = term_open(mgr);
	if (!rc)
		rc = part_resume(mgr);
	if (rc)
		return rc;
	/* the records that recovery found are durable, and their ids are below our first id */
	jobs->remove_limit = jobs->fence_limit = jobs->first_id;
	mgr->remove_id = mgr->mark.id = jobs->first_id;
	rc = iods_open(mgr);
	return rc ? rc : resize_resume(mgr);
}

void jobs_close(struct mgr *mgr)
{
	struct jobs *jobs = mgr->jobs;
	struct job *job, *next;

	if (!jobs)
		return;
	HASH_ITER(hh, jobs->table, job, next)
		job_free(job);
	ends_close(mgr);
	iods_close(mgr);
	part_close(mgr);
	free(jobs);
	mgr->jobs = NULL;
}
