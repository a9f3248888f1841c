/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_remove.c - REMOVE: removes objects, on a thread of the pool because freeing the blocks of
 * a huge file takes long.  A missing object is no error, because the manager repeats removals
 * that a crash interrupted.
 *
 * The manager forgets the objects when it gets the answer.  So the removal is durable then,
 * also with sync = off, and later writes do not make the objects again (tombs.h).  All names
 * are removed before the first flush: on a journalling file system one flush then covers them
 * all.
 */
#include <errno.h>
#include <string.h>

#include "server/op/op.h"

static int remove_all(struct op_job *job, bool durable)
{
	const struct wire_objects *body = job->req->msg.body;
	const le64 *handle = job->req->msg.tail[0].ptr;
	struct iod *iod = job->worker->iod;
	uint32_t i, n = le32toh(body->n);
	int rc, first = 0;

	for (i = 0; i < n; i++) {
		if (rpc_req_late(job->req))
			return -ETIMEDOUT;
		tombs_add(iod->tombs, le64toh(handle[i]));
		rc = store_remove(iod->store, le64toh(handle[i]), durable);
		loan_object_drop(iod->loans, le64toh(handle[i]));
		counters_remove_file(iod->counters, le64toh(handle[i]));
		if (!rc)
			continue;
		log_error(iod->log, "cannot remove object %016llx: %s",
			  (unsigned long long)le64toh(handle[i]),
			  strerror(-rc));
		first = first ? first : rc;
	}
	return first;
}

static int remove_objects(struct op_job *job)
{
	int rc = remove_all(job, false);

	if (rc || store_in_memory(job->worker->iod->store))
		return rc;
	return remove_all(job, true);
}

void op_remove(struct worker *w, struct rpc_req *req)
{
	op_job_start(w, req, remove_objects, op_job_reply);
}
