/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request.c - the way of a request, from its message to its reply:
 *
 *	request_received()	a message is in a receive buffer, and is parsed
 *	request_look_up()	the slot: is the request new, answered already, in execution, or
 *				invalid?  One in execution is parked: it waits, and is looked up
 *				again when the execution ends
 *	request_execute()	the service takes the request
 *	rpc_reply_begin(), _end()	the service builds the reply in the buffer of the slot
 *	rpc_reply_send()	the reply waits for bulk data that is not posted yet
 *	reply_post()		counts the request, frees its slot and its receive, posts the reply
 *
 * The client can write to its Fast RDMA buffers at any time.  So a message there is copied to the
 * receive buffer of the request and checked there.  Only the data stays in place.
 */
#include "common/comm/serve/request_int.h"

#include <errno.h>
#include <string.h>

#include "common/comm/serve/hello_int.h"

static void request_look_up(struct rx *rx);
static void request_execute(struct rx *rx);
static void request_finish(struct rx *rx, bool done);

/* ---- the message ---- */

/*
 * Bytes of the message without data, according to its header; all bytes if that is impossible.
 */
static uint32_t request_message_len(const struct rx *rx)
{
	const struct wire_hdr *hdr = rx->buf;
	uint32_t len;

	if (rx->len < sizeof(*hdr) || !(le16toh(hdr->flags) & WIRE_F_DATA))
		return rx->len;
	len = le32toh(hdr->len);
	return len < sizeof(*hdr) || len > rx->len ? rx->len : len;
}

/* Separates message and data in the buffer of rx. */
static void request_split(struct rx *rx)
{
	uint32_t len = request_message_len(rx);

	rx->by_fast = false;
	rx->data = (const uint8_t *)rx->buf + len;
	rx->data_len = rx->len - len;
	rx->len = len;
}

/* Copies the message from a Fast RDMA buffer.  Returns -EPROTO if there is no valid message. */
static int request_copy(struct rx *rx, uint32_t buffer, uint32_t len)
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
	counter_increment(&conn->thread->fast);
	return 0;
}

static int request_parse(struct conn *conn, struct rx *rx, const char **why)
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
	if (!rc && wire_copyset(rx->req.msg.hdr).id &&
	    !(conn->features & WIRE_FT_COPIES)) {
		rc = -EPROTO;
		*why = "a copyset without WIRE_FT_COPIES";
	}
	if (!rc) {
		*why = "not the data that it says";
		if (rx->data_len != wire_data_len(&rx->req.msg))
			rc = -EPROTO;
	}
	return rc;
}

/* wc->imm: the number of a Fast RDMA buffer. */
static int request_read(struct conn *conn, struct rx *rx,
			const struct tp_wc *wc, const char **why)
{
	rx->len = wc->byte_len;
	if (wc->opcode == TP_RECV) {
		request_split(rx);
	} else if (request_copy(rx, wc->imm, wc->byte_len)) {
		*why = "no request in a Fast RDMA buffer";
		return -EPROTO;
	}
	return request_parse(conn, rx, why);
}

static void request_loan_answer(struct conn *conn, struct rx *rx, uint32_t imm)
{
	if (!bulk_loan_is_out(conn, imm)) {
		rx->len = 0;
		hello_protocol_error(conn, rx, -EPROTO,
				     "answers what was not asked");
		return;
	}
	rx_release(rx);
	bulk_loan_answered(conn, imm);
}

void request_received(struct conn *conn, struct rx *rx, const struct tp_wc *wc)
{
	const char *why = "?";
	int rc;

	conn->refs++;
	rx->state = RX_BUSY;
	link_heard(&conn->link, wc, rx->buf);
	counter_add(&conn->thread->message_bytes, wc->byte_len);
	if (conn->state == CONN_ACCEPTING)
		conn_set_state(conn, CONN_HELLO);
	if (wc->opcode == TP_RECV_IMM && wc->imm & WIRE_IMM_CARRIED) {
		request_loan_answer(conn, rx, wc->imm);
		return;
	}
	rc = request_read(conn, rx, wc, &why);
	if (rc)
		hello_protocol_error(conn, rx, rc, why);
	else if (conn->state == CONN_HELLO)
		hello_received(conn, rx);
	else if (le16toh(rx->req.msg.hdr->op) == WIRE_BYE)
		hello_bye_received(conn, rx->req.msg.hdr);
	else
		request_look_up(rx);
}

