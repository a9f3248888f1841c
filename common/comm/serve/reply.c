/* SPDX-License-Identifier: BSD-2-Clause */
/* reply.c - builds replies in the buffer of the slot, keeps them there, and sends them. */
#include <errno.h>

#include "common/comm/serve/server_int.h"

static struct slot *reply_slot(const struct rpc_req *req)
{
	return &req->session->slots[req->slot];
}

struct wire_out *rpc_reply_begin(struct rpc_req *req)
{
	struct rx *rx = container_of(req, struct rx, req);
	size_t max = rx->conn->lane->server->attr.reply_max;

	if (max > rx->conn->reply_max)
		max = rx->conn->reply_max;
	rx->reply_flags = 0;
	wire_begin(&rx->out, reply_slot(req)->reply, max);
	return &rx->out;
}

void rpc_reply_end(struct rpc_req *req, int status, unsigned int flags)
{
	struct rx *rx = container_of(req, struct rx, req);
	struct wire_hdr *hdr = (struct wire_hdr *)reply_slot(req)->reply;
	int len;

	if (status < 0)
		rpc_reply_begin(req);
	len = wire_end(&rx->out, req->op, WIRE_F_REPLY | rx->reply_flags, 0);
	if (len < 0) {
		status = len;
		rpc_reply_begin(req);
		len = wire_end(&rx->out, req->op, WIRE_F_REPLY, 0);
	}
	hdr->slot = htole16((uint16_t)req->slot);
	hdr->session = req->msg.hdr->session;
	hdr->seq = htole64(req->seq);
	hdr->credits = htole32(req->session->credits);
	hdr->status = htole32((uint32_t)(status < 0 ? -status : status));
	rx->reply_len = (uint32_t)len;
	rx->rerun |= flags & RPC_REEXECUTE;
	rx->whole = flags & RPC_WHOLE && !status;
}

void rpc_reply_caps(struct rpc_req *req)
{
	container_of(req, struct rx, req)->reply_flags = WIRE_F_CAPS;
}

const void *rpc_reply_bytes(const struct rpc_req *req, size_t *len)
{
	const struct rx *rx = container_of(req, struct rx, req);

	*len = rx->reply_len;
	return reply_slot(req)->reply;
}

void conn_send_over(struct conn *conn, struct link *link, const void *msg,
		    uint32_t len, uint32_t lkey)
{
	struct tp_sge sge = { (void *)(uintptr_t)msg, len, lkey };
	int rc = link_send(link, &sge, 1, conn->state == CONN_LINGER);

	lane_add(link == &conn->link ? &conn->lane->message_bytes
				     : &conn->lane->apart_bytes,
		 len);
	if (rc)
		link_fail(&conn->link, rc);
}

void conn_send(struct conn *conn, const void *msg, uint32_t len, uint32_t lkey)
{
	conn_send_over(conn, &conn->link, msg, len, lkey);
}

/* The receive is posted before the reply is sent, so the next request finds it. */
void reply_post(struct rx *rx)
{
	struct conn *conn = rx->conn;
	struct wire_hdr *reply = (struct wire_hdr *)reply_slot(&rx->req)->reply;
	uint32_t len = rx->reply_len;
	uint64_t now = clock_boot();
	bool put = rx->put;

	reply->clock = htole64(now);
	tally_add(rx, now, le32toh(reply->status));
	parts_end(rx, now, le32toh(reply->status));
	req_finish(rx, true);
	if (!place_reply(rx, reply, len) && conn->state == CONN_OPEN)
		conn_send_over(conn, put ? apart_link(conn) : &conn->link,
			       reply, len, conn->reply_lkey);
}

void rpc_reply_send(struct rpc_req *req)
{
	struct rx *rx = container_of(req, struct rx, req);

	if (rx->bulks)
		rx->answered = true;
	else
		reply_post(rx);
}

void rpc_reply_status(struct rpc_req *req, int status)
{
	rpc_reply_begin(req);
	rpc_reply_end(req, status, 0);
	rpc_reply_send(req);
}
