/* SPDX-License-Identifier: BSD-2-Clause */
/* conn.c - the server's end of a connection (states: see server_int.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/serve/carry_int.h"
#include "common/comm/serve/conn_seal_int.h"

static const char *const conn_state_name[] = {
	[CONN_ACCEPTING] = "ACCEPTING", [CONN_HELLO] = "HELLO",
	[CONN_OPEN] = "OPEN",		[CONN_LINGER] = "LINGER",
	[CONN_DEAD] = "DEAD",
};

void conn_put(struct conn *conn)
{
	if (!--conn->held && conn->state == CONN_DEAD)
		ctx_defer(conn->link.ctx, &conn->gone);
}

void conn_set_state(struct conn *conn, enum conn_state state)
{
	log_debug(conn_log(conn), "%s: %s -> %s", conn->peer,
		  conn_state_name[conn->state], conn_state_name[state]);
	conn->state = state;
}

/* ---- completions and events ---- */

static int conn_parse(struct conn *conn, struct rx *rx, const char **why)
{
	int rc = wire_parse(rx->buf, rx->len, &rx->req.msg, why);

	if (!rc && le16toh(rx->req.msg.hdr->flags) & WIRE_F_REPLY) {
		rc = -EPROTO;
		*why = "a reply instead of a request";
	}
	if (!rc &&
	    le64toh(rx->req.msg.hdr->session) != conn->session->info.id) {
		rc = -EPROTO;
		*why = "session is not that of the connection";
	}
	if (!rc) {
		*why = "not the data that it says";
		rc = fast_req_check(rx);
	}
	return rc;
}

/* wc->imm: the number of a Fast RDMA buffer. */
static int conn_take(struct conn *conn, struct rx *rx, const struct tp_wc *wc,
		     const char **why)
{
	rx->len = wc->byte_len;
	if (wc->opcode == TP_RECV) {
		fast_req_split(rx);
	} else if (fast_req_copy(rx, wc->imm, wc->byte_len)) {
		*why = "no request in a Fast RDMA buffer";
		return -EPROTO;
	}
	return conn_parse(conn, rx, why);
}

static void conn_carried(struct conn *conn, struct rx *rx, uint32_t imm)
{
	if (!carry_expected(conn, imm)) {
		rx->len = 0;
		greet_error(conn, rx, -EPROTO, "answers what was not asked");
		return;
	}
	rx_release(rx);
	carry_answered(conn, imm);
}

bool conn_hears(const struct conn *conn)
{
	return !conn->link.failed.queued && conn->state < CONN_LINGER;
}

void conn_received(struct conn *conn, struct rx *rx, const struct tp_wc *wc)
{
	const char *why = "?";
	int rc;

	conn->held++;
	rx->state = RX_BUSY;
	link_heard(&conn->link, wc, rx->buf);
	lane_add(&conn->lane->message_bytes, wc->byte_len);
	if (conn->state == CONN_ACCEPTING)
		conn_set_state(conn, CONN_HELLO);
	if (wc->opcode == TP_RECV_IMM && wc->imm & WIRE_IMM_CARRIED) {
		conn_carried(conn, rx, wc->imm);
		return;
	}
	rc = conn_take(conn, rx, wc, &why);
	if (rc)
		greet_error(conn, rx, rc, why);
	else if (conn->state == CONN_HELLO)
		greet_hello(conn, rx);
	else if (le16toh(rx->req.msg.hdr->op) == WIRE_BYE)
		greet_bye(conn, rx->req.msg.hdr);
	else
		req_take(rx);
}

static void conn_completion(struct link *link, const struct tp_wc *wc)
{
	struct conn *conn = container_of(link, struct conn, link);

	if (wc->status) {
		link_fail(link, wc->status);
	} else if (wc->opcode == TP_READ || wc->opcode == TP_WRITE ||
		   wc->opcode == TP_WRITE_IMM) {
		bulk_complete(conn, (struct rpc_bulk *)(uintptr_t)wc->wr_id);
	} else if (wc->opcode == TP_RECV || wc->opcode == TP_RECV_IMM) {
		if (conn_hears(conn))
			conn_received(conn, (struct rx *)(uintptr_t)wc->wr_id,
				      wc);
	} else if (wc->wr_id && conn->state == CONN_LINGER) {
		conn_close(conn, 0);
	}
}

