/* SPDX-License-Identifier: BSD-2-Clause */
/* op_seek.c - SEEK: finds the next data or hole of an object. */
#include <errno.h>
#include <stdlib.h>

#include "server/op/op.h"

/* A missing object is one hole. */
static int seek(struct op_job *job)
{
	const struct wire_seek *body = job->req->msg.body;
	bool hole = le32toh(body->flags) & WIRE_SK_HOLE;
	uint64_t off = le64toh(body->off), *at = malloc(sizeof(*at));
	struct store_obj *obj;
	int rc;

	job->req->priv = at;
	if (!at)
		return -ENOMEM;
	*at = off;
	rc = store_obj_get(job->worker->iod->store, le64toh(body->handle),
			   false, &obj);
	if (rc)
		return rc != -ENOENT ? rc : hole ? 0 : -ENXIO;
	rc = store_obj_seek(obj, hole, off, at);
	store_obj_put(obj);
	return rc;
}

static void answer(struct op_job *job, int status)
{
	uint64_t *at = job->req->priv;
	struct wire_seek_rep rep;

	if (!status || status == -ENXIO) {
		rep.off = htole64(status ? INT64_MAX : *at);
		op_reply(job->req, &rep, sizeof(rep), NULL, 0, RPC_REEXECUTE);
		free(job);
	} else {
		op_job_reply(job, status);
	}
	free(at);
}

void op_seek(struct worker *w, struct rpc_req *req)
{
	op_job_start(w, req, seek, answer);
}
