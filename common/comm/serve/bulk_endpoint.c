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

#define BULK_ENDPOINT_BYE_MS                                                   \
	1000u /* for messages still in flight on the other endpoint */

struct bulk_endpoint {
	struct rpc_link link;
	struct conn *conn;
	struct rpc_timer bye_timer; /* the peer closed it; the rest follows */
};

bool bulk_endpoint_offer(struct conn *conn)
{
	conn->may_join = !random_bytes(conn->token, sizeof(conn->token));
	return conn->may_join;
}

static void bulk_endpoint_completion(struct rpc_link *link,
				     const struct tp_wc *wc)
{
	struct conn *conn =
		container_of(link, struct bulk_endpoint, link)->conn;

	if (wc->status)
		link_fail(&conn->link, wc->status);
	else if (wc->opcode != TP_SEND)
		bulk_complete(conn, (struct rpc_bulk *)(uintptr_t)wc->wr_id);
}

/*
 * Called when the second endpoint has ended.  A client that ends its session closes both endpoints,
 * and its BYE may still be in flight.  If the endpoint was never ready, no data went over it.
 */
static void bulk_endpoint_ended(struct bulk_endpoint *endpoint, int status)
{
	struct conn *conn = endpoint->conn;

	if (!conn->bulk.ready) {
		bulk_endpoint_free(conn);
		bulk_pump(conn);
		return;
	}
	conn->bulk.ready = false;
	if (status)
		link_fail(&conn->link, status);
	else
		rpc_timer_set(conn->link.ctx, &endpoint->bye_timer,
			      clock_after_ms(BULK_ENDPOINT_BYE_MS));
}

static void bulk_endpoint_event(struct rpc_link *link,
				const struct tp_event *ev)
{
	struct bulk_endpoint *endpoint =
		container_of(link, struct bulk_endpoint, link);

	if (ev->type != TP_EV_ESTABLISHED) {
		bulk_endpoint_ended(endpoint, ev->status);
		return;
	}
	endpoint->conn->bulk.ready = true;
	bulk_pump(endpoint->conn);
}

static void bulk_endpoint_lost(struct rpc_link *link, int status)
{
	link_fail(&container_of(link, struct bulk_endpoint, link)->conn->link,
		  status);
}

static void bulk_endpoint_bye_expired(struct rpc_timer *timer)
{
	struct bulk_endpoint *endpoint =
		container_of(timer, struct bulk_endpoint, bye_timer);

	link_fail(&endpoint->conn->link, -ECONNRESET);
}

static const struct link_ops bulk_endpoint_ops = {
	.completion = bulk_endpoint_completion,
	.event = bulk_endpoint_event,
	.lost = bulk_endpoint_lost,
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

struct conn *bulk_endpoint_find_conn(const struct thread_mail *mail)
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

static int bulk_endpoint_open(struct conn *conn)
{
	unsigned int slots = conn->thread->server->attr.slots;
	struct bulk_endpoint *endpoint = calloc(1, sizeof(*endpoint));
	int rc;

	if (!endpoint)
		return -ENOMEM;
	link_init(&endpoint->link, &bulk_endpoint_ops, conn->link.ctx);
	endpoint->link.bulk = true;
	endpoint->conn = conn;
	endpoint->bye_timer.fire = bulk_endpoint_bye_expired;
	rc = link_open(&endpoint->link, conn->link.rail,
		       CTX_WR_MAX + slots + 64, 1);
	if (rc) {
		free(endpoint);
		return rc;
	}
	conn->endpoint = endpoint;
	conn->bulk.link = &endpoint->link;
	conn->bulk.ready = false;
	counter_increment(&conn->thread->aparts_now);
	return 0;
}

int bulk_endpoint_accept(struct conn *conn, struct tp_conn_req *req,
			 const void *answer, unsigned int len)
{
	int rc = bulk_endpoint_open(conn);

	if (rc)
		return rc;
	rc = tp_accept(conn->endpoint->link.ep, req, answer, len);
	if (rc)
		link_fail(&conn->link, rc);
	return 0;
}

void bulk_endpoint_close(struct conn *conn)
{
	struct bulk_endpoint *endpoint = conn->endpoint;

	if (!endpoint || !endpoint->link.ep)
		return;
	rpc_timer_clear(endpoint->link.ctx, &endpoint->bye_timer);
	link_close(&endpoint->link);
	counter_add(&conn->thread->aparts_now, -1);
}

void bulk_endpoint_free(struct conn *conn)
{
	bulk_endpoint_close(conn);
	free(conn->endpoint);
	conn->endpoint = NULL;
	conn->bulk.link = &conn->link;
	conn->bulk.ready = true;
}