/* ---- the slot ---- */

static struct reply_slot *request_slot(const struct rx *rx)
{
	return &rx->conn->session->slots[rx->req.slot];
}

static bool request_is_replay(const struct rx *rx)
{
	return le16toh(rx->req.msg.hdr->flags) & WIRE_F_REPLAY;
}

/* A parked request is looked up again. */
static void request_retry(struct ctx_task *task)
{
	struct rx *rx = container_of(task, struct rx, retry);

	rx->state = RX_BUSY;
	request_look_up(rx);
}

/* Only a newer connection may ask for a slot that is in execution. */
static void request_park(struct rx *rx, struct reply_slot *slot)
{
	const struct rx *exec = slot->exec;

	if (exec->conn == rx->conn || slot->parked) {
		hello_protocol_error(rx->conn, rx, -EPROTO, "slot is in use");
	} else if (rx->req.seq < exec->req.seq ||
		   (rx->req.seq == exec->req.seq && !request_is_replay(rx))) {
		hello_protocol_error(rx->conn, rx, -EPROTO,
				     "seq was used before");
	} else {
		rx->retry.run = request_retry;
		slot->parked = rx;
		rx->state = RX_PARKED;
	}
}

/* The connection is closed: forgets a parked request. */
static void request_unpark(struct rx *rx)
{
	struct reply_slot *slot = request_slot(rx);

	ctx_undefer(rx->conn->link.ctx, &rx->retry);
	if (slot->parked == rx)
		slot->parked = NULL;
	rx_release(rx);
}

void request_conn_closed(struct conn *conn)
{
	unsigned int i;

	for (i = 0; i < conn->nrx; i++) {
		if (conn->rx[i].state == RX_PARKED)
			request_unpark(&conn->rx[i]);
	}
	session_conn_closed(conn);
}

static void request_answer_again(struct rx *rx, struct reply_slot *slot)
{
	struct conn *conn = rx->conn;
	struct wire_hdr *hdr = (struct wire_hdr *)slot->reply;

	if (!request_is_replay(rx) || slot->epoch == conn->epoch) {
		hello_protocol_error(conn, rx, -EPROTO,
				     "seq was answered before");
		return;
	}
	counter_increment(&conn->thread->replays);
	if (slot->rerun) {
		request_execute(rx);
	} else if (slot->len > conn->reply_max) {
		hello_protocol_error(conn, rx, -EMSGSIZE,
				     "reply_max below kept reply");
	} else {
		slot->epoch = conn->epoch;
		hdr->credits = htole32(conn->session->credits);
		hdr->clock = htole64(clock_boot());
		rx_release(rx);
		conn_send(conn, slot->reply, slot->len, conn->reply_lkey);
	}
}

static void request_look_up(struct rx *rx)
{
	struct conn *conn = rx->conn;
	const struct wire_hdr *hdr = rx->req.msg.hdr;
	struct reply_slot *slot;

	rx->req.slot = le16toh(hdr->slot);
	rx->req.seq = le64toh(hdr->seq);
	if (conn->state != CONN_OPEN) {
		rx_release(rx);
		return;
	}
	if (le16toh(hdr->op) == WIRE_HELLO) {
		hello_protocol_error(conn, rx, -EPROTO, "a second HELLO");
		return;
	}
	if (rx->req.slot >= conn->thread->server->attr.slots) {
		hello_protocol_error(conn, rx, -EPROTO,
				     "slot beyond the credits");
		return;
	}
	slot = request_slot(rx);
	if (slot->exec)
		request_park(rx, slot);
	else if (!rx->req.seq || rx->req.seq < slot->seq)
		hello_protocol_error(conn, rx, -EPROTO, "seq is too old");
	else if (rx->req.seq == slot->seq)
		request_answer_again(rx, slot);
	else
		request_execute(rx);
}

/* ---- execution ---- */

/*
 * RPC_WAIT_MAX_MS limits the deadline, so that no timer has an arbitrary value from a client.
 */
static void request_set_times(struct rx *rx, uint64_t now)
{
	struct rpc_req *req = &rx->req;
	uint64_t max = RPC_WAIT_MAX_MS * CLOCK_NS_PER_MS;
	uint64_t boot = clock_boot(), expiry = le64toh(req->msg.hdr->clock);

	rx->arrived = boot;
	request_time_begin(rx);
	req->expiry = expiry < boot + max ? expiry : boot + max;
	req->deadline = clock_of_boot(req->expiry, boot, now);
}

