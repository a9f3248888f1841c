/* SPDX-License-Identifier: BSD-2-Clause */
/* peer.c - the state machine of a client's connection (see the diagram in peer_int.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/call/call_int.h"
#include "common/comm/call/part_transfer.h"

/* ---- states ---- */

static const char *const peer_state_name[] = {
	[PEER_IDLE] = "IDLE",	    [PEER_CONNECTING] = "CONNECTING",
	[PEER_HELLO] = "HELLO",	    [PEER_READY] = "READY",
	[PEER_BACKOFF] = "BACKOFF", [PEER_CLOSED] = "CLOSED",
};

/* For each state, the states that may follow it. */
#define TO(state) (1u << (state))
static const unsigned int peer_state_next[] = {
	[PEER_IDLE] = TO(PEER_CONNECTING) | TO(PEER_CLOSED),
	[PEER_CONNECTING] = TO(PEER_HELLO) | TO(PEER_BACKOFF) | TO(PEER_IDLE) |
			    TO(PEER_CLOSED),
	[PEER_HELLO] = TO(PEER_READY) | TO(PEER_BACKOFF) | TO(PEER_IDLE) |
		       TO(PEER_CLOSED),
	[PEER_READY] = TO(PEER_BACKOFF) | TO(PEER_IDLE) | TO(PEER_CLOSED),
	[PEER_BACKOFF] = TO(PEER_CONNECTING) | TO(PEER_IDLE) | TO(PEER_CLOSED),
};

static void peer_set_state(struct rpc_peer *peer, enum peer_state state)
{
	if (!(peer_state_next[peer->state] & TO(state)))
		log_error(peer->link.ctx->log, "%s: bug: state %s to %s",
			  peer->name, peer_state_name[peer->state],
			  peer_state_name[state]);
	log_debug(peer->link.ctx->log, "%s: %s -> %s", peer->name,
		  peer_state_name[peer->state], peer_state_name[state]);
	peer->state = state;
}

uint32_t peer_jitter(struct rpc_peer *peer, uint32_t ms)
{
	peer->jitter ^= peer->jitter << 13;
	peer->jitter ^= peer->jitter >> 17;
	peer->jitter ^= peer->jitter << 5;
	return ms / 2 + peer->jitter % (ms / 2 + 1);
}

static void peer_backoff(struct rpc_peer *peer)
{
	uint32_t ms = peer_jitter(peer, peer->backoff_ms);
	uint32_t max = peer_leaders_pause_ms(peer);

	peer_set_state(peer, PEER_BACKOFF);
	peer->choice.returning = false;
	rpc_timer_set(peer->link.ctx, &peer->timer, clock_after_ms(ms));
	peer->backoff_ms *= 2;
	if (peer->backoff_ms > max)
		peer->backoff_ms = max;
}

static void peer_disconnect(struct rpc_peer *peer)
{
	unsigned int i;

	host_lookup_cancel(peer->link.ctx, &peer->query);
	link_close(&peer->link);
	bulk_link_close(peer);
	peer_auth_reset(peer);
	rma_lost(peer);
	payload_reset(peer);
	peer->carries = false;
	part_transfer_reset(peer);
	rpc_timer_clear(peer->link.ctx, &peer->timer);
	for (i = 0; i < peer->nslots; i++) {
		peer->slots[i].sending = false;
		peer->slots[i].transfers = 0;
	}
}

static void peer_go_idle(struct rpc_peer *peer)
{
	silence_reset(peer);
	peer_leaders_stop(peer);
	peer_set_state(peer, PEER_IDLE);
}

static void peer_give_up(struct rpc_peer *peer, int status)
{
	peer->reason = status;
	peer_disconnect(peer);
	/* another program is there now, but the server that we knew may come back */
	if (status == -EKEYREJECTED && peer->boot)
		peer_backoff(peer);
	else
		peer_go_idle(peer);
	if (status == -WIRE_ENOTLEADER)
		status = peer_leaders_have_choice(peer) ? -ENOTCONN : -EAGAIN;
	call_fail_all(peer, status);
}

/* Closes the connection and makes another one immediately.  No call is lost. */
static void peer_reconnect(struct rpc_peer *peer)
{
	peer_disconnect(peer);
	peer_set_state(peer, PEER_BACKOFF);
	rpc_timer_set(peer->link.ctx, &peer->timer, clock_now());
}

