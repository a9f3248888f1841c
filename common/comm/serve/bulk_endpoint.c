/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bulk_endpoint.c - a second endpoint of a connection, for bulk data.  (MPI over InfiniBand has
 * used such pairs.  PVFS over InfiniBand, ICPP 2003, separates the two classes by their buffers.)
 * On the network it may have a class of its own.
 *
 * The two endpoints have no common order.  So a message that must follow written data goes over
 * the same endpoint as the data: the reply, or the immediate in its place.
 */
#include "common/comm/serve/conn_int.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/random_id.h"

#define APART_BYE_MS                                                           \
	1000u /* for messages still in flight on the other endpoint */

struct apart {
	struct link link;
	struct conn *conn;
	struct rpc_timer left; /* the peer closed it; the rest follows */
};

bool apart_offer(struct conn *conn)
{
	conn->may_join = !random_bytes(conn->token, sizeof(conn->token));
	return conn->may_join;
}

static void apart_completion(struct link *link, const struct tp_wc *wc)
{
	struct conn *conn = container_of(link, struct apart, link)->conn;

	if (wc->status)
		link_fail(&conn->link, wc->status);
	else if (wc->opcode != TP_SEND)
		bulk_complete(conn, (struct rpc_bulk *)(uintptr_t)wc->wr_id);
}

/*
 * A client that leaves closes both endpoints, and its BYE may still be in flight.  No data went
 * over an endpoint that was never ready.
 */
static void apart_ended(struct apart *apart, int status)
{
	struct conn *conn = apart->conn;

	if (!conn->bulk_ready) {
		apart_free(conn);
		bulk_pump(conn);
		return;
	}
	conn->bulk_ready = false;
	if (status)
		link_fail(&conn->link, status);
	else
		rpc_timer_set(conn->link.ctx, &apart->left,
			      clock_after_ms(APART_BYE_MS));
}

static void apart_event(struct link *link, const struct tp_event *ev)
{
	struct apart *apart = container_of(link, struct apart, link);

	if (ev->type != TP_EV_ESTABLISHED) {
		apart_ended(apart, ev->status);
		return;
	}
	apart->conn->bulk_ready = true;
	bulk_pump(apart->conn);
}

static void apart_lost(struct link *link, int status)
{
	link_fail(&container_of(link, struct apart, link)->conn->link, status);
}

static void apart_left(struct rpc_timer *timer)
{
	struct apart *apart = container_of(timer, struct apart, left);

	link_fail(&apart->conn->link, -ECONNRESET);
}

static const struct link_ops apart_ops = {
	.completion = apart_completion,
	.event = apart_event,
	.lost = apart_lost,
};

/* Compares in constant time, so that the bytes cannot be guessed one by one. */
static bool bytes_are_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
	uint8_t differ = 0;
	size_t i;

	for (i = 0; i < len; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

struct conn *apart_conn(const struct mail *mail)
{
	struct conn *conn = mail->session->conn;

	if (!conn || !conn->may_join || conn->state != CONN_OPEN ||
	    conn->link.failed.queued || conn->epoch != mail->epoch ||
	    conn->link.rail != mail->rail ||
	    !bytes_are_equal(conn->token, mail->hail.nonce,
			     sizeof(conn->token)))
		return NULL;
	conn->may_join = false;
	return conn;
}

static int apart_open(struct conn *conn)
{
	unsigned int slots = conn->lane->server->attr.slots;
	struct apart *apart = calloc(1, sizeof(*apart));
	int rc;

	if (!apart)
		return -ENOMEM;
	link_init(&apart->link, &apart_ops, conn->link.ctx);
	apart->link.bulk = true;
	apart->conn = conn;
	apart->left.fire = apart_left;
	rc = link_open(&apart->link, conn->link.rail, CTX_WR_MAX + slots + 64,
		       1);
	if (rc) {
		free(apart);
		return rc;
	}
	conn->apart = apart;
	conn->bulk_link = &apart->link;
	conn->bulk_ready = false;
	lane_count(&conn->lane->aparts_now);
	return 0;
}

int apart_accept(struct conn *conn, struct tp_conn_req *req, const void *answer,
		 unsigned int len)
{
	int rc = apart_open(conn);

	if (rc)
		return rc;
	rc = tp_accept(conn->apart->link.ep, req, answer, len);
	if (rc)
		link_fail(&conn->link, rc);
	return 0;
}

void apart_close(struct conn *conn)
{
	struct apart *apart = conn->apart;

	if (!apart || !apart->link.ep)
		return;
	rpc_timer_clear(apart->link.ctx, &apart->left);
	link_close(&apart->link);
	lane_add(&conn->lane->aparts_now, -1);
}

void apart_free(struct conn *conn)
{
	apart_close(conn);
	free(conn->apart);
	conn->apart = NULL;
	conn->bulk_link = &conn->link;
	conn->bulk_ready = true;
}
