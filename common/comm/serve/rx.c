/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rx.c - the receives of a connection: posted, taken, posted again.  Also the data that comes
 * with a request, after its message or in a Fast RDMA buffer.
 *
 * The client can write to its Fast RDMA buffers at any time.  So the message is copied to the
 * receive buffer of the request and checked there.  Only the data stays in place.
 */
#include <errno.h>
#include <string.h>

#include "common/comm/serve/server_int.h"

static int rx_post(struct rx *rx)
{
	struct conn *conn = rx->conn;
	struct tp_recv_wr wr = {
		.wr_id = (uintptr_t)rx,
		.sge = { .addr = rx->buf,
			 .len = (uint32_t)conn->request_max,
			 .lkey = rx->lkey },
	};

	rx->state = RX_POSTED;
	return tp_post_recv(conn->link.ep, &wr);
}

void rx_release(struct rx *rx)
{
	struct conn *conn = rx->conn;
	int rc;

	if (conn->shared) {
		shared_release(rx);
		conn_put(conn);
		return;
	}
	rx->state = RX_POSTED;
	if (conn->state == CONN_HELLO || conn->state == CONN_OPEN) {
		rc = rx_post(rx);
		if (rc)
			link_fail(&conn->link, rc);
	}
	conn_put(conn);
}

static void rx_retry(struct ctx_task *task)
{
	struct rx *rx = container_of(task, struct rx, retry);

	rx->state = RX_BUSY;
	req_take(rx);
}

void rx_prepare(struct conn *conn, struct rx *rx)
{
	rx->conn = conn;
	rx->retry.run = rx_retry;
}

int rx_init(struct conn *conn, struct rx *rx, void *buf, uint32_t lkey)
{
	rx_prepare(conn, rx);
	rx->buf = buf;
	rx->lkey = lkey;
	return rx_post(rx);
}

int rx_more(struct conn *conn, uint8_t *block, size_t step, uint32_t lkey)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < WIRE_CARRY_MAX; i++) {
		rc = rx_init(conn, &conn->rx[conn->nrx], block + i * step,
			     lkey);
		conn->nrx += !rc;
	}
	return rc;
}

/* ---- data that comes with a request ---- */

/*
 * Bytes of the message without data, according to its header; all bytes if that is impossible.
 */
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

/* Only this connection can write there, whatever keys others know. */
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

/* A replay on another connection needs the buffers of that connection, so it runs again. */
void fast_req_run(struct rpc_req *req)
{
	struct rx *rx = container_of(req, struct rx, req);
	struct wire_fast_rep rep = { 0 };
	int rc = give_buffers(rx->conn, &rep);

	wire_put(rpc_reply_begin(req), &rep, sizeof(rep));
	rpc_reply_end(req, rc, RPC_REEXECUTE);
	rpc_reply_send(req);
}
