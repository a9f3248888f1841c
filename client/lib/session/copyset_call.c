/* SPDX-License-Identifier: BSD-2-Clause */
/* copyset_call.c - see copyset_call.h. */
#include "client/lib/session/copyset_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void call_end(struct copyset_call *call, int status)
{
	struct rpc_call *rpc = &call->rpc;

	free(call->msg);
	rpc->status = status;
	rpc->unsure |= status && call->begun;
	rpc->done = call->done;
	rpc->done(rpc);
}

static void call_send(struct copyset_call *call)
{
	const struct copysets_wait *wait = &call->wait;
	struct copyset_place place;

	if (copysets_find(call->s->copysets, wait->dist, wait->k, &place) ||
	    place.ref.version == wait->refused) {
		copysets_await(call->s->copysets, &call->wait);
		return;
	}
	call->rpc.copyset = place.ref;
	rpc_call_start(call->s->iod[place.iod], &call->rpc);
}

/* A counter is changed as a whole, or not at all. */
static bool may_be_done_in_part(const struct rpc_call *rpc)
{
	const struct wire_hdr *hdr = rpc->msg;
	unsigned int op = le16toh(hdr->op);

	return wire_op_changes(op) && op != WIRE_COUNTER;
}

static void call_done(struct rpc_call *rpc)
{
	struct copyset_call *call = container_of(rpc, struct copyset_call, rpc);

	if (rpc->status != -WIRE_ECOPYSET) {
		call_end(call, rpc->status);
		return;
	}
	call->begun |= may_be_done_in_part(rpc);
	call->wait.refused = rpc->copyset.version;
	rpc->reply = (struct wire_msg){ 0 };
	call_send(call);
}

static void call_waited(struct copysets_wait *wait, int status)
{
	struct copyset_call *call = container_of(wait, struct copyset_call,
						 wait);

	wait->refused = 0;
	if (status)
		call_end(call, status);
	else
		call_send(call);
}

int copyset_call_start_by_row(struct copyset_call *call, struct session *s,
			      const struct dist *dist, uint32_t k)
{
	struct rpc_call *rpc = &call->rpc;

	call->msg = malloc(rpc->msg_len);
	if (!call->msg)
		return -ENOMEM;
	memcpy(call->msg, rpc->msg, rpc->msg_len);
	rpc->msg = call->msg;
	rpc->unsure = false;
	call->done = rpc->done;
	rpc->done = call_done;
	call->s = s;
	call->begun = false;
	call->wait = (struct copysets_wait){ .dist = dist,
					     .k = k,
					     .deadline = rpc->deadline,
					     .done = call_waited };
	call_send(call);
	return 0;
}

void copyset_call_cancel_unneeded(struct copyset_call *call, struct session *s,
				  const struct dist *dist, int status)
{
	rpc_call_cancel_unneeded(&call->rpc, status);
	if (dist->ring && status && status != -ETIMEDOUT &&
	    status != -ECANCELED)
		copysets_cancel(s->copysets, &call->wait);
}
