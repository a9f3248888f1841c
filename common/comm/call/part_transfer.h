/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * part_transfer.h - the client's side of adaptive rendezvous.  A server with much load sends CARRY:
 * the client is to move a part of the data by RDMA, between the memory that its request names and
 * memory of the server.  The client declines if it is already moving many parts (PVFS2 over
 * Quadrics, ICS 2005, section 5.1: the load of both ends counts).
 */
#ifndef PART_TRANSFER_H
#define PART_TRANSFER_H

#include "common/comm/call/peer_int.h"

/* A checked CARRY.  Lives longer than the receive that it came in. */
struct part_transfer {
	unsigned int slot;
	struct wire_carry_rep rep;
};

/* Checks the message CARRY and fills *part.  Returns NULL, or what is wrong with the message. */
const char *part_transfer_check(const struct rpc_peer *peer,
				const struct wire_msg *msg,
				struct part_transfer *part);
/*
 * Moves the part and answers the server.  The caller has posted the receive of the CARRY again,
 * because the server may send another message after the answer.
 */
void part_transfer_start(struct rpc_peer *peer,
			 const struct part_transfer *part);
/* Returns whether wr_id belongs to a part. The caller then calls part_transfer_complete(). */
bool part_transfer_owns(uint64_t wr_id);
void part_transfer_complete(struct rpc_peer *peer, const struct tp_wc *wc);
/* Called when the connection is closed, which ends the parts in progress. */
void part_transfer_reset(struct rpc_peer *peer);

#endif
