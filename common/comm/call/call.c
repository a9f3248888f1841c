/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call.c - calls and their slots.  A call waits in the queue, with a copy of its message, until
 * there is a connection and a slot.  Then the message stays in the buffer of the slot until the
 * reply, ready to be sent again.  If a call is given up, its slot stays in use (a zombie) until
 * its reply arrives or the peer reconnects.  So a late reply never meets another call.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/call/peer_int.h"

#define CALL_QUEUED (-1) /* rpc_peer.queue */
#define CALL_FAILING (-2) /* rpc_peer.failing */

/* Message and data of a call that has no slot. */
struct call_copy {
	unsigned int msg_len, ndata;
	struct iovec data[]; /* ndata entries, then the message */
};

void call_init(struct rpc_peer *peer)
{
	for (unsigned int k = 0; k < WIRE_WAITS; k++)
		TAILQ_INIT(&peer->queue[k]);
	TAILQ_INIT(&peer->failing);
}

static bool calls_wait(const struct rpc_peer *peer)
{
	for (unsigned int k = 0; k < WIRE_WAITS; k++) {
		if (!TAILQ_EMPTY(&peer->queue[k]))
			return true;
	}
	return false;
}

bool call_outstanding(const struct rpc_peer *peer)
{
	for (unsigned int i = 0; i < peer->nslots; i++) {
		if (peer->slots[i].call)
			return true;
	}
	return calls_wait(peer);
}

bool call_has_slot(const struct rpc_call *call)
{
	return call->p.where >= 0;
}

static const struct wire_hdr *call_hdr(const struct rpc_call *call)
{
	const struct call_copy *copy = call->p.copy;

	if (call_has_slot(call))
		return call_buf(call->p.peer, (unsigned int)call->p.where);
	return copy ? (const void *)&copy->data[copy->ndata] : NULL;
}

void call_done(struct rpc_call *call, int status)
{
	struct rpc_ctx *ctx = call->p.peer->link.ctx;

	TAILQ_REMOVE(&ctx->dues, &call->p.due, link);
	ctx->moving -= call->p.moving;
	silence_done(call->p.peer, call);
	free(call->p.copy);
	call->p.peer = NULL;
	call->status = status;
	call->done(call);
}

/* done() runs in the next round. */
static void call_fail(struct rpc_call *call, int status)
{
	struct rpc_peer *peer = call->p.peer;

	call->p.where = CALL_FAILING;
	call->status = status;
	TAILQ_INSERT_TAIL(&peer->failing, call, p.link);
	ctx_defer(peer->link.ctx, &peer->drain);
}

void call_drain(struct rpc_peer *peer)
{
	struct rpc_call *call;

	while ((call = TAILQ_FIRST(&peer->failing))) {
		TAILQ_REMOVE(&peer->failing, call, p.link);
		call_done(call, call->status);
	}
}

/* ---- the start of a call ---- */

/* Checks the limits, and that the parts add up to the length in the header. */
static int call_check(const struct rpc_call *call)
{
	const struct wire_hdr *hdr = call->msg;
	size_t sum = call->msg_len;
	unsigned int k;

	if (call->msg_len < sizeof(*hdr) || call->msg_len > PEER_MSG_MAX ||
	    call->ndata > RPC_DATA_MAX)
		return -EINVAL;
	for (k = 0; k < call->ndata; k++) {
		if (call->data[k].iov_len > WIRE_INLINE_MAX)
			return -EINVAL;
		sum += call->data[k].iov_len;
	}
	if (call->nareas &&
	    (call->npieces > WIRE_MEM_MAX || call->pieces_at > call->msg_len ||
	     call->msg_len - call->pieces_at <
		     call->npieces * sizeof(struct wire_mem)))
		return -EINVAL;
	return sum == le32toh(hdr->len) ? 0 : -EINVAL;
}

/* Finds a free slot below the credits that the call may use. */
static bool call_slot(const struct rpc_peer *peer, const struct rpc_call *call,
		      unsigned int *slot)
{
	uint64_t usable = peer->free;

	if (peer->credits < 64)
		usable &= (1ull << peer->credits) - 1;
	if (!usable || !share_allows(peer, call))
		return false;
	*slot = (unsigned int)__builtin_ctzll(usable);
	return true;
}

