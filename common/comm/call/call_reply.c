/* SPDX-License-Identifier: BSD-2-Clause */
/* call_reply.c - finds the call of a reply, and ends it. */
#include <errno.h>

#include "common/comm/call/peer_int.h"

static int call_status(uint32_t status)
{
	return status >= WIRE_REDIRECT ? (int)status : -(int)status;
}

static const char *call_reply_error(const struct rpc_peer *peer,
				    const struct wire_hdr *hdr)
{
	unsigned int i = le16toh(hdr->slot);

	if (i >= peer->nslots || peer->free >> i & 1)
		return "slot without a request";
	if (le64toh(hdr->seq) != peer->slots[i].seq)
		return "seq";
	if (hdr->op != call_buf(peer, i)->op)
		return "op";
	if (le64toh(hdr->session) != peer->session)
		return "session";
	if (le32toh(hdr->status) > WIRE_REDIRECT)
		return "status";
	return NULL;
}

/*
 * msg NULL: all was read.  In done(), the buffer with the bytes of the read must not be given to
 * another call.
 */
static void call_end(struct rpc_peer *peer, unsigned int i,
		     const struct wire_msg *msg)
{
	struct peer_slot *s = &peer->slots[i];
	const void *landed = way_landed(peer, s);
	unsigned int kept = landed ? s->buffer : 0;
	uint32_t epoch = peer->epoch;
	struct rpc_call *call;

	s->buffer -= kept;
	call = call_leave_slot(peer, i);
	silence_heard(peer, call);
	if (call) {
		call->reply = msg ? *msg : (struct wire_msg){ 0 };
		call->whole = !msg;
		call->unsure = false;
		call->landed = landed;
		call_done(call,
			  msg ? call_status(le32toh(msg->hdr->status)) : 0);
	} else if (msg && wire_op_changes(le16toh(msg->hdr->op))) {
		peer->owed--;
	}
	if (kept && peer->epoch == epoch && peer->link.ep)
		fast_give(&peer->fast.busy, kept - 1);
}

/*
 * The server withdrew a part that we still read, into memory that returns to the caller with this
 * reply.  A write to the server may be too late without harm.
 */
static bool still_reads(const struct rpc_peer *peer, unsigned int i)
{
	return peer->slots[i].carrying &&
	       wire_op_reads(le16toh(call_buf(peer, i)->op));
}

static void call_answered(struct rpc_peer *peer, unsigned int i,
			  const struct wire_msg *msg)
{
	peer->backoff_ms = PEER_BACKOFF_MIN_MS;
	if (still_reads(peer, i))
		link_fail(&peer->link, -ETIMEDOUT);
	else
		call_end(peer, i, msg);
}

void call_reply(struct rpc_peer *peer, const struct wire_msg *msg)
{
	const char *error = call_reply_error(peer, msg->hdr);
	unsigned int credits = le32toh(msg->hdr->credits);

	if (error) {
		peer_protocol_error(peer, error);
		return;
	}
	peer_stamped(peer, msg->hdr);
	peer->heard = clock_now();
	if (credits)
		peer->credits = credits < peer->granted ? credits
							: peer->granted;
	if (!call_asked(peer, le16toh(msg->hdr->slot), msg) &&
	    !call_would_wait(peer, le16toh(msg->hdr->slot), msg))
		call_answered(peer, le16toh(msg->hdr->slot), msg);
}

static bool is_terse(const struct rpc_peer *peer, unsigned int i)
{
	return peer->state == PEER_READY && i < peer->nslots &&
	       !(peer->free >> i & 1) && peer->slots[i].terse;
}

void call_whole(struct rpc_peer *peer, uint32_t imm)
{
	unsigned int i = imm & WIRE_IMM_SLOT;

	if (!is_terse(peer, i) ||
	    imm != wire_imm_whole(i, peer->slots[i].seq)) {
		peer_protocol_error(peer, "an immediate, to no such read");
		return;
	}
	way_count_whole(peer);
	call_answered(peer, i, NULL);
}
