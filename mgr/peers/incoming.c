/* SPDX-License-Identifier: BSD-2-Clause */
/* incoming.c - messages of other managers, and whether they are of the group. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/peers/peers_int.h"

/* ---- open requests ---- */

/* len 0: without a message. */
static void reply_oldest(struct peer *peer, const void *data, size_t len)
{
	struct wire_raft_rep rep = { .data_len = htole32((uint32_t)len) };
	struct rpc_req *req = peer->open[0];
	struct wire_out *out = rpc_reply_begin(req);

	peer->n_open--;
	memmove(peer->open, peer->open + 1,
		peer->n_open * sizeof(peer->open[0]));
	if (len) {
		wire_put(out, &rep, sizeof(rep));
		wire_put(out, data, len);
	}
	rpc_reply_end(req, 0, 0);
	rpc_reply_send(req);
}

void incoming_reply_late(struct peer *peer)
{
	while (peer->n_open &&
	       (rpc_req_late(peer->open[0]) || !rpc_req_epoch(peer->open[0])))
		reply_oldest(peer, NULL, 0);
}

bool incoming_reply(struct peer *peer, const void *data, size_t len)
{
	incoming_reply_late(peer);
	if (!peer->n_open)
		return false;
	reply_oldest(peer, data, len);
	return true;
}

void incoming_reply_all(struct peer *peer)
{
	while (peer->n_open)
		reply_oldest(peer, NULL, 0);
}

static void open_request(struct peer *peer, struct rpc_req *req)
{
	incoming_reply_late(peer);
	if (peer->n_open == OPEN_MAX)
		reply_oldest(peer, NULL, 0);
	peer->open[peer->n_open++] = req;
	rpc_req_enter(req, RPC_FLUSH);
}

/* The result of this message does not follow. */
static void close_request(struct peer *peer, struct rpc_req *req)
{
	if (!peer->n_open || peer->open[peer->n_open - 1] != req)
		return;
	peer->n_open--;
	rpc_reply_status(req, 0);
}

/* ---- messages ---- */

static void receive_inline(struct peer *peer, struct rpc_req *req)
{
	const struct peers_attr *attr = &peer->peers->attr;
	bool opens = rpc_session_info(req->session)->features & WIRE_FT_RAFT;
	const void *data = req->msg.tail[1].ptr;
	size_t len = req->msg.tail[1].len;

	if (!opens) {
		attr->receive(attr->arg, peer->manager.id, data, len);
		rpc_reply_status(req, 0);
		return;
	}
	open_request(peer, req);
	if (!attr->receive(attr->arg, peer->manager.id, data, len))
		close_request(peer, req);
}

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
	const struct wire_raft *body = req->msg.body;
	struct peer *from;
	int rc;

	if (req->op != WIRE_RAFT)
		return false;
	rc = check_sender(peers, req, &from);
	if (!rc && !body->nmem)
		receive_inline(from, req);
	else if (!rc)
		rc = read_message(from, req);
	if (rc == -ENOTCONN)
		rpc_req_abort(req);
	else if (rc)
		rpc_reply_status(req, rc);
	return true;
}