bool call_is_idle(const struct link *link)
{
	return tp_dev_pins(link->ctx->rails.dev[link->rail]) ||
	       tp_ep_carry_max(link->ep) < UINT32_MAX;
}

static void call_issue(struct rpc_peer *peer, unsigned int i,
		       struct rpc_call *call, const void *msg, size_t msg_len,
		       const struct iovec *data, unsigned int ndata)
{
	struct peer_slot *s = &peer->slots[i];
	struct wire_hdr *hdr = call_buf(peer, i);

	peer->free &= ~(1ull << i);
	s->call = call;
	s->kind = call->p.kind;
	s->user = call->user;
	call->unsure = true;
	s->seq++;
	s->anew = false;
	s->shown = (struct peer_shown){ 0 };
	s->msg_len = (uint32_t)msg_len;
	s->ndata = ndata;
	s->area = call->area;
	s->nareas = call->nareas;
	s->pieces_at = call->pieces_at;
	s->npieces = call->npieces;
	s->msg = (uint8_t *)hdr;
	memcpy(hdr, msg, msg_len);
	if (ndata)
		memcpy(s->data, data, ndata * sizeof(*data));
	hdr->slot = htole16((uint16_t)i);
	hdr->session = htole64(peer->session);
	hdr->seq = htole64(s->seq);
	call->p.where = (int)i;
	if (call_is_idle(&peer->link))
		call->p.moving = call->bytes;
	peer->link.ctx->moving += call->p.moving;
	call_post(peer, i, 0);
}

static void call_queue(struct rpc_peer *peer, struct rpc_call *call,
		       const void *msg, size_t msg_len,
		       const struct iovec *data)
{
	size_t data_len = call->ndata * sizeof(*data);
	struct call_copy *copy = malloc(sizeof(*copy) + data_len + msg_len);

	if (!copy) {
		call_fail(call, -ENOMEM);
		return;
	}
	copy->msg_len = (unsigned int)msg_len;
	copy->ndata = call->ndata;
	if (data_len)
		memcpy(copy->data, data, data_len);
	memcpy(&copy->data[copy->ndata], msg, msg_len);
	call->p.copy = copy;
	call->p.where = CALL_QUEUED;
	if (call->urgent)
		TAILQ_INSERT_HEAD(&peer->queue[call->p.kind], call, p.link);
	else
		TAILQ_INSERT_TAIL(&peer->queue[call->p.kind], call, p.link);
	if (peer->state == PEER_IDLE)
		peer_connect(peer);
}

/* No earlier call is waiting. */
static bool is_first(const struct rpc_peer *peer, const struct rpc_call *call)
{
	return peer->state == PEER_READY && (call->urgent || !calls_wait(peer));
}

/* The earlier calls may be of a user that has to wait; then this call can go first. */
static void call_wait(struct rpc_peer *peer, struct rpc_call *call)
{
	call_queue(peer, call, call->msg, call->msg_len, call->data);
	if (peer->state == PEER_READY)
		call_pump(peer);
}

void rpc_call_start(struct rpc_peer *peer, struct rpc_call *call)
{
	int rc = call_check(call);
	unsigned int i;

	call->p = (struct rpc_call_priv){ .peer = peer, .began = clock_now() };
	call->unsure = call->whole = false;
	if (!rc)
		call->p.kind = wire_waits(
			le16toh(((const struct wire_hdr *)call->msg)->op),
			(const uint8_t *)call->msg + sizeof(struct wire_hdr));
	if (!rc && !silence_call(peer, call))
		rc = -ETIMEDOUT;
	timer_add_due(peer->link.ctx, &call->p.due, call->deadline);
	if (peer->state == PEER_CLOSED)
		call_fail(call, -ECANCELED);
	else if (rc)
		call_fail(call, rc);
	else if (!is_first(peer, call) || !call_slot(peer, call, &i))
		call_wait(peer, call);
	else if (le32toh(((const struct wire_hdr *)call->msg)->len) >
		 peer->request_max)
		call_fail(call, -EMSGSIZE);
	else
		call_issue(peer, i, call, call->msg, call->msg_len, call->data,
			   call->ndata);
}

