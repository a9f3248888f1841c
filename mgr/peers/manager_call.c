/* SPDX-License-Identifier: BSD-2-Clause */
/* manager_call.c - see manager_call.h. */
#include "mgr/peers/manager_call.h"

#include <errno.h>
#include <string.h>

#include "common/util/clock.h"

static void read_member(const struct wire_member *from,
			struct managers_view_member *to)
{
	*to = (struct managers_view_member){ .id = le64toh(from->id),
					     .flags = le32toh(from->flags) };
	memcpy(to->uri, from->uri, sizeof(from->uri));
}

static void read_view(const struct wire_msg *reply, struct managers_view *view)
{
	const struct wire_managers_rep *rep = reply->body;
	const struct wire_member *member = reply->tail[0].ptr;

	*view = (struct managers_view){
		.group = le64toh(rep->group),
		.leader = le64toh(rep->leader),
		.role = (enum wire_managers_role)le32toh(rep->role),
		.n = le32toh(rep->n)
	};
	for (unsigned int i = 0; i < view->n; i++)
		read_member(&member[i], &view->member[i]);
}

static void on_answer(struct rpc_call *rpc)
{
	struct manager_call *call = rpc->arg;
	struct managers_view view;

	call->busy = false;
	if (!rpc->status)
		read_view(&rpc->reply, &view);
	call->done(call->arg, rpc->status, rpc->status ? NULL : &view);
}

static size_t build_request(struct manager_call *call,
			    const struct manager_call_attr *attr)
{
	size_t len = attr->uri ? strlen(attr->uri) : 0;
	const struct wire_managers body = { .id = htole64(attr->id),
					    .cmd = htole32(attr->cmd),
					    .uri_len = htole32((uint32_t)len) };
	struct wire_out out;

	wire_begin(&out, call->msg, sizeof(call->msg));
	wire_put(&out, &body, sizeof(body));
	if (len)
		wire_put(&out, attr->uri, len);
	return (size_t)wire_end(&out, WIRE_MANAGERS, 0, 0);
}

int manager_call_start(struct manager_call *call,
		       const struct manager_call_attr *attr)
{
	char uri[ADDR_STRLEN];
	int rc;

	manager_call_close(call);
	rc = peers_connect(attr->peers, attr->to,
			   addr_format(attr->to, uri, sizeof(uri)), true,
			   &call->rpc);
	if (rc)
		return rc;
	call->busy = true;
	call->done = attr->done;
	call->arg = attr->arg;
	call->call = (struct rpc_call){ .msg = call->msg,
					.msg_len = build_request(call, attr),
					.deadline = clock_after_ms(
						attr->timeout_ms),
					.quiet = true,
					.done = on_answer,
					.arg = call };
	rpc_call_start(call->rpc, &call->call);
	return 0;
}

void manager_call_close(struct manager_call *call)
{
	struct rpc_peer *rpc = call->rpc;

	call->rpc = NULL;
	if (rpc)
		rpc_peer_close(rpc, true);
}

const struct managers_view_member *
managers_view_find(const struct managers_view *view, uint64_t id)
{
	for (unsigned int i = 0; i < view->n; i++)
		if (view->member[i].id == id)
			return &view->member[i];
	return NULL;
}