/* Nothing to do now: closes the connection, and another attempt follows. */
static void peer_retry_later(struct rpc_peer *peer, int status)
{
	peer_log_loss(peer, status);
	if (peer->lost)
		peer->lost(peer->arg, status);
	if (status == -EFAULT && call_fail_inaccessible(peer))
		peer->backoff_ms = PEER_BACKOFF_MIN_MS;
	silence_connection_lost(peer);
	peer_disconnect(peer);
	peer_backoff(peer);
}

/*
 * Another service uses the port.  If the peer was connected to the server before, it waits until
 * that service ends; otherwise its calls fail.
 */
static void peer_not_pvfs(struct rpc_peer *peer)
{
	if (peer->refused != -EPROTOTYPE)
		log_error(peer->link.ctx->log,
			  "%s: not a PVFS server: another service listens at "
			  "that port%s%s",
			  peer->name, peer->fix ? "; " : "",
			  peer->fix ? peer->fix : "");
	peer->refused = -EPROTOTYPE;
	peer_give_up(peer, -EPROTOTYPE);
}

/* no->status 0: the link has failed instead. */
static void peer_refused(struct rpc_peer *peer, const struct hello_refusal *no)
{
	int status = no->status;

	if (!status)
		return;
	if (no->impostor)
		atomic_fetch_add(&peer->link.ctx->impostors, 1);
	if (peer->refused != status)
		log_error(peer->link.ctx->log, "%s: refused: %s", peer->name,
			  no->why);
	peer->refused = status;
	if (peer_leaders_is_next(peer, &status, true)) {
		peer_reconnect(peer);
		return;
	}
	if (status != no->status) {
		peer_retry_later(peer, status);
		return;
	}
	if (peer->lost)
		peer->lost(peer->arg, status);
	if (status == -EKEYREVOKED) {
		atomic_store(&peer->evicted, true);
		status = -ESTALE;
	}
	peer_give_up(peer, status);
}

/* ---- connecting ---- */

static void peer_attempt(struct rpc_peer *peer);

static bool must_give_up(struct rpc_peer *peer, int status)
{
	if (status == -EBADFD)
		return true;
	return peer->impatient && !peer->boot && status != -EBUSY &&
	       !peer_leaders_may_repeat(peer, status);
}

/* The connection is lost: closes it and retries later. */
static void peer_lost(struct rpc_link *link, int status)
{
	struct rpc_peer *peer = container_of(link, struct rpc_peer, link);

	rail_choice_failed(peer, status);
	if (peer->state == PEER_CONNECTING && !rail_choice_is_last(peer)) {
		peer_disconnect(peer);
		peer_attempt(peer);
		return;
	}
	if (peer_leaders_is_next(peer, &status, status == -EPROTOTYPE)) {
		peer_reconnect(peer);
		return;
	}
	if (must_give_up(peer, status)) {
		peer_give_up(peer, status);
		return;
	}
	if (status == -EPROTOTYPE && !peer->boot) {
		peer_not_pvfs(peer);
		return;
	}
	peer_retry_later(peer, status);
}

/* One connect, over the next rail that may work. */
static void peer_attempt(struct rpc_peer *peer)
{
	struct peer_private priv;
	int rail = rail_choice_next(peer, &peer->at), len, rc;

	if (rail < 0) {
		peer_lost(&peer->link, peer->reason ? peer->reason : -ENODEV);
		return;
	}
	if (peer->try_until != CLOCK_NEVER)
		rpc_timer_set(peer->link.ctx, &peer->timer, peer->try_until);
	rc = link_open(&peer->link, (unsigned int)rail, PEER_SENDS_MAX,
		       PEER_RECVS_MAX);
	if (rc) {
		peer_lost(&peer->link, rc);
		return;
	}
	if (peer->down)
		tp_ep_hush(peer->link.ep);
	len = hello_begin(peer, &priv);
	rc = len < 0 ? len
		     : tp_connect(peer->link.ep, &peer->at, &priv,
				  (unsigned int)len,
				  clock_after_ms(peer_attempt_ms(peer)));
	if (rc)
		link_fail(&peer->link, rc);
}