static void call_issue_queued(struct rpc_peer *peer, struct rpc_call *call,
			      unsigned int i)
{
	struct call_copy *copy = call->p.copy;

	TAILQ_REMOVE(&peer->queue[call->p.kind], call, p.link);
	if (le32toh(call_hdr(call)->len) > peer->request_max) {
		call_fail(call, -EMSGSIZE);
		return;
	}
	call_issue(peer, i, call, call_hdr(call), copy->msg_len, copy->data,
		   copy->ndata);
	free(copy);
	call->p.copy = NULL;
}

/*
 * Sends the first call of the kind whose user need not wait.  Returns false if there is none.
 */
static bool call_pump_kind(struct rpc_peer *peer, enum wire_wait kind)
{
	struct rpc_call *call;
	unsigned int i;

	TAILQ_FOREACH(call, &peer->queue[kind], p.link) {
		if (call_slot(peer, call, &i)) {
			call_issue_queued(peer, call, i);
			return true;
		}
		if (!call->user)
			return false;
	}
	return false;
}

/*
 * In turn, because otherwise a kind whose queue is never empty would get every free slot.
 */
void call_pump(struct rpc_peer *peer)
{
	unsigned int without = 0;

	while (peer->free && without < WIRE_WAITS) {
		without = call_pump_kind(peer, peer->next_kind) ? 0
								: without + 1;
		peer->next_kind = (peer->next_kind + 1) % WIRE_WAITS;
	}
}

bool call_would_wait(struct rpc_peer *peer, unsigned int i,
		     const struct wire_msg *reply)
{
	struct peer_slot *s = &peer->slots[i];
	struct rpc_call *call = s->call;
	struct wire_hdr *hdr = call_buf(peer, i);

	if (le32toh(reply->hdr->status) != EINPROGRESS || !call ||
	    s->kind != WIRE_WAIT_NOT || s->carrying ||
	    !(rpc_peer_features(peer) & WIRE_FT_WAITS))
		return false;
	call_hide(peer, i);
	way_again(peer, s);
	silence_heard(peer, NULL);
	call_leave_slot(peer, i);
	peer->link.ctx->moving -= call->p.moving;
	call->p.moving = 0;
	call->unsure = false;
	call->p.kind = WIRE_WAIT_STORE;
	call_queue(peer, call, hdr, s->msg_len, s->data);
	return true;
}

/* ---- the end of a call ---- */

struct rpc_call *call_leave_slot(struct rpc_peer *peer, unsigned int i)
{
	struct rpc_call *call = peer->slots[i].call;

	peer->slots[i].call = NULL;
	peer->slots[i].sending = false;
	peer->slots[i].carrying = 0;
	way_give(peer, &peer->slots[i]);
	peer->free |= 1ull << i;
	return call;
}

/* A change that was sent and is no longer awaited: the server may still execute it. */
static void call_owe(struct rpc_peer *peer, unsigned int i)
{
	if (wire_op_changes(le16toh(call_buf(peer, i)->op)))
		peer->owed++;
}

void call_drop(struct rpc_peer *peer, unsigned int i, bool sent, int status)
{
	struct rpc_call *call = call_leave_slot(peer, i);

	if (sent)
		call_owe(peer, i);
	log_error(peer->link.ctx->log,
		  "%s: memory of a call cannot be registered: %s", peer->name,
		  strerror(-status));
	call_fail(call, status);
}

/*
 * The server may have executed what was sent, so it is sent again with the same seq.  If the
 * server returned with fewer slots, requests of the missing slots fail.  If it did not resume the
 * session, it does not know the requests, and gets them with WIRE_F_ANEW.
 */
void call_replay(struct rpc_peer *peer, bool resumed)
{
	unsigned int i;

	for (i = 0; i < peer->nslots; i++) {
		struct rpc_call *call = peer->slots[i].call;

		if (peer->free >> i & 1)
			continue;
		if (call && i < peer->granted) {
			peer->slots[i].anew |= !resumed;
			call_post(peer, i,
				  peer->slots[i].anew
					  ? WIRE_F_REPLAY | WIRE_F_ANEW
					  : WIRE_F_REPLAY);
			continue;
		}
		call_leave_slot(peer, i);
		if (!call)
			continue;
		log_error(peer->link.ctx->log,
			  "%s: a call in slot %u is lost: the server came back "
			  "with %u slots; restart it with as many as before",
			  peer->name, i, peer->granted);
		call_owe(peer, i);
		call_fail(call, -ESTALE);
	}
	call_pump(peer);
}

