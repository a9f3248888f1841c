/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * req.c - looks up the slot of a request.  The request is new, or already answered, or still in
 * execution (then it is parked), or invalid.
 */
#include <errno.h>

#include "common/comm/serve/conn_seal_int.h"
#include "common/comm/serve/ticket_int.h"

static struct slot *req_slot(const struct rx *rx)
{
	return &rx->conn->session->slots[rx->req.slot];
}

static bool req_is_replay(const struct rx *rx)
{
	return le16toh(rx->req.msg.hdr->flags) & WIRE_F_REPLAY;
}

/*
 * RPC_WAIT_MAX_MS limits the deadline, so that no timer has an arbitrary value from a client.
 */
static void req_time(struct rx *rx, uint64_t now)
{
	struct rpc_req *req = &rx->req;
	uint64_t max = RPC_WAIT_MAX_MS * CLOCK_NS_PER_MS;
	uint64_t boot = clock_boot(), expiry = le64toh(req->msg.hdr->clock);

	rx->arrived = boot;
	parts_begin(rx);
	req->expiry = expiry < boot + max ? expiry : boot + max;
	req->deadline = clock_of_boot(req->expiry, boot, now);
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

uint64_t rpc_req_patience(const struct rpc_req *req)
{
	uint64_t brief = clock_after_ms(RPC_WAIT_BRIEF_MS);

	return rpc_req_may_wait(req) || brief > req->deadline ? req->deadline
							      : brief;
}

static void req_run(struct rx *rx)
{
	struct conn *conn = rx->conn;
	const struct rpc_server_attr *attr = &conn->lane->server->attr;
	const struct wire_hdr *hdr = rx->req.msg.hdr;

	req_slot(rx)->exec = rx;
	conn->session->nexec++;
	rx->reply_len = 0;
	rx->bulks = 0;
	rx->bytes_in = rx->bytes_out = 0;
	rx->rerun = false;
	rx->answered = false;
	rx->whole = false;
	rx->mapped = false;
	rx->put = false;
	conn->may_join = false;
	rx->held = NULL;
	rx->put_end = 0;
	rx->req.op = le16toh(hdr->op);
	rx->req.anew = le16toh(hdr->flags) & WIRE_F_ANEW;
	req_time(rx, conn->link.ctx->now);
	rx->req.session = conn->session;
	rx->req.priv = NULL;
	lane_count(&conn->lane->requests);
	lane_count(&conn->lane->running);
	if (conn_is_stranger(conn) || conn_is_bare(conn))
		attr->service->request(attr->arg, &rx->req);
	else if (rx->req.op == WIRE_FAST)
		fast_req_run(&rx->req);
	else if (rx->req.op == WIRE_METRICS)
		metrics_req_run(&rx->req);
	else
		attr->service->request(attr->arg, &rx->req);
}

/* Only a newer connection may ask for a slot that is in execution. */
static void req_park(struct rx *rx, struct slot *slot)
{
	const struct rx *exec = slot->exec;

	if (exec->conn == rx->conn || slot->parked) {
		greet_error(rx->conn, rx, -EPROTO, "slot is in use");
	} else if (rx->req.seq < exec->req.seq ||
		   (rx->req.seq == exec->req.seq && !req_is_replay(rx))) {
		greet_error(rx->conn, rx, -EPROTO, "seq was used before");
	} else {
		slot->parked = rx;
		rx->state = RX_PARKED;
	}
}

static void req_again(struct rx *rx, struct slot *slot)
{
	struct conn *conn = rx->conn;
	struct wire_hdr *hdr = (struct wire_hdr *)slot->reply;

	if (!req_is_replay(rx) || slot->epoch == conn->epoch) {
		greet_error(conn, rx, -EPROTO, "seq was answered before");
		return;
	}
	lane_count(&conn->lane->replays);
	if (slot->rerun) {
		req_run(rx);
	} else if (slot->len > conn->reply_max) {
		greet_error(conn, rx, -EMSGSIZE, "reply_max below kept reply");
	} else {
		slot->epoch = conn->epoch;
		hdr->credits = htole32(conn->session->credits);
		hdr->clock = htole64(clock_boot());
		rx_release(rx);
		conn_send(conn, slot->reply, slot->len, conn->reply_lkey);
	}
}

void req_take(struct rx *rx)
{
	struct conn *conn = rx->conn;
	const struct wire_hdr *hdr = rx->req.msg.hdr;
	struct slot *slot;

	rx->req.slot = le16toh(hdr->slot);
	rx->req.seq = le64toh(hdr->seq);
	if (conn->state != CONN_OPEN) {
		rx_release(rx);
		return;
	}
	if (le16toh(hdr->op) == WIRE_HELLO) {
		greet_error(conn, rx, -EPROTO, "a second HELLO");
		return;
	}
	if (rx->req.slot >= conn->lane->server->attr.slots) {
		greet_error(conn, rx, -EPROTO, "slot beyond the credits");
		return;
	}
	slot = req_slot(rx);
	if (slot->exec)
		req_park(rx, slot);
	else if (!rx->req.seq || rx->req.seq < slot->seq)
		greet_error(conn, rx, -EPROTO, "seq is too old");
	else if (rx->req.seq == slot->seq)
		req_again(rx, slot);
	else
		req_run(rx);
}

void req_finish(struct rx *rx, bool done)
{
	struct conn *conn = rx->conn;
	struct slot *slot = req_slot(rx);

	slot->exec = NULL;
	conn->session->nexec--;
	lane_add(&conn->lane->running, UINT64_MAX);
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
	session_unused(conn->session);
}

void req_forget(struct rx *rx)
{
	struct slot *slot = req_slot(rx);

	ctx_undefer(rx->conn->link.ctx, &rx->retry);
	if (slot->parked == rx)
		slot->parked = NULL;
	rx_release(rx);
}

int rpc_req_identity(const struct rpc_req *req, struct tp_identity *id)
{
	const struct rx *rx = container_of(req, const struct rx, req);
	const struct tp_ep *ep = rx->conn->link.ep;

	return ep ? tp_ep_identity(ep, id) : -ENOTCONN;
}

int rpc_req_pass(struct rpc_req *req, const int *fd, unsigned int n)
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

void rpc_req_cut(struct rpc_req *req, int status)
{
	conn_close(container_of(req, struct rx, req)->conn, status);
}

void rpc_req_abort(struct rpc_req *req)
{
	req_finish(container_of(req, struct rx, req), false);
}
