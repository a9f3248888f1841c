/* SPDX-License-Identifier: BSD-2-Clause */
/* peer.c - the state machine of a client's connection (see the diagram in peer_int.h). */
#include "common/comm/call/call_carry_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/call/lookup_int.h"

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

void peer_set_state(struct rpc_peer *peer, enum peer_state state)
{
	if (!(peer_state_next[peer->state] & TO(state)))
		log_error(peer->link.ctx->log, "%s: bug: state %s to %s",
			  peer->name, peer_state_name[peer->state],
			  peer_state_name[state]);
	log_debug(peer->link.ctx->log, "%s: %s -> %s", peer->name,
		  peer_state_name[peer->state], peer_state_name[state]);
	peer->state = state;
}

static uint32_t peer_jitter(struct rpc_peer *peer, uint32_t range)
{
	peer->jitter ^= peer->jitter << 13;
	peer->jitter ^= peer->jitter >> 17;
	peer->jitter ^= peer->jitter << 5;
	return peer->jitter % (range + 1);
}

/* A random delay between half of the step and all of it, so that clients spread. */
static void peer_backoff(struct rpc_peer *peer)
{
	uint32_t half = peer->backoff_ms / 2;
	uint32_t ms = half + peer_jitter(peer, half);

	peer_set_state(peer, PEER_BACKOFF);
	peer->choice.returning = false;
	rpc_timer_set(peer->link.ctx, &peer->timer, clock_after_ms(ms));
	peer->backoff_ms *= 2;
	if (peer->backoff_ms > PEER_BACKOFF_MAX_MS)
		peer->backoff_ms = PEER_BACKOFF_MAX_MS;
}

/* Statuses whose strerror() text says too little. */
const char *peer_flaw(int status)
{
	if (status == -EAGAIN)
		return "it runs but takes no clients yet: the manager until it "
		       "has heard from all iods, an iod until it has from the "
		       "manager, either while it has max_sessions; its log "
		       "says which";
	if (status == -WIRE_ENOFILES)
		return RPC_NO_FILES;
	if (status == -WIRE_ENOSEATS)
		return RPC_NO_SEATS;
	if (!status)
		return "it has said nothing yet";
	if (status == -EPROTOTYPE)
		return "not a PVFS server";
	if (status == -EINPROGRESS)
		return "its host's name is still being looked up; see the "
		       "resolver";
	return strerror(-status);
}

static void peer_log_loss(struct rpc_peer *peer, int status)
{
	peer->reason = status;
	if (peer->down || (peer->impatient && !peer->boot))
		return;
	peer->down = true;
	peer->down_since = clock_now();
	log_warn(peer->link.ctx->log, "%s: %s: %s; trying again", peer->name,
		 peer->state == PEER_READY ? "connection lost"
					   : "cannot connect",
		 peer_flaw(status));
}

static void peer_disconnect(struct rpc_peer *peer)
{
	unsigned int i;

	lookup_forget(peer);
	link_close(&peer->link);
	peer_apart_close(peer);
	peer_seal_reset(peer);
	reach_lost(peer);
	way_reset(peer);
	peer->carries = false;
	call_parts_lost(peer);
	rpc_timer_clear(peer->link.ctx, &peer->timer);
	for (i = 0; i < peer->nslots; i++) {
		peer->slots[i].sending = false;
		peer->slots[i].carrying = 0;
	}
}

static void peer_rest(struct rpc_peer *peer)
{
	silence_forget(peer);
	peer_set_state(peer, PEER_IDLE);
}

/* Another program is there now, but the server that we knew may come back. */
static bool peer_comes_back(const struct rpc_peer *peer, int status)
{
	return status == -EKEYREJECTED && peer->boot;
}

static void peer_give_up(struct rpc_peer *peer, int status)
{
	peer->reason = status;
	peer_disconnect(peer);
	if (peer_comes_back(peer, status))
		peer_backoff(peer);
	else
		peer_rest(peer);
	call_fail_all(peer, status);
}