/*
 * Opens Fast RDMA buffers that only this connection can write, even if other clients know the keys.
 */
static int fast_open_own(struct conn *conn)
{
	return fast_open(conn_rails(conn), conn->link.rail,
			 &conn->thread->server->fast, conn->link.ep,
			 &conn->fast);
}

/* Answers FAST: makes buffers for the connection, at its first such request. */
static int fast_put_buffers(struct conn *conn, struct wire_out *out)
{
	struct rpc_server *server = conn->thread->server;
	struct wire_fast_rep rep;
	struct fast_place place;
	int rc = 0;

	if (!server->fast.max)
		return -EOPNOTSUPP;
	if (!conn->fast)
		rc = fast_open_own(conn);
	if (rc)
		return rc;
	fast_place(conn->fast, &place);
	rep = (struct wire_fast_rep){ .addr = htole64(place.addr),
				      .rkey = htole32(place.rkey),
				      .size = htole32(place.size),
				      .count = htole32(place.count) };
	wire_put(out, &rep, sizeof(rep));
	return 0;
}

/*
 * FAST and METRICS are answered here.  A replay executes again: on another connection, it needs
 * the buffers of that one.
 */
static void request_execute_own(struct rpc_req *req)
{
	struct rx *rx = container_of(req, struct rx, req);
	struct wire_out *out = rpc_reply_begin(req);
	int rc = 0;

	if (req->op == WIRE_FAST)
		rc = fast_put_buffers(rx->conn, out);
	else
		metrics_put(req, out);
	rpc_reply_end(req, rc, RPC_REEXECUTE);
	rpc_reply_send(req);
}

static void request_execute(struct rx *rx)
{
	struct conn *conn = rx->conn;
	const struct rpc_server_attr *attr = &conn->thread->server->attr;
	const struct wire_hdr *hdr = rx->req.msg.hdr;

	request_slot(rx)->exec = rx;
	conn->session->nexec++;
	rx->reply_len = 0;
	rx->bulks = 0;
	rx->bytes_in = rx->bytes_out = 0;
	rx->rerun = false;
	rx->when_posted = NULL;
	rx->whole = false;
	rx->mapped = false;
	rx->put = false;
	conn->may_join = false;
	rx->held_bulk = NULL;
	rx->put_end = 0;
	rx->req.op = le16toh(hdr->op);
	rx->req.state_lost = le16toh(hdr->flags) & WIRE_F_STATE_LOST;
	request_set_times(rx, conn->link.ctx->now);
	rx->req.session = conn->session;
	rx->req.priv = NULL;
	counter_increment(&conn->thread->requests);
	counter_increment(&conn->thread->running);
	if ((rx->req.op == WIRE_FAST || rx->req.op == WIRE_METRICS) &&
	    !session_is_unproved(conn->session) && !conn_lacks_seal(conn))
		request_execute_own(&rx->req);
	else
		attr->service->request(attr->arg, &rx->req);
}

/* ---- the reply ---- */

struct wire_out *rpc_reply_begin(struct rpc_req *req)
{
	struct rx *rx = container_of(req, struct rx, req);
	size_t max = rx->conn->thread->server->attr.reply_max;

	if (max > rx->conn->reply_max)
		max = rx->conn->reply_max;
	rx->reply_flags = 0;
	wire_begin(&rx->out, request_slot(rx)->reply, max);
	return &rx->out;
}

void rpc_reply_caps(struct rpc_req *req)
{
	container_of(req, struct rx, req)->reply_flags = WIRE_F_CAPS;
}

