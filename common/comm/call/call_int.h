/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_int.h - the calls of a peer.  A call waits in the queue, with a copy of its message, until
 * there is a connection and a slot.  Then the message stays in the buffer of the slot until the
 * reply, ready to be sent again.  If a call is given up, its slot stays in use (a zombie) until
 * its reply arrives or the peer reconnects.  So a late reply never meets another call.
 */
#ifndef CALL_INT_H
#define CALL_INT_H

#include "common/comm/call/peer_int.h"

/* ---- call.c ---- */

void call_init(struct rpc_peer *peer);
/*
 * rpc_call_start() without connecting.  Returns true if the call waits in the queue, so that a
 * connection is needed.
 */
bool call_start(struct rpc_peer *peer, struct rpc_call *call);
/* For struct ctx_calls. */
void call_deadline_passed(struct rpc_due *due);
/* READY: sends the outstanding requests again, then the waiting ones. */
void call_resend_all(struct rpc_peer *peer, bool resumed);
/* Gives free slots to waiting calls. */
void call_send_queued(struct rpc_peer *peer);
bool call_any_outstanding(const struct rpc_peer *peer);
/* The request was sent, or will be with the next connection. */
bool call_has_slot(const struct rpc_call *call);
/*
 * call_send() failed with status: ends the call in the next round.  resent: the request was sent
 * before.
 */
void call_fail_unsent(struct rpc_peer *peer, unsigned int slot, bool resent,
		      int status);
/* Takes the call out of its slot, and lets it wait for one as a call of that kind. */
void call_requeue(struct rpc_peer *peer, unsigned int slot,
		  enum wire_wait kind);
/* Frees a slot.  Returns its call, or NULL: it was a zombie. */
struct rpc_call *call_free_slot(struct rpc_peer *peer, unsigned int slot);
/* Ends the call, which has no slot: done() runs. */
void call_complete(struct rpc_call *call, int status);
/* Ends all calls with status, in the next round.  call_drain(): now. */
void call_fail_all(struct rpc_peer *peer, int status);
void call_drain(struct rpc_peer *peer);
/* Ends the calls whose memory is not accessible.  Returns true if there were any. */
bool call_fail_inaccessible(struct rpc_peer *peer);

/* ---- call_reply.c ---- */

/* Ends the call of a reply, or sends its request again if the reply asks for that. */
void call_reply(struct rpc_peer *peer, const struct wire_msg *msg);
/* The same for an immediate in place of a reply: all bytes of a read were placed. */
void call_reply_by_imm(struct rpc_peer *peer, uint32_t imm);

/* ---- call_send.c ---- */

/*
 * Sends the request in the slot, the first time or again: the message from the buffer of the
 * slot, the data from the caller's memory.  Fails the link if it cannot be sent there.  Returns 0,
 * or -errno: memory of the caller cannot be registered.
 */
int call_send(struct rpc_peer *peer, unsigned int slot, unsigned int flags);
/* A send is complete: the caller's data was read. */
void call_sent(struct rpc_peer *peer, uint64_t wr_id);
/*
 * Appends the capabilities that the server needs to the message, in place of those of an earlier
 * attempt.  Returns false if there are none.
 */
bool call_add_caps(struct rpc_peer *peer, unsigned int slot);
void call_remove_caps(struct rpc_peer *peer, unsigned int slot);

/*
 * ---- slot_quota.c: how the calls of a session share its slots at a server ----
 *
 * A whole mount, or a process with many threads, is one session.  A call that waits for another
 * party (enum wire_wait) keeps its slot until that party is done.  So such calls may use only
 * some of the slots.  The calls that they wait for, for example an unlock, can use the others:
 *
 *	|-- waits for a disk or server: 5/8 --|
 *	                 |-- waits for a lock: 3/8 --|
 *	|-- both together: 3/4 ----------------------|--- others: all ---|PING|
 *
 * The last part of each of these is for users that have no slot of that kind.  Of three or
 * more slots, one is reserved for urgent calls, if the peer has such calls.  A call without a slot
 * waits in the queue of its kind.  It uses nothing at the server and ends at its deadline.  The
 * kinds get free slots in turn.
 */

/* Whether the call may have one of the free slots. */
bool slot_quota_permits(const struct rpc_peer *peer,
			const struct rpc_call *call);

#endif
