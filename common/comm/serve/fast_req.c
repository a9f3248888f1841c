/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fast_req.c - requests that bring data along: behind the message in the
 * receive buffer, or in a Fast RDMA buffer.
 *
 * The client can write to its Fast RDMA buffers at any time.  So the message
 * is copied to the receive buffer that the request took, and checked there;
 * only the data stays where it is.
 */
#include <errno.h>
#include <string.h>

#include "server_int.h"

/* Bytes of the message alone, as its header says; all, if that cannot be. */
static uint32_t message_len(const struct rx *rx)
{
	const struct wire_hdr *hdr = rx->buf;
	uint32_t len;

	if (rx->len < sizeof(*hdr) || !(le16toh(hdr->flags) & WIRE_F_DATA))
		return rx->len;
	len = le32toh(hdr->len);
	return len < sizeof(*hdr) || len > rx->len ? rx->len : len;
}

void fast_req_split(struct rx *rx)
{
	uint32_t len = message_len(rx);

	rx->by_fast = false;
	rx->data = (const uint8_t *)rx->buf + len;
	rx->data_len = rx->len - len;
	rx->len = len;
}

int fast_req_copy(struct rx *rx, uint32_t buffer, uint32_t len)
{
	const struct conn *conn = rx->conn;
	struct wire_hdr hdr;
	uint8_t *from;

	rx->len = 0;
	rx->by_fast = true;
	if (!conn->fast || buffer >= FAST_COUNT || len > FAST_SIZE ||
	    len < sizeof(hdr))
		return -EPROTO;
	from = fast_buf(conn->fast, buffer);
	memcpy(&hdr, from, sizeof(hdr));
	rx->len = le32toh(hdr.len);
	if (rx->len < sizeof(hdr) || rx->len > len ||
	    rx->len > conn->request_max) {
		rx->len = 0;
		return -EPROTO;
	}
	memcpy(rx->buf, from, rx->len);
	rx->data = from + rx->len;
	rx->data_len = len - rx->len;
	lane_count(&conn->lane->fast);
	return 0;
}

int fast_req_check(struct rx *rx)
{
	return rx->data_len == wire_data_len(&rx->req.msg) ? 0 : -EPROTO;
}

const void *rpc_req_data(const struct rpc_req *req)
{
	const struct rx *rx = container_of(req, const struct rx, req);

	return rx->data_len ? rx->data : NULL;
}

/* ---- FAST: buffers for the connection, at its first such request ---- */

/* Nobody else writes there, whatever keys he has. */
static int open_own(struct conn *conn)
{
	return fast_open(conn_rails(conn), conn->link.rail,
			 &conn->lane->server->fast, conn->link.ep, &conn->fast);
}

static int give_buffers(struct conn *conn, struct wire_fast_rep *rep)
{
	struct rpc_server *server = conn->lane->server;
	struct fast_place place;
	int rc = 0;

	if (!server->fast.max)
		return -EOPNOTSUPP;
	if (!conn->fast)
		rc = open_own(conn);
	if (rc)
		return rc;
	fast_place(conn->fast, &place);
	*rep = (struct wire_fast_rep){ .addr = htole64(place.addr),
				       .rkey = htole32(place.rkey),
				       .size = htole32(place.size),
				       .count = htole32(place.count) };
	return 0;
}

/* A replay on another connection is about that one's buffers: it runs again. */
void fast_req_run(struct rpc_req *req)
{
	struct rx *rx = container_of(req, struct rx, req);
	struct wire_fast_rep rep = { 0 };
	int rc = give_buffers(rx->conn, &rep);

	wire_put(rpc_reply_begin(req), &rep, sizeof(rep));
	rpc_reply_end(req, rc, RPC_REEXECUTE);
	rpc_reply_send(req);
}