void rpc_reply_end(struct rpc_req *req, int status, unsigned int flags)
{
	struct rx *rx = container_of(req, struct rx, req);
	struct wire_hdr *hdr = (struct wire_hdr *)request_slot(rx)->reply;
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

const void *rpc_reply_bytes(const struct rpc_req *req, size_t *len)
{
	const struct rx *rx = container_of(req, struct rx, req);

	*len = rx->reply_len;
	return request_slot(rx)->reply;
}

/* The receive is posted before the reply is sent, so the next request finds it. */
static void reply_post(struct rx *rx)
{
	struct conn *conn = rx->conn;
	struct wire_hdr *reply = (struct wire_hdr *)request_slot(rx)->reply;
	uint32_t len = rx->reply_len;
	uint64_t now = clock_boot();
	bool put = rx->put;

	reply->clock = htole64(now);
	tally_count_request(rx, now, le32toh(reply->status));
	request_time_end(rx, now, le32toh(reply->status));
	request_finish(rx, true);
	if (!bulk_post_with_reply(rx, reply, len) && conn->state == CONN_OPEN)
		conn_send_over(conn, put ? conn->bulk.link : &conn->link, reply,
			       len, conn->reply_lkey);
}

void rpc_reply_send(struct rpc_req *req)
{
	struct rx *rx = container_of(req, struct rx, req);

	if (rx->bulks)
		rx->when_posted = reply_post;
	else
		reply_post(rx);
}

void rpc_reply_status(struct rpc_req *req, int status)
{
	rpc_reply_begin(req);
	rpc_reply_end(req, status, 0);
	rpc_reply_send(req);
}

void rpc_reply_send_and_seal(struct rpc_req *req,
			     const struct seal_in_place *in_place)
{
	struct conn *conn = container_of(req, struct rx, req)->conn;
	int rc;

	rpc_reply_send(req);
	if (conn->state != CONN_OPEN || !conn->link.ep)
		return;
	rc = conn->link.hasher ? conn_seal_in_place(conn, in_place) : -EPROTO;
	if (rc)
		link_fail(&conn->link, rc);
}

/* ---- the end ---- */

/* Ends the execution of a request. done: keeps its reply in the slot, for a repetition. */
static void request_finish(struct rx *rx, bool done)
{
	struct conn *conn = rx->conn;
	struct reply_slot *slot = request_slot(rx);

	slot->exec = NULL;
	conn->session->nexec--;
	counter_add(&conn->thread->running, UINT64_MAX);
	if (done) {
		slot->seq = rx->req.seq;
		slot->len = rx->reply_len;
		slot->rerun = rx->rerun;
		slot->epoch = conn->epoch;
	}
	if (slot->parked) {
		ctx_defer(conn->link.ctx, &slot->parked->retry);
		slot->parked = NULL;
	}
	rx_release(rx);
	session_check_unused(conn->session);
}

void rpc_req_abort(struct rpc_req *req)
{
	request_finish(container_of(req, struct rx, req), false);
}

/* ---- what the service asks ---- */

const void *rpc_req_data(const struct rpc_req *req)
{
	const struct rx *rx = container_of(req, const struct rx, req);

	return rx->data_len ? rx->data : NULL;
}

bool rpc_req_data_may_change(const struct rpc_req *req)
{
	return container_of(req, const struct rx, req)->by_fast;
}

bool rpc_req_late(const struct rpc_req *req)
{
	return clock_boot() >= req->expiry;
}

bool rpc_req_may_wait(const struct rpc_req *req)
{
	return le16toh(req->msg.hdr->flags) & WIRE_F_WAITS ||
	       !(req->session->info.features & WIRE_FT_WAITS);
}

uint64_t rpc_req_wait_until(const struct rpc_req *req)
{
	uint64_t brief = clock_after_ms(RPC_WAIT_BRIEF_MS);

	return rpc_req_may_wait(req) || brief > req->deadline ? req->deadline
							      : brief;
}

enum seal_mode rpc_req_seal_in_place(const struct rpc_req *req)
{
	const struct conn *conn = container_of(req, const struct rx, req)->conn;

	return conn->link.hasher && conn->bulk.link == &conn->link &&
			       conn_lacks_seal(conn)
		       ? conn->thread->server->attr.seal
		       : SEAL_NONE;
}

int rpc_req_send_fds(struct rpc_req *req, const int *fd, unsigned int n)
{
	struct rx *rx = container_of(req, struct rx, req);
	struct tp_ep *ep = rx->conn->link.ep;

	return ep ? tp_ep_pass(ep, fd, n) : -ENOTCONN;
}

unsigned int rpc_req_rail(const struct rpc_req *req)
{
	const struct rx *rx = container_of(req, const struct rx, req);

	return rx->conn->link.rail;
}

void rpc_req_disconnect(struct rpc_req *req, int status)
{
	conn_close(container_of(req, struct rx, req)->conn, status);
}
