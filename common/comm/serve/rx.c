/* SPDX-License-Identifier: BSD-2-Clause */
/* rx.c - the receives of a connection: posted, taken, posted again. */
#include "server_int.h"

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
