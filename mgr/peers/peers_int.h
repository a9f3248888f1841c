/* SPDX-License-Identifier: BSD-2-Clause */
/* peers_int.h - what the files of this folder share. */
#ifndef PEERS_INT_H
#define PEERS_INT_H

#include "common/comm/cluster/mgr_addresses.h"
#include "common/util/clock.h"
#include "common/util/container.h"
#include "mgr/peers/peers.h"

#define LANE_CALLS 8u /* messages in flight */
/* Requests of a lane that wait for results.  The other ones carry further messages meanwhile. */
#define OPEN_MAX (LANE_CALLS / 2)

struct lane_message;

/* A connection to another manager, and the messages that it has to carry. */
struct lane {
	struct peer *peer;
	const char *what; /* what the lane carries, for log lines */
	size_t limit; /* bytes */
	struct rpc_peer *rpc;
	STAILQ_HEAD(, lane_message) waiting;
	size_t bytes; /* of all messages, waiting and in flight */
	unsigned int in_flight;
	bool large; /* a message that the receiver reads from our memory is in flight */
	bool closing;
	/* rejected messages */
	bool refused; /* the other manager rejected the last message */
	unsigned int pause_ms;
	uint64_t resume; /* clock_now(): nothing is sent before */
};

enum lane_kind { LANE_ENTRIES, LANE_OTHERS, LANES };

/* Another manager. */
struct peer {
	struct peers *peers;
	struct peers_manager manager;
	struct lane lanes[LANES];
	struct incoming *
		incoming; /* the large message that is being read from this manager */
	/*
	 * RAFT requests of this manager without a reply, the oldest first.  If a deadline has
	 * passed, the next message, result or peers_reply_late() ends that request.
	 */
	struct rpc_req *open[OPEN_MAX];
	unsigned int n_open;
};

struct peers {
	struct peers_attr attr; /* hosts is not used */
	struct mgr_addresses *addresses; /* NULL: with a key */
	unsigned int n;
	struct peer *peer[WIRE_MEMBERS_MAX];
};

/* ---- managers.c ---- */

/* NULL: there is no other manager with that id. */
struct peer *peer_find(struct peers *peers, uint64_t id);

/* ---- lane.c ---- */

/* 0, -ENOMEM, or as random_id(). */
int lane_open(struct lane *lane);
/* May be called if lane_open() failed, or was not called. */
void lane_close(struct lane *lane);
/* As peers_send(). */
int lane_send(struct lane *lane, const void *data, size_t len);

/* ---- incoming.c ---- */

/* The server is closed: drops the message that it was reading from this peer. */
void incoming_drop(struct peer *peer);
/*
 * Sends data in the reply to the oldest open request of the peer.  false: no request is open.
 */
bool incoming_reply(struct peer *peer, const void *data, size_t len);
/* Replies without a message to open requests that nobody waits for any more. */
void incoming_reply_late(struct peer *peer);
/* Replies to all open requests of the peer, without a message. */
void incoming_reply_all(struct peer *peer);

#endif