static void conn_event(struct link *link, const struct tp_event *ev)
{
	struct conn *conn = container_of(link, struct conn, link);

	if (ev->type != TP_EV_ESTABLISHED)
		link_fail(link, ev->status);
	else if (conn->state == CONN_ACCEPTING)
		conn_set_state(conn, CONN_HELLO);
}

static void conn_lost(struct link *link, int status)
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
		bulk_watch(conn);
	} else if (conn->state == CONN_LINGER) {
		conn_close(conn, 0);
	} else {
		log_warn(conn_log(conn),
			 "%s: no HELLO within %u ms; connection closed",
			 conn->peer, conn->lane->server->attr.stall_ms);
		conn_close(conn, -ETIMEDOUT);
	}
}

/* ---- open and close ---- */

static void conn_gone(struct ctx_task *task)
{
	struct conn *conn = container_of(task, struct conn, gone);
	struct rpc_session *session = conn->session;

	conn_free(conn);
	session_unused(session);
}

void conn_free(struct conn *conn)
{
	struct rpc_ctx *ctx = conn->link.ctx;
	struct lane *lane = conn->lane;
	unsigned int i;

	bulk_forget(conn);
	rpc_timer_clear(ctx, &conn->timer);
	link_close(&conn->link);
	apart_free(conn);
	conn_seal_free(conn);
	carry_free(conn);
	ctx_undefer(ctx, &conn->gone);
	for (i = 0; conn->rx && i < conn->nrx; i++)
		ctx_undefer(ctx, &conn->rx[i].retry);
	shared_leave(conn);
	rail_mem_fini(&conn->mem);
	fast_close(conn->fast);
	lane_add(&lane->conns_now, -1);
	lane_add(&lane->conn_bytes, -conn->bytes);
	conn->session->nconns--;
	guest_leave(conn);
	LIST_REMOVE(conn, lane_link);
	free(conn->block);
	free(conn->rx);
	free(conn);
}

static void conn_log_close(const struct conn *conn, int status)
{
	const struct rpc_session_info *info = &conn->session->info;

	if (conn->state == CONN_OPEN && conn->session->opened)
		log_info(conn_log(conn), "%s (%s): connection closed: %s",
			 conn->peer, info->cred.name,
			 !status	     ? "by the client"
			 : status == -ESTALE ? "replaced, or its session ended"
					     : strerror(-status));
}

/* Requests in flight keep their buffers until they are answered. */
void conn_close(struct conn *conn, int status)
{
	unsigned int i;

	if (conn->state == CONN_DEAD)
		return;
	conn_log_close(conn, status);
	conn_set_state(conn, CONN_DEAD);
	conn->held++;
	rpc_timer_clear(conn->link.ctx, &conn->timer);
	link_close(&conn->link);
	apart_close(conn);
	for (i = 0; i < conn->nrx; i++) {
		if (conn->rx[i].state == RX_PARKED)
			req_forget(&conn->rx[i]);
	}
	session_leave(conn->session, conn);
	bulk_fail_all(conn, status ? status : -ECONNRESET);
	carry_fail_all(conn, status ? status : -ECONNRESET);
	conn_put(conn);
}

unsigned int conn_accept_data(const struct rpc_server *server, int status,
			      size_t request_max, struct wire_accept *acc)
{
	*acc = (struct wire_accept){
		.magic = htole32(WIRE_MAGIC),
		.version = htole16(WIRE_VERSION),
		.status = htole16((uint16_t)-status),
		.fsid = htole64(server->attr.fsid),
		.boot = htole64(server->attr.boot),
	};
	if (!status) {
		acc->credits = htole32(server->attr.slots);
		acc->request_max = htole32((uint32_t)request_max);
	}
	return sizeof(*acc);
}

void conn_reject(struct rpc_server *server, struct tp_conn_req *req, int status)
{
	struct wire_accept acc;

	tp_reject(req, &acc, conn_accept_data(server, status, 0, &acc));
}

/*
 * On a rail that pins memory, requests have little room for data.  Fast RDMA buffers (fast.h)
 * carry it there.
 */