/*
 * Gives a call up.  Its slot becomes a zombie.  If the transport may still use the caller's
 * memory, closes the connection, because the memory is returned now.
 */
static void call_abandon(struct rpc_call *call, int status)
{
	struct rpc_peer *peer = call->p.peer;

	if (call->p.where == CALL_QUEUED) {
		TAILQ_REMOVE(&peer->queue[call->p.kind], call, p.link);
	} else if (call->p.where == CALL_FAILING) {
		TAILQ_REMOVE(&peer->failing, call, p.link);
	} else {
		unsigned int i = (unsigned int)call->p.where;
		struct peer_slot *s = &peer->slots[i];

		s->call = NULL;
		call_owe(peer, i);
		if (s->sending || s->carrying)
			peer_lost(&peer->link, status);
	}
	call_done(call, status);
}

void rpc_call_cancel(struct rpc_call *call)
{
	if (call->p.peer)
		call_abandon(call, -ECANCELED);
}

void rpc_call_forgo(struct rpc_call *call, int status)
{
	const struct rpc_peer *peer = call->p.peer;

	if (!status || status == -ETIMEDOUT || status == -ECANCELED)
		return;
	if (!peer || peer->state == PEER_READY || call->p.where == CALL_FAILING)
		return;
	if (!call->unsure || !wire_op_changes(le16toh(call_hdr(call)->op)))
		rpc_call_cancel(call);
}

bool call_fail_faulty(struct rpc_peer *peer)
{
	struct rpc_call *call;
	bool found = false;
	unsigned int i;

	for (i = 0; i < peer->nslots; i++) {
		call = peer->slots[i].call;
		if (!call || !call->faulty || !call->faulty(call))
			continue;
		peer->slots[i].call = NULL;
		call_owe(peer, i);
		call_fail(call, -EFAULT);
		found = true;
	}
	return found;
}

void call_fail_all(struct rpc_peer *peer, int status)
{
	struct rpc_call *call;
	unsigned int i;

	for (i = 0; i < peer->nslots; i++) {
		call = peer->slots[i].call;
		peer->slots[i].call = NULL;
		if (call)
			call_fail(call, status);
	}
	for (i = 0; i < WIRE_WAITS; i++) {
		while ((call = TAILQ_FIRST(&peer->queue[i]))) {
			TAILQ_REMOVE(&peer->queue[i], call, p.link);
			call_fail(call, status);
		}
	}
}

static void call_log_timeout(const struct rpc_call *call)
{
	const struct rpc_peer *peer = call->p.peer;
	const struct wire_hdr *hdr = call_hdr(call);
	bool ready = peer->state == PEER_READY;
	bool queued = ready && call->p.where == CALL_QUEUED;
	const char *fix = peer->reason == -EAGAIN ? NULL : peer->fix;

	if (call->quiet)
		return;
	log_error(peer->link.ctx->log,
		  "%s: no answer to %s by its deadline%s%s%s%s%s", peer->name,
		  hdr ? wire_op_name(le16toh(hdr->op)) : "a call",
		  queued ? "; it was not sent, as others wait for their "
			   "answers"
			 : "",
		  ready ? "" : "; not connected: ",
		  ready ? "" : peer_flaw(peer->reason),
		  ready || !fix ? "" : "; ", ready || !fix ? "" : fix);
}

/*
 * Whether to end the call with -EAGAIN, as if it had waited for its lock at the server, which
 * answers other calls.
 */
static bool waits_on(const struct rpc_call *call)
{
	const struct rpc_peer *peer = call->p.peer;

	return call->p.where == CALL_QUEUED && call->p.kind == WIRE_WAIT_LOCK &&
	       peer->state == PEER_READY && peer->heard > call->p.began;
}

void call_passed(struct rpc_due *due)
{
	struct rpc_call *call = container_of(due, struct rpc_call, p.due);

	if (waits_on(call)) {
		call_abandon(call, -EAGAIN);
	} else if (call->p.where != CALL_FAILING) {
		call_log_timeout(call);
		call_abandon(call, -ETIMEDOUT);
	} else {
		call_abandon(call, call->status);
	}
}
