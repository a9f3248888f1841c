/* SPDX-License-Identifier: BSD-2-Clause */
/* call_reply.c - finds the call of a reply.  Ends it, or sends its request again. */
#include <errno.h>

#include "common/comm/call/call_int.h"

#define CAPS_ASKED_MAX 3u

static const char *call_reply_error(const struct rpc_peer *peer,
				    const struct wire_hdr *hdr)
{
	unsigned int i = le16toh(hdr->slot);

	if (i >= peer->nslots || peer->free >> i & 1)
		return "slot without a request";
	if (le64toh(hdr->seq) != peer->slots[i].seq)
		return "seq";
	if (hdr->op != slot_msg(peer, i)->op)
		return "op";
	if (le64toh(hdr->session) != peer->session)
		return "session";
	if (le32toh(hdr->status) > WIRE_REDIRECT)
		return "status";
	return NULL;
}

/* ---- replies that ask for the request again ---- */

/*
 * Returns true if the iod lacked capabilities (ENOKEY) and the request was sent again with them.
 * It was not executed, so it gets a new seq.
 */
static bool call_retry_with_caps(struct rpc_peer *peer, unsigned int i,
				 uint32_t status)
{
	struct peer_slot *s = &peer->slots[i];
	int rc;

	if (status != ENOKEY || !s->call || !peer->caps ||
	    !(rpc_peer_features(peer) & WIRE_FT_CAPS) || s->transfers ||
	    s->caps_asked == CAPS_ASKED_MAX)
		return false;
	s->caps_asked++;
	payload_undo(peer, s);
	s->state_lost = false;
	s->seq++;
	slot_msg(peer, i)->seq = htole64(s->seq);
	if (!call_add_caps(peer, i))
		return false;
	rc = call_send(peer, i, 0);
	if (rc)
		call_fail_unsent(peer, i, false, rc);
	return true;
}

/*
 * Returns true if the server answered that the request would have to wait (WIRE_FT_WAITS).  The
 * call then waits for a slot for such calls, and is sent again as one that may wait.
 */
static bool call_requeue_as_waiting(struct rpc_peer *peer, unsigned int i,
				    uint32_t status)
{
	struct peer_slot *s = &peer->slots[i];

	if (status != EINPROGRESS || !s->call || s->kind != WIRE_WAIT_NOT ||
	    s->transfers || !(rpc_peer_features(peer) & WIRE_FT_WAITS))
		return false;
	call_remove_caps(peer, i);
	payload_undo(peer, s);
	silence_over(peer, NULL);
	call_requeue(peer, i, WIRE_WAIT_STORE);
	return true;
}

/* ---- the others ---- */

/*
 * msg NULL: all requested bytes were read.  During done(), the buffer that contains these bytes
 * must not be given to another call.
 */
static void call_end(struct rpc_peer *peer, unsigned int i,
		     const struct wire_msg *msg)
{
	struct peer_slot *s = &peer->slots[i];
	uint32_t status = msg ? le32toh(msg->hdr->status) : 0;
	unsigned int op = le16toh(slot_msg(peer, i)->op), buffer = 0;
	const void *bounced = payload_bounced(peer, s);
	uint32_t epoch = peer->epoch;
	struct rpc_call *call;

	peer->backoff_ms = PEER_BACKOFF_MIN_MS;
	/*
	 * The server ended access to a part that we are still reading, into memory that returns to
	 * the caller with this reply.  So end the connection.  A write to the server that is late
	 * does no harm.
	 */
	if (s->transfers && wire_op_reads(op)) {
		link_fail(&peer->link, -ETIMEDOUT);
		return;
	}
	if (bounced) {
		buffer = s->buffer;
		s->buffer = 0;
	}
	call = call_free_slot(peer, i);
	silence_over(peer, call);
	if (call) {
		call->reply = msg ? *msg : (struct wire_msg){ 0 };
		call->whole = !msg;
		call->unsure = false;
		call->landed = bounced;
		call_complete(call, status >= WIRE_REDIRECT ? (int)status
							    : -(int)status);
	} else if (msg && wire_op_changes(op)) {
		peer->unanswered--;
	}
	if (buffer && peer->epoch == epoch && peer->link.ep)
		fast_give(&peer->fast.busy, buffer - 1);
}

void call_reply(struct rpc_peer *peer, const struct wire_msg *msg)
{
	const char *error = call_reply_error(peer, msg->hdr);
	unsigned int credits = le32toh(msg->hdr->credits);
	unsigned int i = le16toh(msg->hdr->slot);
	uint32_t status = le32toh(msg->hdr->status);

	if (error) {
		peer_protocol_error(peer, error);
		return;
	}
	clock_offset_add(&peer->clock, le64toh(msg->hdr->clock), clock_boot());
	peer->last_reply = clock_now();
	if (credits)
		peer->credits = credits < peer->granted ? credits
							: peer->granted;
	if (!call_retry_with_caps(peer, i, status) &&
	    !call_requeue_as_waiting(peer, i, status))
		call_end(peer, i, msg);
}

void call_reply_by_imm(struct rpc_peer *peer, uint32_t imm)
{
	unsigned int i = imm & WIRE_IMM_SLOT;

	if (peer->state != PEER_READY || i >= peer->nslots ||
	    peer->free >> i & 1 || !peer->slots[i].reply_optional ||
	    imm != wire_imm_whole(i, peer->slots[i].seq)) {
		peer_protocol_error(peer, "an immediate, to no such read");
		return;
	}
	payload_count_whole(peer);
	call_end(peer, i, NULL);
}
