/* SPDX-License-Identifier: BSD-2-Clause */
/* incoming.c - messages of other managers, and whether they are of the group. */
#include <errno.h>
#include <stdlib.h>

#include "mgr/peers/peers_int.h"

/* A message that is being read from the memory of its sender. */
struct incoming {
	struct peer *peer;
	struct rpc_req *req;
	struct rpc_bulk bulk;
	struct rail_mem mem;
	size_t len;
	uint8_t data[];
};

void incoming_drop(struct peer *peer)
{
	struct incoming *in = peer->incoming;

	peer->incoming = NULL;
	if (in)
		rail_mem_fini(&in->mem);
	free(in);
}

static void on_read(struct rpc_bulk *bulk, int status)
{
	struct incoming *in = bulk->arg;
	struct peer *peer = in->peer;
	const struct peers_attr *attr = &peer->peers->attr;

	if (status) {
		rpc_req_abort(in->req);
	} else {
		attr->receive(attr->arg, peer->manager.id, in->data, in->len);
		rpc_reply_status(in->req, 0);
	}
	incoming_drop(peer);
}

static int read_message(struct peer *peer, struct rpc_req *req)
{
	const struct wire_raft *body = req->msg.body;
	size_t len = le32toh(body->len);
	struct incoming *in;
	struct rail_sge local;
	int rc;

	if (peer->incoming)
		return -EBUSY;
	in = malloc(sizeof(*in) + len);
	if (!in)
		return -ENOMEM;
	in->peer = peer;
	in->req = req;
	in->len = len;
	rail_mem_init(&in->mem, in->data, len, TP_LOCAL_WRITE);
	local = (struct rail_sge){ in->data, (uint32_t)len, &in->mem };
	in->bulk = (struct rpc_bulk){ .dir = RPC_GET,
				      .mem = req->msg.tail[0].ptr,
				      .nmem = le32toh(body->nmem),
				      .local = &local,
				      .nlocal = 1,
				      .len = len,
				      .done = on_read,
				      .arg = in };
	peer->incoming = in;
	rc = rpc_bulk_start(req, &in->bulk);
	if (rc)
		incoming_drop(peer);
	return rc;
}

/* The sender proved the key, or connects from where the managers are. */
static bool is_manager(const struct peers *peers, struct rpc_session *session)
{
	const struct rpc_session_info *info = rpc_session_info(session);

	return info->role == WIRE_ROLE_MGR && peers_admit(peers, info->peer);
}

/* 0: *from has sent it. */
static int check_sender(struct peers *peers, const struct rpc_req *req,
			struct peer **from)
{
	const struct wire_raft *body = req->msg.body;

	if (!is_manager(peers, req->session))
		return -EPERM;
	if (le64toh(body->group) != peers->attr.group)
		return -ESTALE;
	if (le64toh(body->to) != peers->attr.id)
		return -ENXIO;
	*from = peer_find(peers, le64toh(body->from));
	return *from ? 0 : -EPERM;
}

bool peers_handle_request(struct peers *peers, struct rpc_req *req)
{
	const struct peers_attr *attr = &peers->attr;
	const struct wire_raft *body = req->msg.body;
	struct peer *from;
	int rc;

	if (req->op != WIRE_RAFT)
		return false;
	rc = check_sender(peers, req, &from);
	if (!rc && body->nmem) {
		rc = read_message(from, req);
		if (!rc)
			return true;
	} else if (!rc) {
		attr->receive(attr->arg, from->manager.id, req->msg.tail[1].ptr,
			      req->msg.tail[1].len);
	}
	if (rc == -ENOTCONN)
		rpc_req_abort(req);
	else
		rpc_reply_status(req, rc);
	return true;
}
