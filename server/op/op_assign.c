/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_assign.c - ASSIGN puts rows of copysets in force (assignments.h).  The iod answers when they
 * are durable.  Until then the manager repeats it.
 */
#include <errno.h>

#include "common/dist/copyset_wire.h"
#include "server/copyset/assignments.h"
#include "server/copyset/promise_exchange.h"
#include "server/op/op_int.h"

static int put_in_force(struct op_job *job)
{
	const struct wire_assign *body = job->req->msg.body;
	const struct wire_copyset *from = job->req->msg.tail[0].ptr;
	const struct wire_ended *gone = job->req->msg.tail[1].ptr;
	struct copyset set[WIRE_COPYSETS_MAX];
	struct iod_process ended[WIRE_ENDED_MAX];
	const struct assignment_part part = {
		.revision = le64toh(body->revision),
		.set = set,
		.n = le32toh(body->n),
		.last = le32toh(body->flags) & WIRE_AS_LAST,
		.ended = ended,
		.nended = le32toh(body->ended),
	};

	for (uint32_t i = 0; i < part.nended; i++)
		ended[i] = (struct iod_process){ le32toh(gone[i].iod),
						 le64toh(gone[i].process) };
	for (uint32_t i = 0; i < part.n; i++)
		set[i] = copyset_from_wire(&from[i]);
	return assignments_change(job->worker->iod->assignments, &part);
}

static void finish_assign(struct op_job *job, int status)
{
	if (!status)
		promise_exchange_start(job->worker->iod->promise_exchange);
	op_job_reply(job, status ? -EAGAIN : 0);
}

void op_assign(struct worker *w, struct rpc_req *req)
{
	op_job_start(w, req, DISK_CONTROL, put_in_force, finish_assign);
}