/*
 * Another service uses the port.  Only peers that met the server before wait for its end.
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

static void peer_attempt(struct rpc_peer *peer);

void peer_lost(struct link *link, int status)
{
	struct rpc_peer *peer = container_of(link, struct rpc_peer, link);

	choose_failed(peer, status);
	if (peer->state == PEER_CONNECTING && !choose_last(peer)) {
		peer_disconnect(peer);
		peer_attempt(peer);
		return;
	}
	if ((peer->impatient && !peer->boot && status != -EBUSY) ||
	    status == -EBADFD) {
		peer_give_up(peer, status);
		return;
	}
	if (status == -EPROTOTYPE && !peer->boot) {
		peer_not_pvfs(peer);
		return;
	}
	peer_log_loss(peer, status);
	if (peer->lost)
		peer->lost(peer->arg, status);
	if (status == -EFAULT && call_fail_faulty(peer))
		peer->backoff_ms = PEER_BACKOFF_MIN_MS;
	silence_lost(peer);
	peer_disconnect(peer);
	peer_backoff(peer);
}

void peer_again(struct rpc_peer *peer)
{
	peer_disconnect(peer);
	peer_set_state(peer, PEER_BACKOFF);
	rpc_timer_set(peer->link.ctx, &peer->timer, clock_now());
}

/* A random delay between half of the wait and all of it, so that clients spread. */
void peer_plan_return(struct rpc_peer *peer)
{
	uint32_t half = choose_return_ms(peer) / 2;

	if (half)
		rpc_timer_set(peer->link.ctx, &peer->timer,
			      clock_after_ms(half + peer_jitter(peer, half)));
}

void peer_refused(struct rpc_peer *peer, int status, const char *why)
{
	if (peer->refused != status)
		log_error(peer->link.ctx->log, "%s: refused: %s", peer->name,
			  why);
	peer->refused = status;
	if (peer->lost)
		peer->lost(peer->arg, status);
	if (status == -EKEYREVOKED) {
		atomic_store(&peer->evicted, true);
		status = -ESTALE;
	}
	peer_give_up(peer, status);
}

void peer_protocol_error(struct rpc_peer *peer, const char *what)
{
	log_error(peer->link.ctx->log,
		  "%s: protocol error in a reply: %s; connection closed",
		  peer->name, what);
	link_fail(&peer->link, -EPROTO);
}

/* One connect, over the next rail that may work. */
static void peer_attempt(struct rpc_peer *peer)
{
	unsigned int ms = PEER_HELLO_MS;
	struct hello_private priv;
	int rail = choose_next(peer, &peer->at), len, rc;

	if (rail < 0) {
		peer_lost(&peer->link, peer->reason ? peer->reason : -ENODEV);
		return;
	}
	if (!choose_last(peer))
		ms = peer->choice.returning ? PEER_RETURN_MS : PEER_TRY_MS;
	rc = link_open(&peer->link, (unsigned int)rail, PEER_SENDS_MAX,
		       PEER_RECVS_MAX);
	if (rc) {
		peer_lost(&peer->link, rc);
		return;
	}
	if (peer->down)
		tp_ep_hush(peer->link.ep);
	len = hello_private(peer, &priv);
	rc = len < 0 ? len
		     : tp_connect(peer->link.ep, &peer->at, &priv,
				  (unsigned int)len, clock_after_ms(ms));
	if (rc)
		link_fail(&peer->link, rc);
}

void peer_connect(struct rpc_peer *peer)
{
	peer_set_state(peer, PEER_CONNECTING);
	choose_begin(peer);
	lookup_find(peer);
}

void peer_named(struct rpc_peer *peer, int status)
{
	if (status) {
		peer_lost(&peer->link, status);
		return;
	}
	if (peer->reason == -EINPROGRESS)
		peer->reason = 0;
	peer_attempt(peer);
}

static void peer_timer(struct rpc_timer *timer)
{
	struct rpc_peer *peer = container_of(timer, struct rpc_peer, timer);

	if (peer->state == PEER_READY) {
		choose_return(peer);
		peer_again(peer);
	} else if (peer->state != PEER_BACKOFF) {
		link_fail(&peer->link, -ETIMEDOUT);
	} else if (peer->boot || call_outstanding(peer)) {
		peer_connect(peer);
	} else {
		peer_rest(peer);
	}
}

static void peer_event(struct link *link, const struct tp_event *ev)
{
	struct rpc_peer *peer = container_of(link, struct rpc_peer, link);

	if (ev->type == TP_EV_ESTABLISHED)
		hello_established(peer, ev);
	else if (ev->type == TP_EV_REJECTED)
		hello_rejected(peer, ev);
	else
		link_fail(link, ev->status ? ev->status : -ECONNRESET);
}

static void peer_completion(struct link *link, const struct tp_wc *wc)
{
	struct rpc_peer *peer = container_of(link, struct rpc_peer, link);

	if (reach_is(wc))
		reach_completed(peer, wc);
	if (wc->status)
		link_fail(link, wc->status);
	else if (reach_is(wc) || link->failed.queued)
		return;
	else if (wc->opcode == TP_RECV || wc->opcode == TP_RECV_IMM)
		peer_received(peer, wc);
	else if (call_part_is(wc->wr_id))
		call_part_moved(peer, wc);
	else if (wc->wr_id)
		call_sent(peer, wc->wr_id);
}