static void peer_host_found(struct host_query *query, int status,
			    const char *why)
{
	struct rpc_peer *peer = container_of(query, struct rpc_peer, query);

	if (status == -EHOSTUNREACH)
		peer_leaders_note_unknown(peer, query->host, why);
	if (status) {
		peer_lost(&peer->link, status);
		return;
	}
	if (peer->reason == -EINPROGRESS)
		peer->reason = 0;
	peer_attempt(peer);
}

static void peer_connect(struct rpc_peer *peer)
{
	peer_set_state(peer, PEER_CONNECTING);
	peer_leaders_choose(peer);
	rail_choice_begin(peer);
	if (host_lookup_start(peer->link.ctx, &peer->query))
		peer->reason = -EINPROGRESS;
}

/* The limit of a connect, of HELLO, or of a manager. */
static void peer_limit_passed(struct rpc_peer *peer)
{
	rail_choice_stop(peer);
	if (peer->query.waiting)
		peer_lost(&peer->link, -EINPROGRESS);
	else
		link_fail(&peer->link, -ETIMEDOUT);
}

static void peer_timer(struct rpc_timer *timer)
{
	struct rpc_peer *peer = container_of(timer, struct rpc_peer, timer);

	if (peer->state == PEER_READY) {
		rail_choice_return(peer);
		peer_reconnect(peer);
	} else if (peer->state != PEER_BACKOFF) {
		peer_limit_passed(peer);
	} else if (peer->boot || call_any_outstanding(peer)) {
		peer_connect(peer);
	} else {
		peer_go_idle(peer);
	}
}

/* The server accepts calls. */
static void peer_ready(struct rpc_peer *peer)
{
	const struct wire_hello_rep *rep = &peer->hello.rep;
	uint64_t boot = le64toh(rep->boot);
	bool resumed = le32toh(rep->flags) & WIRE_H_RESUMED;
	bool first = !peer->boot, restarted = !first && peer->boot != boot;
	uint32_t return_ms;

	rpc_timer_clear(peer->link.ctx, &peer->timer);
	peer_leaders_found(peer, first || restarted);
	peer_set_state(peer, PEER_READY);
	rail_choice_ready(peer);
	return_ms = rail_choice_return_ms(peer);
	if (return_ms)
		rpc_timer_set(peer->link.ctx, &peer->timer,
			      clock_after_ms(peer_jitter(peer, return_ms)));
	if (peer->down)
		log_info(peer->link.ctx->log, "%s: connected%s after %llu ms%s",
			 peer->name, first ? "" : " again",
			 (unsigned long long)((clock_now() - peer->down_since) /
					      CLOCK_NS_PER_MS),
			 restarted ? "; the server was restarted" : "");
	peer->down = false;
	peer->refused = 0;
	if (restarted)
		peer->clock = (struct clock_offset){ 0 };
	peer->boot = boot;
	clock_offset_add(&peer->clock, le64toh(peer->hello.clock),
			 clock_boot());
	silence_over(peer, NULL);
	call_resend_all(peer, resumed);
	if ((first || !resumed) && peer->on_new_session)
		peer->on_new_session(peer->arg, peer);
	if ((first || restarted) && peer->on_new_process)
		peer->on_new_process(peer->arg, peer, boot);
}

/* ---- messages ---- */

static void peer_hello_reply(struct rpc_peer *peer, const struct wire_msg *msg)
{
	struct hello_refusal no = { 0 };

	if (!hello_check_reply(peer, msg, &no)) {
		peer_refused(peer, &no);
		return;
	}
	if (peer->try_until != CLOCK_NEVER)
		rpc_timer_set(peer->link.ctx, &peer->timer,
			      clock_after_ms(PEER_HELLO_MS));
	if (!msg->apart || !bulk_link_is_wanted(peer) ||
	    bulk_link_join(peer, msg->apart))
		peer_ready(peer);
}

/* Posts the receive again before it answers the server. */
static void peer_carry(struct rpc_peer *peer, const struct tp_wc *wc,
		       const struct wire_msg *msg)
{
	struct part_transfer part;
	const char *error = part_transfer_check(peer, msg, &part);

	if (error)
		peer_protocol_error(peer, error);
	else if (peer_post_recv(peer, (unsigned int)wc->wr_id))
		link_fail(&peer->link, -ENOTCONN);
	else
		part_transfer_start(peer, &part);
}

