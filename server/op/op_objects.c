/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_objects.c - OBJECTS and REMOVE: lists and removes objects of the store.
 *
 * When the manager gets the answer, it forgets the removed objects.  So before the answer, the
 * removal is made durable, even with sync = off.  Later writes do not create the objects again
 * (recent_changes.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/op/op_int.h"

/* ---- OBJECTS, for pvfs-fsck ---- */

struct listing {
	struct store_place place;
	uint64_t handle[WIRE_HANDLE_MAX];
	uint32_t n;
};

static int list_objects(struct op_job *job)
{
	const struct wire_walk *body = job->req->msg.body;
	struct listing *l = malloc(sizeof(*l));

	job->req->priv = l;
	if (!l)
		return -ENOMEM;
	l->place = (struct store_place){ le32toh(body->place),
					 le64toh(body->after) };
	return store_walk(job->worker->iod->store, &l->place, l->handle,
			  WIRE_HANDLE_MAX, &l->n);
}

static void send_listing(struct op_job *job, int status)
{
	struct listing *l = job->req->priv;
	struct wire_walk_rep rep;

	if (!status) {
		rep = (struct wire_walk_rep){
			.after = htole64(l->place.after),
			.place = htole32(l->place.leaf),
			.n = htole32(l->n),
		};
		for (uint32_t i = 0; i < l->n; i++)
			l->handle[i] = htole64(l->handle[i]);
		op_reply(job->req, &rep, sizeof(rep), l->handle,
			 l->n * sizeof(l->handle[0]), RPC_REEXECUTE);
		free(job);
	} else {
		op_job_reply(job, status);
	}
	free(l);
}

void op_objects(struct worker *w, struct rpc_req *req)
{
	op_job_start(w, req, DISK_READ, list_objects, send_listing);
}

/* ---- REMOVE ---- */

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
		recent_removal_add(iod->recent, le64toh(handle[i]));
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
	op_job_start(w, req, DISK_CHANGE, remove_objects, op_job_reply);
}
