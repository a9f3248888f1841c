/* SPDX-License-Identifier: BSD-2-Clause */
/* op_objects.c - OBJECTS: lists the objects of the store, for pvfs-fsck. */
#include <errno.h>
#include <stdlib.h>

#include "server/op/op.h"

struct listing {
	struct store_place place;
	uint64_t handle[WIRE_HANDLE_MAX];
	uint32_t n;
};

static int list(struct op_job *job)
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

static void answer(struct op_job *job, int status)
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
	op_job_start(w, req, list, answer);
}