static bool peer_parse(struct rpc_peer *peer, const struct tp_wc *wc,
		       struct wire_msg *msg)
{
	void *buf = peer_recv_buf(peer, (unsigned int)wc->wr_id);
	size_t max = wc->wr_id < peer->nrecv ? PEER_MSG_MAX : BULK_LINK_MSG;
	uint32_t len = wc->byte_len;
	const char *why = "direction";

	if (wc->opcode == TP_RECV_IMM)
		len = payload_copy_reply(peer, wc->imm, buf, max);
	if (!wire_parse(buf, len, msg, &why) &&
	    le16toh(msg->hdr->flags) & WIRE_F_REPLY)
		return true;
	peer_protocol_error(peer, why ? why : "direction");
	return false;
}

/* A receive is complete. */
static void peer_received(struct rpc_peer *peer, const struct tp_wc *wc)
{
	struct wire_msg msg;

	link_heard(&peer->link, wc,
		   peer_recv_buf(peer, (unsigned int)wc->wr_id));
	if (wc->opcode == TP_RECV_IMM && wc->imm & WIRE_IMM_WHOLE)
		call_reply_by_imm(peer, wc->imm);
	else if (!peer_parse(peer, wc, &msg))
		return;
	else if (peer->state == PEER_HELLO)
		peer_hello_reply(peer, &msg);
	else if (le16toh(msg.hdr->op) != WIRE_CARRY)
		call_reply(peer, &msg);
	else {
		peer_carry(peer, wc, &msg);
		return;
	}
	/* the call may have closed the connection */
	if (!wc->ep ||
	    (wc->ep != peer->link.ep && wc->ep != peer->bulk.link.ep))
		return;
	if (peer->state == PEER_READY)
		bulk_link_count(peer);
	if (peer_post_recv(peer, (unsigned int)wc->wr_id))
		link_fail(&peer->link, -ENOTCONN);
	else if (peer->state == PEER_READY)
		call_send_queued(peer);
}

/* ---- the links ---- */

static void peer_event(struct rpc_link *link, const struct tp_event *ev)
{
	struct rpc_peer *peer = container_of(link, struct rpc_peer, link);
	struct hello_refusal no = { 0 };
	struct wire_accept acc;
	int rc;

	if (ev->type == TP_EV_REJECTED) {
		hello_rejected(peer, ev, &no);
		peer_refused(peer, &no);
	} else if (ev->type != TP_EV_ESTABLISHED) {
		link_fail(link, ev->status ? ev->status : -ECONNRESET);
	} else if (!hello_check_accept(peer, ev, &acc, &no)) {
		peer_refused(peer, &no);
	} else {
		peer_set_state(peer, PEER_HELLO);
		rpc_timer_set(link->ctx, &peer->timer,
			      peer->try_until != CLOCK_NEVER
				      ? peer->try_until
				      : clock_after_ms(PEER_HELLO_MS));
		rc = hello_start(peer, &acc);
		if (rc)
			link_fail(link, rc);
	}
}

static void peer_completion(struct rpc_link *link, const struct tp_wc *wc)
{
	struct rpc_peer *peer = container_of(link, struct rpc_peer, link);

	if (rma_owns(wc))
		rma_completed(peer, wc);
	if (wc->status)
		link_fail(link, wc->status);
	else if (rma_owns(wc) || link->failed.queued)
		return;
	else if (wc->opcode == TP_RECV || wc->opcode == TP_RECV_IMM)
		peer_received(peer, wc);
	else if (part_transfer_owns(wc->wr_id))
		part_transfer_complete(peer, wc);
	else if (wc->wr_id)
		call_sent(peer, wc->wr_id);
}

static const struct link_ops peer_ops = {
	.completion = peer_completion,
	.event = peer_event,
	.lost = peer_lost,
};

static struct rpc_peer *peer_of_bulk(struct rpc_link *link)
{
	return container_of(link, struct rpc_peer, bulk.link);
}

static void bulk_event(struct rpc_link *link, const struct tp_event *ev)
{
	struct rpc_peer *peer = peer_of_bulk(link);

	if (bulk_link_event(peer, ev))
		peer_ready(peer);
}

