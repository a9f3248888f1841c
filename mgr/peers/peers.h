/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peers.h - the connections of a manager to the other managers of its group: messages between
 * members (member.h) as requests RAFT (wire.h).
 *
 * 	peers_send() --> a lane of that manager --> RAFT --> peers_handle_request() --> receive()
 *
 * Lanes.  Each other manager has two connections.  Entries of the log use one of them, in order,
 * and all other messages the other one.  So heartbeats, votes and results never wait for
 * entries.  A heartbeat may overtake entries.  Then the receiver rejects it, and still counts it
 * as a sign of life.
 *
 * Loss.  A message is lost if its lane is full, if the connection is down, or if timeout_ms pass.
 * While a connection is down, a lane has at most one message, for which rpc connects again and
 * again, with pauses of up to a second.  A manager that refuses a message or a session gets the
 * next message after a pause of 0.1 to 2 s, on a new session.  A connection whose other end is
 * silent is replaced by rpc.
 *
 * Large messages.  Up to WIRE_RAFT_INLINE bytes are in the request.  The receiver reads larger
 * ones from the memory of the sender.  One of them is in flight in a lane, and nothing else.
 *
 * Trust.  With a key, the other end of each connection proves that it is a server, and the
 * connection is sealed as between a manager and iods.  Without a key, messages are taken only
 * from the addresses of the other managers (mgr_addresses.h).
 *
 * Threads.  All functions are for the thread of the ctx, and receive() is called in it.
 */
#ifndef PEERS_H
#define PEERS_H

#include "common/comm/rpc.h"
#include "mgr/raft/peer_message.h"

/* The name of the program that a manager gives at other managers. */
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
	/* NULL: there is no key.  Outlives the peers. */
	const struct prover *prover;
	enum seal_mode seal; /* with prover */
	uint64_t group; /* not 0 */
	uint64_t id; /* our own */
	/* Without a key: where managers connect from, as in mgr_addresses_open().  Not kept. */
	const char *hosts;
	/* a message that did not arrive after this time is given up */
	unsigned int timeout_ms;
	/* The data is valid during the call, which must not call peers_close(). */
	void (*receive)(void *arg, uint64_t from, const void *data, size_t len);
	void *arg;
};

/*
 * There is no other manager yet.  -EINVAL: an id is 0.  Without a key it resolves attr.hosts, and fails as
 * mgr_addresses_open().  -ENOMEM.
 */
int peers_open(const struct peers_attr *attr, struct peers **peers);
/*
 * These are the managers of the group from now on; may include this one.  Connections to others are
 * closed.  Connects when there is something to send.  Not from receive().  -EINVAL: an id is 0 or occurs
 * twice, or there are more than WIRE_MEMBERS_MAX.  -EBUSY: a message of one that is not of the group any more
 * is being read; -ENOMEM: call it again.
 */
int peers_set(struct peers *peers, const struct peers_manager *managers,
	      unsigned int n);
/* Messages in flight are lost.  The server of peers_handle_request() is closed before. */
void peers_close(struct peers *peers);

/*
 * The send() of struct member_peers.  arg: the struct peers.  Copies the data and never waits.
 * 0: it may arrive.  -ENOENT: unknown member.  -EMSGSIZE: above PEER_MESSAGE_MAX, or empty.
 * -ENOTCONN: not connected.  -ECONNREFUSED: that manager refused the last message.  -ENOBUFS: the
 * lane is full (PEERS_ENTRIES_MAX bytes of entries, PEERS_OTHERS_MAX of other messages).  -ENOMEM.
 */
#define PEERS_ENTRIES_MAX (16u << 20)
#define PEERS_OTHERS_MAX (256u << 10)
int peers_send(void *arg, uint64_t to, const void *data, size_t len);

/*
 * A connection to a manager, for calls of this one; not of a lane.  Of attr it needs ctx, fsid, prover and
 * seal.  impatient: see struct rpc_peer_attr.  Close it with rpc_peer_close().  -ENOMEM.
 */
int peers_connect(const struct peers_attr *attr, const struct addr *addr,
		  const char *name, bool impatient, struct rpc_peer **peer);

/*
 * Whether a connection from peer that claims to be of a manager may be one of the group:
 * for session_admit() and may_reserve() of struct rpc_service.  True with a key: rpc requires
 * its proof.
 */
bool peers_admit(const struct peers *peers, const char *peer);
/*
 * If it is a RAFT, answers it, now or later, and returns true.  The service must also answer PING,
 * by which rpc finds silent servers.
 */
bool peers_handle_request(struct peers *peers, struct rpc_req *req);

#endif