static const struct link_ops peer_ops = {
	.completion = peer_completion,
	.event = peer_event,
	.lost = peer_lost,
};

static void peer_drain(struct ctx_task *task)
{
	call_drain(container_of(task, struct rpc_peer, drain));
}

static void peer_free(struct ctx_task *task)
{
	struct rpc_peer *peer = container_of(task, struct rpc_peer, gone);

	reach_fini(peer);
	peer_apart_fini(peer);
	rail_mem_fini(&peer->mem);
	free(peer->block);
	free(peer->slots);
	free(peer);
}

int rpc_peer_open(struct rpc_ctx *ctx, const struct rpc_peer_attr *attr,
		  struct rpc_peer **out)
{
	struct rpc_peer *peer = calloc(1, sizeof(*peer));
	char uri[ADDR_STRLEN];

	if (!peer)
		return -ENOMEM;
	link_init(&peer->link, &peer_ops, ctx);
	peer->link.group = attr->group;
	peer->state = PEER_IDLE;
	peer->timer.fire = peer_timer;
	peer->drain.run = peer_drain;
	peer->gone.run = peer_free;
	peer->addr = attr->addr;
	peer->choice.rail = -1;
	peer->choice.said = -1;
	peer->choice.best = -1;
	snprintf(peer->name, sizeof(peer->name), "%.64s (%s)", attr->name,
		 addr_format(&attr->addr, uri, sizeof(uri)));
	peer->turn = attr->index + (unsigned int)(attr->session % 0xffff);
	peer->fix = attr->fix;
	peer->refused = attr->stranger ? -EPROTOTYPE : 0;
	peer->role = attr->role;
	peer->fsid = attr->fsid;
	peer->session = attr->session;
	peer->cred = *attr->cred;
	peer->features = attr->features | WIRE_FT_LOCAL | WIRE_FT_WAITS |
			 WIRE_FT_ROOM | (attr->job ? WIRE_FT_JOB : 0);
	if (attr->job)
		memcpy(peer->job, attr->job,
		       strnlen(attr->job, sizeof(peer->job)));
	peer->shower = attr->shower;
	peer->index = attr->index;
	peer_proof_init(peer, attr);
	peer->impatient = attr->impatient;
	peer->keeps_slot = attr->patience_ms || attr->server;
	peer->fresh = attr->fresh;
	peer->met = attr->met;
	peer->lost = attr->lost;
	peer->arg = attr->arg;
	peer->backoff_ms = PEER_BACKOFF_MIN_MS;
	peer->jitter = (uint32_t)(attr->session ^ clock_now()) | 1;
	call_init(peer);
	silence_init(peer, attr->patience_ms, attr->server);
	way_init(peer);
	peer_apart_init(peer);
	reach_init(peer);
	*out = peer;
	return 0;
}

int rpc_peer_take(struct rpc_peer *peer, int *fd, unsigned int n)
{
	return peer->link.ep ? tp_ep_take(peer->link.ep, fd, n) : -ENOTCONN;
}

void rpc_peer_close(struct rpc_peer *peer, bool bye)
{
	if (bye && peer->state == PEER_READY)
		hello_bye(peer);
	peer_disconnect(peer);
	silence_end(peer);
	peer_set_state(peer, PEER_CLOSED);
	call_fail_all(peer, -ECANCELED);
	call_drain(peer);
	reach_drain(peer);
	ctx_undefer(peer->link.ctx, &peer->drain);
	ctx_defer(peer->link.ctx, &peer->gone);
}

uint64_t rpc_peer_clock(const struct rpc_peer *peer, uint64_t when)
{
	return offset_tell(&peer->clock, when);
}

uint32_t rpc_peer_epoch(const struct rpc_peer *peer)
{
	return peer->state == PEER_READY ? peer->epoch : 0;
}

uint64_t rpc_peer_boot(const struct rpc_peer *peer)
{
	return peer->boot;
}

bool rpc_peer_evicted(const struct rpc_peer *peer)
{
	return atomic_load(&peer->evicted);
}

bool rpc_peer_owes(const struct rpc_peer *peer)
{
	return peer->owed;
}

void rpc_peer_unsure(struct rpc_peer *peer)
{
	peer->unsure = true;
}

int rpc_peer_shortage(const struct rpc_peer *peer)
{
	return peer->shortage;
}

const char *rpc_peer_name(const struct rpc_peer *peer)
{
	return peer->name;
}
