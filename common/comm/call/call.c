/* SPDX-License-Identifier: BSD-2-Clause */
/* call.c - calls from their start to their end, and their slots: see call_int.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/call/call_int.h"

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

static bool has_queued(const struct rpc_peer *peer)
{
	for (unsigned int k = 0; k < WIRE_WAITS; k++) {
		if (!TAILQ_EMPTY(&peer->queue[k]))
			return true;
	}
	return false;
}

bool call_any_outstanding(const struct rpc_peer *peer)
{
	for (unsigned int i = 0; i < peer->nslots; i++) {
		if (peer->slots[i].call)
			return true;
	}
	return has_queued(peer);
}

bool call_has_slot(const struct rpc_call *call)
{
	return call->p.where >= 0;
}

static const struct wire_hdr *call_hdr(const struct rpc_call *call)
{
	const struct call_copy *copy = call->p.copy;

	if (call_has_slot(call))
		return slot_msg(call->p.peer, (unsigned int)call->p.where);
	return copy ? (const void *)&copy->data[copy->ndata] : NULL;
}

void call_complete(struct rpc_call *call, int status)
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
		call_complete(call, call->status);
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
static bool find_free_slot(const struct rpc_peer *peer,
			   const struct rpc_call *call, unsigned int *slot)
{
	uint64_t usable = peer->free;

	if (peer->credits < 64)
		usable &= (1ull << peer->credits) - 1;
	if (!usable || !slot_quota_permits(peer, call))
		return false;
	*slot = (unsigned int)__builtin_ctzll(usable);
	return true;
}

static void call_issue(struct rpc_peer *peer, unsigned int i,
		       struct rpc_call *call, const void *msg, size_t msg_len,
		       const struct iovec *data, unsigned int ndata)
{
	struct peer_slot *s = &peer->slots[i];
	struct wire_hdr *hdr = slot_msg(peer, i);
	int rc;

	peer->free &= ~(1ull << i);
	s->call = call;
	s->kind = call->p.kind;
	s->user = call->user;
	call->unsure = true;
	s->seq++;
	s->state_lost = false;
	s->caps_len = 0;
	s->caps_asked = 0;
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
	hdr->credits = htole32(call->copyset.id);
	hdr->status = htole32(call->copyset.version);
	call->p.where = (int)i;
	if (payload_is_offloaded(&peer->link))
		call->p.moving = call->bytes;
	peer->link.ctx->moving += call->p.moving;
	rc = call_send(peer, i, 0);
	if (rc)
		call_fail_unsent(peer, i, false, rc);
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
}

bool call_start(struct rpc_peer *peer, struct rpc_call *call)
{
	const struct wire_hdr *hdr = call->msg;
	int rc = call_check(call);
	unsigned int i;

	call->p = (struct rpc_call_priv){ .peer = peer, .began = clock_now() };
	call->unsure = call->whole = false;
	if (!rc)
		call->p.kind = wire_waits(le16toh(hdr->op),
					  (const uint8_t *)(hdr + 1));
	if (!rc && !silence_limit_call(peer, call))
		rc = -ETIMEDOUT;
	timer_add_due(peer->link.ctx, &call->p.due, call->deadline);
	if (peer->state == PEER_CLOSED)
		rc = -ECANCELED;
	if (rc) {
		call_fail(call, rc);
		return false;
	}
	if (peer->state != PEER_READY || (has_queued(peer) && !call->urgent) ||
	    !find_free_slot(peer, call, &i)) {
		call_queue(peer, call, call->msg, call->msg_len, call->data);
		/* earlier calls may be of a user that has to wait: this one can go first */
		if (peer->state == PEER_READY)
			call_send_queued(peer);
		return call->p.where == CALL_QUEUED;
	}
	if (le32toh(hdr->len) > peer->request_max)
		call_fail(call, -EMSGSIZE);
	else
		call_issue(peer, i, call, call->msg, call->msg_len, call->data,
			   call->ndata);
	return false;
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
 * Sends the first queued call of this kind whose user may have another call in flight.  Returns
 * false if there is none.
 */
static bool send_first_queued(struct rpc_peer *peer, enum wire_wait kind)
{
	struct rpc_call *call;
	unsigned int i;

	TAILQ_FOREACH(call, &peer->queue[kind], p.link) {
		if (find_free_slot(peer, call, &i)) {
			call_issue_queued(peer, call, i);
			return true;
		}
		if (!call->user)
			return false;
	}
	return false;
}

/*
 * Serves the kinds in turn; otherwise a kind whose queue is never empty would get every free slot.
 */
void call_send_queued(struct rpc_peer *peer)
{
	unsigned int without = 0;

	while (peer->free && without < WIRE_WAITS) {
		without = send_first_queued(peer, peer->next_kind)
				  ? 0
				  : without + 1;
		peer->next_kind = (peer->next_kind + 1) % WIRE_WAITS;
	}
}

