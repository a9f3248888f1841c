/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_remove.c - REMOVE: takes objects away.  Freeing the blocks of a huge
 * file takes long, so it is done on a thread of the pool.  One that is not
 * there is no error: the manager repeats what a crash interrupted.
 */
#include <string.h>

#include "op.h"

static int remove_objects(struct op_job *job)
{
	const struct wire_objects *body = job->req->msg.body;
	const le64 *handle = job->req->msg.tail[0].ptr;
	struct iod *iod = job->worker->iod;
	uint32_t i, n = le32toh(body->n);
	int rc, first = 0;

	for (i = 0; i < n; i++) {
		rc = store_remove(iod->store, le64toh(handle[i]),
				  iod->conf.sync);
		if (!rc)
			continue;
		log_error(iod->log, "cannot remove object %016llx: %s",
			  (unsigned long long)le64toh(handle[i]),
			  strerror(-rc));
		first = first ? first : rc;
	}
	return first;
}

void op_remove(struct worker *w, struct rpc_req *req)
{
	op_job_start(w, req, remove_objects, op_job_reply);
}
