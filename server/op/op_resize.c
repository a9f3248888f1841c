/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_resize.c - RESIZE: sets the local size of an object.  Only the manager sends it, because
 * it orders the truncations of a file.
 */
#include <errno.h>
#include <string.h>

#include "server/op/op_int.h"

/* A missing object has no bytes to cut, and a removed one needs none. */
static int resize_in_time(struct iod *iod, uint64_t handle, uint64_t size,
			  uint64_t expiry)
{
	struct gate_entry entry;
	struct store_obj *obj;
	int rc;

	rc = size ? change_open_object(iod, handle, &obj)
		  : store_obj_get(iod->store, handle, false, &obj);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	rc = store_obj_enter(obj, expiry, &entry);
	if (!rc) {
		rc = store_obj_resize(obj, size);
		store_obj_leave(obj, &entry);
	}
	if (!rc && iod->conf.sync)
		rc = store_obj_sync(obj);
	store_obj_put(obj);
	return rc;
}

/* An earlier process may have executed it: the request is a repeated one, and the truncation
 * was ordered before this process began. */
static bool may_be_repeated(const struct op_job *job)
{
	const struct wire_resize *body = job->req->msg.body;
	uint64_t span = le64toh(body->span), expiry = job->req->expiry;

	return (job->req->state_lost || le32toh(body->flags) & WIRE_RZ_AGAIN) &&
	       (span >= expiry ||
		expiry - span <= job->worker->iod->started_boot);
}

static int resize_unless_superseded(struct op_job *job)
{
	const struct wire_resize *body = job->req->msg.body;
	struct iod *iod = job->worker->iod;
	uint64_t handle = le64toh(body->handle), size = le64toh(body->size);
	const struct store_seg cut = { size, UINT64_MAX - size };
	int rc;

	if (rpc_req_late(job->req))
		return -ETIMEDOUT;
	rc = recent_changes_check(iod->recent, handle, &cut, 1, 0,
				  may_be_repeated(job));
	return rc ? rc : resize_in_time(iod, handle, size, job->req->expiry);
}

static int resize_once(struct op_job *job)
{
	const struct wire_resize *body = job->req->msg.body;
	struct recent_changes *recent = job->worker->iod->recent;
	struct recent_truncation *truncation;
	int rc;

	switch (recent_truncation_begin(recent, le64toh(body->id),
					&truncation)) {
	case RECENT_TRUNCATION_DONE:
		return 0;
	case RECENT_TRUNCATION_RUNNING:
		return -EAGAIN;
	case RECENT_TRUNCATION_NEW:
		break;
	}
	rc = resize_unless_superseded(job);
	recent_truncation_end(recent, truncation, !rc);
	return rc;
}

static int resize_object(struct op_job *job)
{
	const struct wire_resize *body = job->req->msg.body;
	struct iod *iod = job->worker->iod;
	int rc = resize_once(job);

	if (rc)
		log_warn(iod->log, "cannot resize object %016llx to %llu: %s",
			 (unsigned long long)le64toh(body->handle),
			 (unsigned long long)le64toh(body->size),
			 strerror(-rc));
	return rc;
}

void op_resize(struct worker *w, struct rpc_req *req)
{
	op_job_start(w, req, DISK_CHANGE, resize_object, op_job_reply);
}
