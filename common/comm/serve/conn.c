/* SPDX-License-Identifier: BSD-2-Clause */
/* conn.c - the server's end of a connection (states: see conn_int.h). */
#include "common/comm/serve/hello_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const conn_state_name[] = {
	[CONN_ACCEPTING] = "ACCEPTING", [CONN_HELLO] = "HELLO",
	[CONN_OPEN] = "OPEN",		[CONN_LINGER] = "LINGER",
	[CONN_DEAD] = "DEAD",
};

void conn_set_state(struct conn *conn, enum conn_state state)
{
	log_debug(conn_log(conn), "%s: %s -> %s", conn->peer,
		  conn_state_name[conn->state], conn_state_name[state]);
	conn->state = state;
}

/* ---- completions and events ---- */

static void conn_completion(struct rpc_link *link, const struct tp_wc *wc)
{
	struct conn *conn = container_of(link, struct conn, link);

	if (wc->status) {
		link_fail(link, wc->status);
	} else if (wc->opcode == TP_READ || wc->opcode == TP_WRITE ||
		   wc->opcode == TP_WRITE_IMM) {
		bulk_complete(conn, (struct rpc_bulk *)(uintptr_t)wc->wr_id);
	} else if (wc->opcode == TP_RECV || wc->opcode == TP_RECV_IMM) {
		if (conn_accepts_messages(conn))
			conn->events->received(
				conn, (struct rx *)(uintptr_t)wc->wr_id, wc);
	} else if (wc->wr_id && conn->state == CONN_LINGER) {
		conn_close(conn, 0);
	}
}

static void conn_event(struct rpc_link *link, const struct tp_event *ev)
{
	struct conn *conn = container_of(link, struct conn, link);

	if (ev->type != TP_EV_ESTABLISHED)
		link_fail(link, ev->status);
	else if (conn->state == CONN_ACCEPTING)
		conn_set_state(conn, CONN_HELLO);
}

static void conn_lost(struct rpc_link *link, int status)
{
	conn_close(container_of(link, struct conn, link), status);
}

static const struct link_ops conn_ops = {
	.completion = conn_completion,
	.event = conn_event,
	.lost = conn_lost,
};

static void conn_timer(struct rpc_timer *timer)
{
	struct conn *conn = container_of(timer, struct conn, timer);

	if (conn->state == CONN_OPEN) {
		if (bulk_is_stalled(conn))
			conn_close(conn, -ETIMEDOUT);
	} else if (conn->state == CONN_LINGER) {
		conn_close(conn, 0);
	} else {
		log_warn(conn_log(conn),
			 "%s: no HELLO within %u ms; connection closed",
			 conn->peer, conn->thread->server->attr.stall_ms);
		conn_close(conn, -ETIMEDOUT);
	}
}

/* ---- close ---- */

void conn_free(struct conn *conn)
{
	struct rpc_ctx *ctx = conn->link.ctx;
	struct server_thread *thread = conn->thread;
	unsigned int i;

	bulk_free_waiting(conn);
	rpc_timer_clear(ctx, &conn->timer);
	link_close(&conn->link);
	bulk_endpoint_free(conn);
	conn_seal_free(conn);
	bulk_loan_free(conn);
	ctx_undefer(ctx, &conn->free_task);
	for (i = 0; conn->rx && i < conn->nrx; i++)
		ctx_undefer(ctx, &conn->rx[i].retry);
	receive_pool_leave(conn);
	rail_mem_fini(&conn->mem);
	fast_close(conn->fast);
	counter_add(&thread->conns_now, -1);
	counter_add(&thread->conn_bytes, -conn->bytes);
	conn->session->nconns--;
	LIST_REMOVE(conn, thread_link);
	free(conn->block);
	free(conn->rx);
	free(conn);
}

static void conn_free_deferred(struct ctx_task *task)
{
	struct conn *conn = container_of(task, struct conn, free_task);
	struct rpc_session *session = conn->session;
	const struct conn_events *events = conn->events;

	conn_free(conn);
	events->freed(session);
}

static void conn_log_close(const struct conn *conn, int status)
{
	if (conn->state == CONN_OPEN && conn->session->opened)
		log_info(conn_log(conn), "%s (%s): connection closed: %s",
			 conn->peer, conn->session->info.cred.name,
			 !status	     ? "by the client"
			 : status == -ESTALE ? "replaced, or its session ended"
					     : strerror(-status));
}

