/* SPDX-License-Identifier: BSD-2-Clause */
/* op_size.c - GETSIZE and RESIZE: the local sizes of objects. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/op/op_int.h"
#include "server/state/rdma_places.h"

/*
 * ---- GETSIZE: local sizes of up to WIRE_HANDLE_MAX objects ----
 *
 * For a single object the reply also says where the client can read the size by RDMA from now
 * on.  The sizes of several objects are read by the pool, because each of their directories may
 * have to be read from the disk.
 */

static int read_size(struct object_store *store, struct object_key key,
		     struct wire_objsize *size)
{
	struct store_stat st;
	int rc = store_stat(store, key, &st);

	if (rc)
		return rc;
	size->size = htole64(st.size);
	size->blocks = htole64(st.blocks);
	size->mtime = htole64(st.mtime);
	return 0;
}

static void send_one_size(struct worker *w, struct rpc_req *req,
			  struct object_key key)
{
	struct {
		struct wire_objsize size;
		struct wire_end_place place;
	} one;
	struct wire_getsize_rep rep = { .n = htole32(1) };
	int rc = read_size(w->iod->store, key, &one.size);
	bool shown;

	if (rc) {
		rpc_reply_status(req, rc);
		return;
	}
	shown = size_place_get(w->iod, req, key, &one.place);
	rep.places = htole32(shown);
	op_reply(req, &rep, sizeof(rep), &one,
		 shown ? sizeof(one) : sizeof(one.size), RPC_REEXECUTE);
}

static int read_all_sizes(struct op_job *job)
{
	const struct wire_objects *body = job->req->msg.body;
	const le64 *handle = job->req->msg.tail[0].ptr;
	uint32_t n = le32toh(body->n);
	struct wire_objsize *size = calloc(n, sizeof(*size));
	int rc = 0;

	job->req->priv = size;
	if (!size)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = read_size(job->worker->iod->store,
			       request_key(job->req, handle[i]), &size[i]);
	return rc;
}

static void send_all_sizes(struct op_job *job, int status)
{
	const struct wire_objects *body = job->req->msg.body;
	const struct wire_getsize_rep rep = { .n = body->n };
	struct wire_objsize *size = job->req->priv;

	if (status) {
		op_job_reply(job, status);
	} else {
		op_reply(job->req, &rep, sizeof(rep), size,
			 le32toh(body->n) * sizeof(*size), RPC_REEXECUTE);
		free(job);
	}
	free(size);
}

void op_getsize(struct worker *w, struct rpc_req *req)
{
	const struct wire_objects *body = req->msg.body;
	const le64 *handle = req->msg.tail[0].ptr;

	if (le32toh(body->n) == 1)
		send_one_size(w, req, request_key(req, handle[0]));
	else
		op_job_start(w, req, DISK_READ, read_all_sizes, send_all_sizes);
}

/* ---- RESIZE: only the manager sends it, because it orders the truncations of a file ---- */

/* A missing object has no bytes to cut, and a removed one needs none. */
int resize_in_time(struct iod *iod, const struct rpc_req *req,
		   struct object_key key, uint64_t size, uint64_t id)
{
	const struct ordered_change what = { .kind = WIRE_ORDER_RESIZE,
					     .arg = { size, id } };
	struct change_entry entry;
	struct store_obj *obj;
	int rc;

	rc = size ? change_open_object(iod, key, &obj)
		  : store_obj_get(iod->store, key, false, &obj);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	rc = change_enter(iod, req, obj, &what, &entry);
	if (!rc) {
		rc = store_obj_resize(obj, size);
		change_leave(iod, obj, &entry, rc);
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
	struct object_key key = request_key(job->req, body->handle);
	uint64_t size = le64toh(body->size);
	const struct store_seg cut = { size, UINT64_MAX - size };
	int rc;

	if (rpc_req_late(job->req))
		return -ETIMEDOUT;
	rc = recent_changes_check(iod->recent, key, &cut, 1, 0,
				  may_be_repeated(job));
	return rc ? rc
		  : resize_in_time(iod, job->req, key, size, le64toh(body->id));
}

static int resize_once(struct op_job *job)
{
	const struct wire_resize *body = job->req->msg.body;
	struct recent_changes *recent = job->worker->iod->recent;
	struct recent_truncation *truncation;
	int rc;

	switch (recent_truncation_begin(recent,
					request_key(job->req, body->handle),
					le64toh(body->id), &truncation)) {
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
