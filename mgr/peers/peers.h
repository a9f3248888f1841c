/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peers.h - the connections of a manager to the other managers of its group.  They carry the
 * messages between members (member.h) as RAFT requests (wire.h).
 *
 * 	peers_send() --> a lane of that manager --> RAFT --> peers_handle_request() --> receive()
 * 	receive() <---------------------------- reply <-- peers_send() of an AppendEntriesResult
 *
 * Lanes.  There are two connections (lanes) to each other manager: one for entries of the log, in
 * order, and one for all other messages.  So heartbeats, votes and results never wait for entries.
 * If a heartbeat overtakes entries, the receiver rejects it, but still counts it as a sign of life.
 *
 * Results.  A RAFT request stays open until the result of its entries is sent, and the reply carries
 * this result.  So a create needs four messages between three managers instead of eight.  At most
 * half of the calls of a lane wait for results.  If another one would wait, the oldest one gets a
 * reply without a result.  Without an open request, a result is a RAFT request, like any message.
 *
 * Loss.  A message is lost if its lane is full, or after timeout_ms, also while the connection is
 * down.  rpc retries the connection for it, with pauses of up to a second.  If a manager rejects a
 * message or a session, the lane pauses for 0.1 to 2 s and then sends the next message on a new
 * session.  If the other end is silent, rpc replaces the connection.
 *
 * Large messages.  A request contains messages of up to WIRE_RAFT_INLINE bytes.  The receiver reads
 * larger messages from the sender's memory.  While it does, the sender sends no later message in
 * this lane, and the reply does not wait for the result.
 *
 * Trust.  With a key, the other end of each connection proves that it is a server, and connections
 * are sealed like those between a manager and iods.  Without a key, messages are accepted only from
 * the addresses of the other managers (mgr_addresses.h).
 *
 * Threads.  All functions are for the thread of the ctx, and receive() is called in it.
 */
#ifndef PEERS_H
#define PEERS_H

#include "common/comm/rpc.h"
#include "mgr/raft/peer_message.h"

/* The program name by which a manager identifies itself to other managers. */
#define PEERS_NAME "pvfs-mgr"

struct peers;

struct peers_manager {
	uint64_t id; /* of the member, not 0 */
	struct addr addr;
};

struct peers_attr {
	struct rpc_ctx *ctx;
	const struct log *log;
	uint64_t fsid;
	/* NULL: there is no key.  Must outlive the peers. */
	const struct prover *prover;
	enum seal_mode seal; /* with prover */
	uint64_t group; /* not 0 */
	uint64_t id; /* our own */
	/*
	 * Without a key: where managers connect from: see mgr_addresses_open().  Used only in
	 * peers_open().
	 */
	const char *hosts;
	/* a message that did not arrive after this time is lost */
	unsigned int timeout_ms;
	/*
	 * The data is valid until the call returns or sends a result.  The call must not call
	 * peers_close().  Returns true if peers_send() of an AppendEntriesResult to `from` will
	 * follow: see member_receive().
	 */
	bool (*receive)(void *arg, uint64_t from, const void *data, size_t len);
	void *arg;
};

/*
 * Opens peers without any other manager: peers_set() adds them.  -EINVAL: an id is 0.  -ENOMEM.
 * Without a key, resolves attr.hosts; errors as mgr_addresses_open().
 */
int peers_open(const struct peers_attr *attr, struct peers **peers);
/*
 * Sets the managers of the group, which may include this one.  Closes the connections to all
 * others. A lane connects when it has a message to send.  Must not be called from receive().
 * -EINVAL: an id is 0 or occurs twice, or there are more than WIRE_MEMBERS_MAX.  -EBUSY: a message
 * of a manager that left the group is being read; call again.  -ENOMEM: call again.
 */
int peers_set(struct peers *peers, const struct peers_manager *managers,
	      unsigned int n);
/*
 * Replies to all open requests, without results.  Call it before the server that calls
 * peers_handle_request() is closed.
 */
void peers_reply_all(struct peers *peers);
/*
 * Replies to open requests whose senders do not wait any more: the deadline has passed, or the
 * connection is closed.  Call it now and then.  peers may be NULL.
 */
void peers_reply_late(struct peers *peers);
/* Messages in flight are lost.  Close the server first. */
void peers_close(struct peers *peers);

/*
 * The send() of struct member_peers.  arg: the struct peers.  Copies the data and never waits.
 * 0: the message is queued.  -ENOENT: unknown member.  -EMSGSIZE: above PEER_MESSAGE_MAX, or empty.
 * -ECONNREFUSED: that manager rejected the last message.  -ENOBUFS: the lane is full
 * (PEERS_ENTRIES_MAX bytes of entries, PEERS_OTHERS_MAX of other messages).  -ENOMEM.
 */
#define PEERS_ENTRIES_MAX (16u << 20)
#define PEERS_OTHERS_MAX (256u << 10)
int peers_send(void *arg, uint64_t to, const void *data, size_t len);

/*
 * Opens a connection to a manager that belongs to no lane, for other calls.  Of attr, only ctx,
 * fsid, prover and seal are used.  impatient: see struct rpc_peer_attr.  Close it with
 * rpc_peer_close(). -ENOMEM, or as random_id().
 */
int peers_connect(const struct peers_attr *attr, const struct addr *addr,
		  const char *name, bool impatient, struct rpc_peer **peer);

/*
 * Whether to admit a connection from peer that claims to be a manager of the group: for
 * session_admit() and may_reserve() of struct rpc_service.  With a key always true, because rpc
 * requires a proof.
 */
bool peers_admit(const struct peers *peers, const char *peer);
/*
 * If req is a RAFT request, answers it, now or later, and returns true.  The service must also
 * answer PING, which rpc uses to detect silent servers.
 */
bool peers_handle_request(struct peers *peers, struct rpc_req *req);

#endif
