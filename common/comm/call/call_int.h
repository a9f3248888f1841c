/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_int.h - the calls of a peer.  A call waits in a queue, with a copy of its message, until
 * there is a connection and a free slot.  Then its message stays in the buffer of the slot until
 * the reply, so that the peer can send it again.  If a call times out or is cancelled, its slot
 * stays in use (a zombie) until the reply arrives or the peer reconnects.  So a late reply is
 * never taken for that of another call.
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
/*
 * Called when the peer becomes READY: sends the outstanding requests again, then the waiting ones.
 */
void call_resend_all(struct rpc_peer *peer, bool resumed);
/* Gives free slots to waiting calls. */
void call_send_queued(struct rpc_peer *peer);
bool call_any_outstanding(const struct rpc_peer *peer);
/* Returns true if the call has a slot: it was sent, or will be sent on the next connection. */
bool call_has_slot(const struct rpc_call *call);
/*
 * Called when call_send() failed with status: ends the call in the next round of the context.
 * `resent` is true if the request was sent on an earlier connection.
 */
void call_fail_unsent(struct rpc_peer *peer, unsigned int slot, bool resent,
		      int status);
/* Frees the slot, and puts its call into the queue of kind, where it waits for another slot. */
void call_requeue(struct rpc_peer *peer, unsigned int slot,
		  enum wire_wait kind);
/* Frees a slot. Returns its call, or NULL if the slot was a zombie. */
struct rpc_call *call_free_slot(struct rpc_peer *peer, unsigned int slot);
/* Ends a call that has no slot: done() runs. */
void call_complete(struct rpc_call *call, int status);
/*
 * call_fail_all() ends all calls with status in the next round: it puts them on peer->failing.
 * call_drain() ends the calls on that list now.
 */
void call_fail_all(struct rpc_peer *peer, int status);
void call_drain(struct rpc_peer *peer);
/* Ends the calls whose memory is not accessible.  Returns true if there were any. */
bool call_fail_inaccessible(struct rpc_peer *peer);

/* ---- call_reply.c ---- */

/* Ends the call of a reply, or sends its request again if the reply asks for that. */
void call_reply(struct rpc_peer *peer, const struct wire_msg *msg);
/* Ends the READ that the immediate imm names: all its bytes arrived, and no reply follows. */
void call_reply_by_imm(struct rpc_peer *peer, uint32_t imm);

/* ---- call_send.c ---- */

/*
 * Sends the request in the slot, the first time or again: the message from the buffer of the
 * slot, and the data from the caller's memory.  If the transport fails, the function fails the
 * link and returns 0.  Returns -errno if memory of the caller cannot be registered.
 */
int call_send(struct rpc_peer *peer, unsigned int slot, unsigned int flags);
/* Called when the send wr_id is complete: the transport no longer reads the caller's data. */
void call_sent(struct rpc_peer *peer, uint64_t wr_id);
/*
 * Appends the capabilities that the server requires to the message in the slot, and replaces
 * those of an earlier attempt.  Returns false if the client has none.
 */
bool call_add_caps(struct rpc_peer *peer, unsigned int slot);
void call_remove_caps(struct rpc_peer *peer, unsigned int slot);

/*
 * ---- slot_quota.c: how the calls of a session share its slots at a server ----
 *
 * A whole mount, or a process with many threads, is one session.  Some calls keep their slot for
 * long, because they wait at the server for another client, a disk or another server (enum
 * wire_wait).  Such calls may use only a part of the slots.  So a call on which they depend, such
 * as an unlock, always finds a slot:
 *
 *	|-- waits for a disk or server: 5/8 --|
 *	                 |-- waits for a lock: 3/8 --|
 *	|-- both together: 3/4 ----------------------|--- others: all ---|PING|
 *
 * The last slots of each share are for users who have no slot of that kind yet.  If the peer has
 * urgent calls and at least three slots, it reserves one slot for them.  A call without a slot
 * waits in the queue of its kind until its deadline, without using anything at the server.  The
 * queues get free slots in turn.
 */

/* Returns whether the call may use one of the free slots. */
bool slot_quota_permits(const struct rpc_peer *peer,
			const struct rpc_call *call);

#endif