size_t conn_request_max(const struct lane *lane, unsigned int rail)
{
	const struct rpc_server_attr *attr = &lane->server->attr;
	struct tp_dev *dev = lane->ctx->rails.dev[rail];
	uint32_t data = sizes_get(&attr->inline_max, tp_dev_name(dev),
				  tp_dev_pins(dev) ? CONN_PINNED_INLINE
						   : WIRE_INLINE_MAX);
	size_t max = sizeof(struct wire_hdr) + WIRE_BODY_MAX + data;

	return max < attr->request_max ? max : attr->request_max;
}

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

static int conn_own(struct conn *conn, unsigned int rail, unsigned int more,
		    unsigned int max_send)
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

static int conn_share(struct conn *conn, unsigned int rail, unsigned int more,
		      unsigned int max_send)
{
	unsigned int i;
	int rc = conn_block(conn, rail, 0);

	if (rc)
		return rc;
	conn->nrx += more;
	for (i = 0; i < conn->nrx; i++)
		rx_prepare(conn, &conn->rx[i]);
	shared_join(conn->lane->shared[rail], conn);
	return link_open(&conn->link, rail, max_send, 0);
}

/* One receive more than slots, for HELLO and BYE, which have no slot. */
static int conn_alloc(struct conn *conn, const struct rpc_server_attr *attr,
		      unsigned int rail)
{
	unsigned int more = attr->carry ? WIRE_CARRY_MAX : 0;
	unsigned int max_send = CTX_WR_MAX + 2 * attr->slots + 64;
	size_t len = (attr->slots + 1 + more) * sizeof(*conn->rx);

	conn->request_max = conn_request_max(conn->lane, rail);
	conn->nrx = attr->slots + 1;
	conn->rx = calloc(1, len);
	if (!conn->rx)
		return -ENOMEM;
	conn->bytes += sizeof(*conn) + len;
	return shared_of(conn->lane, rail)
		       ? conn_share(conn, rail, more, max_send)
		       : conn_own(conn, rail, more, max_send);
}

static int conn_new(struct lane *lane, const struct mail *mail,
		    struct conn **out)
{
	struct rpc_session *session = mail->session;
	struct conn *conn = calloc(1, sizeof(*conn));
	int rc;

	if (!conn)
		return -ENOMEM;
	link_init(&conn->link, &conn_ops, lane->ctx);
	snprintf(conn->peer, sizeof(conn->peer), "%s", tp_req_peer(mail->req));
	conn->state = CONN_ACCEPTING;
	conn->lane = lane;
	conn->session = session;
	conn->gone.run = conn_gone;
	conn->timer.fire = conn_timer;
	TAILQ_INIT(&conn->posted);
	TAILQ_INIT(&conn->waiting);
	session->nconns++;
	LIST_INSERT_HEAD(&lane->conns, conn, lane_link);
	rc = conn_alloc(conn, &lane->server->attr, mail->rail);
	lane_count(&lane->conns_now);
	lane_add(&lane->conn_bytes, conn->bytes);
	if (rc)
		conn_free(conn);
	else
		*out = conn;
	return rc;
}

void conn_accept(struct lane *lane, const struct mail *mail)
{
	struct tp_conn_req *req = mail->req;
	struct conn_answer answer;
	struct conn *conn;
	unsigned int len;
	int rc = conn_new(lane, mail, &conn);

	if (rc) {
		log_error(lane->server->attr.log,
			  "%s: refused: no room for a connection: %s",
			  tp_req_peer(req), strerror(-rc));
		conn_reject(lane->server, req, -EAGAIN);
		return;
	}
	conn->role = mail->role;
	conn->epoch = mail->epoch;
	conn->reply_max = mail->reply_max;
	guest_come(conn);
	rpc_timer_set(lane->ctx, &conn->timer,
		      clock_after_ms(lane->server->attr.stall_ms));
	len = conn_accept_data(lane->server, 0, conn->request_max, &answer.acc);
	len += conn_hail(conn, &mail->hail, &answer.hail);
	conn_here_begin(conn, mail->heard, &answer, len);
	rc = tp_accept(conn->link.ep, req, &answer, len);
	if (rc)
		link_fail(&conn->link, rc);
}