/* Requests in flight keep their buffers until they are answered. */
void conn_close(struct conn *conn, int status)
{
	if (conn->state == CONN_DEAD)
		return;
	conn_log_close(conn, status);
	conn_set_state(conn, CONN_DEAD);
	conn->refs++;
	rpc_timer_clear(conn->link.ctx, &conn->timer);
	link_close(&conn->link);
	bulk_endpoint_close(conn);
	conn->events->closed(conn);
	bulk_fail_all(conn, status ? status : -ECONNRESET);
	bulk_loan_fail_all(conn, status ? status : -ECONNRESET);
	conn_put(conn);
}

/* ---- open ---- */

/*
 * Allocates and registers the requests, if the connection has its own, and two control messages.
 */
static int conn_block(struct conn *conn, unsigned int rail, size_t requests)
{
	size_t len = (requests + 2 * CONN_CTL_MAX + 4095) & ~(size_t)4095;
	int rc;

	conn->block = aligned_alloc(4096, len);
	if (!conn->block)
		return -ENOMEM;
	conn->bytes += len;
	rail_mem_init(&conn->mem, conn->block, len, TP_LOCAL_WRITE);
	rc = rail_mem_on(&conn->mem, conn_rails(conn), rail);
	if (rc)
		return rc;
	conn->lkey = conn->mem.mr[rail]->lkey;
	conn->ctl = conn->block + requests;
	return 0;
}

static int conn_open_own(struct conn *conn, unsigned int rail,
			 unsigned int more, unsigned int max_send)
{
	size_t step = server_step(conn->request_max);
	unsigned int i;
	int rc = conn_block(conn, rail, step * conn->nrx);

	if (!rc)
		rc = link_open(&conn->link, rail, max_send, conn->nrx + more);
	for (i = 0; !rc && i < conn->nrx; i++)
		rc = rx_init(conn, &conn->rx[i], conn->block + i * step,
			     conn->lkey);
	return rc;
}

static int conn_open_shared(struct conn *conn, unsigned int rail,
			    unsigned int more, unsigned int max_send)
{
	unsigned int i;
	int rc = conn_block(conn, rail, 0);

	if (rc)
		return rc;
	conn->nrx += more;
	for (i = 0; i < conn->nrx; i++)
		conn->rx[i].conn = conn;
	receive_pool_join(conn->thread->pool[rail], conn);
	return link_open(&conn->link, rail, max_send, 0);
}

/* One receive more than slots, for HELLO and BYE, which have no slot. */
static int conn_alloc(struct conn *conn, const struct rpc_server_attr *attr,
		      unsigned int rail)
{
	unsigned int more = attr->carry ? WIRE_CARRY_MAX : 0;
	unsigned int max_send = CTX_WR_MAX + 2 * attr->slots + 64;
	size_t len = (attr->slots + 1 + more) * sizeof(*conn->rx);

	conn->request_max = conn_request_max(conn->thread, rail);
	conn->nrx = attr->slots + 1;
	conn->rx = calloc(1, len);
	if (!conn->rx)
		return -ENOMEM;
	conn->bytes += sizeof(*conn) + len;
	return receive_pool_get(conn->thread, rail, conn->request_max)
		       ? conn_open_shared(conn, rail, more, max_send)
		       : conn_open_own(conn, rail, more, max_send);
}

int conn_open(struct server_thread *thread, const struct thread_mail *mail,
	      const struct conn_events *events, struct conn **out)
{
	struct rpc_session *session = mail->session;
	struct conn *conn = calloc(1, sizeof(*conn));
	int rc;

	if (!conn)
		return -ENOMEM;
	link_init(&conn->link, &conn_ops, thread->ctx);
	snprintf(conn->peer, sizeof(conn->peer), "%s", tp_req_peer(mail->req));
	conn->state = CONN_ACCEPTING;
	conn->thread = thread;
	conn->session = session;
	conn->events = events;
	conn->role = mail->role;
	conn->epoch = mail->epoch;
	conn->reply_max = mail->reply_max;
	conn->bulk.link = &conn->link;
	conn->bulk.ready = true;
	conn->free_task.run = conn_free_deferred;
	conn->timer.fire = conn_timer;
	TAILQ_INIT(&conn->bulk.posted);
	TAILQ_INIT(&conn->bulk.waiting);
	session->nconns++;
	LIST_INSERT_HEAD(&thread->conns, conn, thread_link);
	rc = conn_alloc(conn, &thread->server->attr, mail->rail);
	counter_increment(&thread->conns_now);
	counter_add(&thread->conn_bytes, conn->bytes);
	if (rc)
		conn_free(conn);
	else
		*out = conn;
	return rc;
}