void call_requeue(struct rpc_peer *peer, unsigned int i, enum wire_wait kind)
{
	struct peer_slot *s = &peer->slots[i];
	struct rpc_call *call = call_free_slot(peer, i);

	peer->link.ctx->moving -= call->p.moving;
	call->p.moving = 0;
	call->unsure = false;
	call->p.kind = kind;
	call_queue(peer, call, slot_msg(peer, i), s->msg_len, s->data);
}

/* ---- the end of a call ---- */

struct rpc_call *call_free_slot(struct rpc_peer *peer, unsigned int i)
{
	struct rpc_call *call = peer->slots[i].call;

	peer->slots[i].call = NULL;
	peer->slots[i].sending = false;
	peer->slots[i].transfers = 0;
	payload_free_buffer(peer, &peer->slots[i]);
	peer->free |= 1ull << i;
	return call;
}

/* A change that was sent and is no longer awaited: the server may still execute it. */
static void count_unanswered(struct rpc_peer *peer, unsigned int i)
{
	if (wire_op_changes(le16toh(slot_msg(peer, i)->op)))
		peer->unanswered++;
}

void call_fail_unsent(struct rpc_peer *peer, unsigned int i, bool resent,
		      int status)
{
	struct rpc_call *call = call_free_slot(peer, i);

	if (resent)
		count_unanswered(peer, i);
	log_error(peer->link.ctx->log,
		  "%s: memory of a call cannot be registered: %s", peer->name,
		  strerror(-status));
	call_fail(call, status);
}

/*
 * The server may have executed what was sent, so it is sent again with the same seq.  If the
 * server returned with fewer slots, requests of the missing slots fail.  If it did not resume the
 * session, it does not know the requests, and gets them with WIRE_F_STATE_LOST.
 */
void call_resend_all(struct rpc_peer *peer, bool resumed)
{
	unsigned int i;
	int rc;

	for (i = 0; i < peer->nslots; i++) {
		struct rpc_call *call = peer->slots[i].call;

		if (peer->free >> i & 1)
			continue;
		if (call && i < peer->granted) {
			peer->slots[i].state_lost |= !resumed;
			rc = call_send(peer, i,
				       peer->slots[i].state_lost
					       ? WIRE_F_REPLAY |
							 WIRE_F_STATE_LOST
					       : WIRE_F_REPLAY);
			if (rc)
				call_fail_unsent(peer, i, true, rc);
			continue;
		}
		call_free_slot(peer, i);
		if (!call)
			continue;
		log_error(peer->link.ctx->log,
			  "%s: a call in slot %u is lost: the server came back "
			  "with %u slots; restart it with as many as before",
			  peer->name, i, peer->granted);
		count_unanswered(peer, i);
		call_fail(call, -ESTALE);
	}
	call_send_queued(peer);
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
		count_unanswered(peer, i);
		if (s->sending || s->transfers)
			link_fail_now(&peer->link, status);
	}
	call_complete(call, status);
}

void rpc_call_cancel(struct rpc_call *call)
{
	if (call->p.peer)
		call_abandon(call, -ECANCELED);
}

void rpc_call_cancel_unneeded(struct rpc_call *call, int status)
{
	const struct rpc_peer *peer = call->p.peer;

	if (!status || status == -ETIMEDOUT || status == -ECANCELED)
		return;
	if (!peer || peer->state == PEER_READY || call->p.where == CALL_FAILING)
		return;
	if (!call->unsure || !wire_op_changes(le16toh(call_hdr(call)->op)))
		rpc_call_cancel(call);
}

bool call_fail_inaccessible(struct rpc_peer *peer)
{
	struct rpc_call *call;
	bool found = false;
	unsigned int i;

	for (i = 0; i < peer->nslots; i++) {
		call = peer->slots[i].call;
		if (!call || !call->faulty || !call->faulty(call))
			continue;
		peer->slots[i].call = NULL;
		count_unanswered(peer, i);
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
		  ready ? "" : peer_error_text(peer->reason),
		  ready || !fix ? "" : "; ", ready || !fix ? "" : fix);
}

/*
 * Whether the call waits for a lock at a server that answers other calls.  Such a call ends with
 * -EAGAIN, as if its wait at the server had ended without the lock.
 */
static bool is_waiting_lock(const struct rpc_call *call)
{
	const struct rpc_peer *peer = call->p.peer;

	return call->p.where == CALL_QUEUED && call->p.kind == WIRE_WAIT_LOCK &&
	       peer->state == PEER_READY && peer->last_reply > call->p.began;
}

void call_deadline_passed(struct rpc_due *due)
{
	struct rpc_call *call = container_of(due, struct rpc_call, p.due);

	if (is_waiting_lock(call)) {
		call_abandon(call, -EAGAIN);
	} else if (call->p.where != CALL_FAILING) {
		call_log_timeout(call);
		call_abandon(call, -ETIMEDOUT);
	} else {
		call_abandon(call, call->status);
	}
}
