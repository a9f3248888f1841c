/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_remove.c - REMOVE: takes objects away.  Freeing the blocks of a huge
 * file takes long, so it is done on a thread of the pool.  One that is not
 * there is no error: the manager repeats what a crash interrupted.
 *
 * The manager forgets the objects with the answer, so they stay away then,
 * also with sync=off, and against writes that come later (tombs.h).  All names go before the first flush: on a journalling
 * file system that one carries the others.
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
