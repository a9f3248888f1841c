/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_getsize.c - GETSIZE: local sizes of up to WIRE_HANDLE_MAX objects.  For a single object
 * the reply also says where the client can read the size by RDMA from now on.  The sizes of
 * several objects are read by the pool, because each of their directories may have to be read
 * from the disk.
 */
#include <errno.h>
#include <stdlib.h>

#include "server/op/op_int.h"
#include "server/state/rdma_places.h"

static int read_size(struct object_store *store, le64 handle,
		     struct wire_objsize *size)
{
	struct store_stat st;
	int rc = store_stat(store, le64toh(handle), &st);

	if (rc)
		return rc;
	size->size = htole64(st.size);
	size->blocks = htole64(st.blocks);
	size->mtime = htole64(st.mtime);
	return 0;
}

static void send_one_size(struct worker *w, struct rpc_req *req, le64 handle)
{
	struct {
		struct wire_objsize size;
		struct wire_end_place place;
	} one;
	struct wire_getsize_rep rep = { .n = htole32(1) };
	int rc = read_size(w->iod->store, handle, &one.size);
	bool shown;

	if (rc) {
		rpc_reply_status(req, rc);
		return;
	}
	shown = size_place_get(w->iod, req, le64toh(handle), &one.place);
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
		rc = read_size(job->worker->iod->store, handle[i], &size[i]);
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
		send_one_size(w, req, handle[0]);
	else
		op_job_start(w, req, DISK_READ, read_all_sizes, send_all_sizes);
}