static void bulk_lost(struct rpc_link *link, int status)
{
	struct rpc_peer *peer = peer_of_bulk(link);

	if (bulk_link_lost(peer, status))
		peer_ready(peer);
}

static void bulk_completion(struct rpc_link *link, const struct tp_wc *wc)
{
	struct rpc_peer *peer = peer_of_bulk(link);

	if (peer->bulk.joining && wc->status)
		return; /* an event gives the reason */
	if (wc->status)
		link_fail(&peer->link, wc->status);
	else if (peer->link.failed.queued)
		return;
	else if (peer->bulk.joining)
		peer_protocol_error(peer, "one that was not asked for");
	else
		peer_received(peer, wc);
}

static const struct link_ops bulk_ops = {
	.completion = bulk_completion,
	.event = bulk_event,
	.lost = bulk_lost,
};

/* ---- open and close ---- */

static void peer_drain(struct ctx_task *task)
{
	call_drain(container_of(task, struct rpc_peer, drain));
}

static void peer_free(struct ctx_task *task)
{
	struct rpc_peer *peer = container_of(task, struct rpc_peer, gone);

	rma_fini(peer);
	bulk_link_fini(peer);
	rail_mem_fini(&peer->mem);
	free(peer->block);
	free(peer->slots);
	free(peer->leaders);
	free(peer);
}

int peer_open(struct rpc_ctx *ctx, const struct rpc_peer_attr *attr,
	      struct rpc_peer **out)
{
	struct rpc_peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return -ENOMEM;
	if (peer_leaders_init(peer, attr)) {
		free(peer);
		return -ENOMEM;
	}
	link_init(&peer->link, &peer_ops, ctx);
	peer->link.group = attr->group;
	peer->state = PEER_IDLE;
	peer->timer.fire = peer_timer;
	peer->drain.run = peer_drain;
	peer->gone.run = peer_free;
	peer->query = (struct host_query){ .host = peer->addr.host,
					   .hosts = &peer->hosts,
					   .done = peer_host_found };
	rail_choice_forget(peer);
	peer->turn = attr->index + (unsigned int)(attr->session % 0xffff);
	peer->fix = attr->fix;
	peer->refused = attr->wrong_service_logged ? -EPROTOTYPE : 0;
	peer->role = attr->role;
	peer->fsid = attr->fsid;
	peer->session = attr->session;
	peer->cred = *attr->cred;
	peer->features |= attr->features | WIRE_FT_LOCAL | WIRE_FT_WAITS |
			  WIRE_FT_ROOM | (attr->job ? WIRE_FT_JOB : 0);
	if (attr->job)
		memcpy(peer->job, attr->job,
		       strnlen(attr->job, sizeof(peer->job)));
	peer->caps = attr->caps;
	peer->index = attr->index;
	peer_auth_init(peer, attr);
	peer->impatient = attr->impatient;
	peer->more_rounds = attr->more_rounds;
	peer->keeps_slot = attr->patience_ms || attr->server;
	peer->on_new_session = attr->on_new_session;
	peer->on_new_process = attr->on_new_process;
	peer->lost = attr->lost;
	peer->arg = attr->arg;
	peer->backoff_ms = PEER_BACKOFF_MIN_MS;
	peer->jitter = (uint32_t)(attr->session ^ clock_now()) | 1;
	call_init(peer);
	silence_init(peer, attr->patience_ms, attr->server);
	peer_requests_init(peer);
	bulk_link_init(peer, &bulk_ops);
	rma_init(peer);
	*out = peer;
	return 0;
}

void rpc_call_start(struct rpc_peer *peer, struct rpc_call *call)
{
	if (call_start(peer, call) && peer->state == PEER_IDLE)
		peer_connect(peer);
}

void peer_close(struct rpc_peer *peer, bool bye)
{
	if (bye && peer->state == PEER_READY)
		hello_bye(peer);
	peer_disconnect(peer);
	silence_end(peer);
	peer_set_state(peer, PEER_CLOSED);
	call_fail_all(peer, -ECANCELED);
	call_drain(peer);
	rma_drain(peer);
	ctx_undefer(peer->link.ctx, &peer->drain);
	ctx_defer(peer->link.ctx, &peer->gone);
}

void rpc_peer_reconnect(struct rpc_peer *peer)
{
	if (peer->state == PEER_READY)
		peer_reconnect(peer);
}
