/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * part_transfer.h - the client's part of adaptive rendezvous.  A loaded server asks the client
 * to move data (WIRE_CARRY) between the memory that the request names and memory that the server
 * lends.  A client that is itself loaded with such parts declines (PVFS2 over Quadrics, ICS 2005,
 * section 5.1: the load of both ends counts).
 */
#ifndef PART_TRANSFER_H
#define PART_TRANSFER_H

#include "common/comm/call/peer_int.h"

/* A checked CARRY.  Lives longer than the receive that it came in. */
struct part_transfer {
	unsigned int slot;
	struct wire_carry_rep rep;
};

/* Fills in part.  Returns NULL, or what is wrong with the message. */
const char *part_transfer_check(const struct rpc_peer *peer,
				const struct wire_msg *msg,
				struct part_transfer *part);
/*
 * Call it after the receive is posted again, because the server may send another message after
 * the answer.
 */
void part_transfer_start(struct rpc_peer *peer,
			 const struct part_transfer *part);
/* Whether a completion belongs to a part.  Then part_transfer_complete() takes it. */
bool part_transfer_owns(uint64_t wr_id);
void part_transfer_complete(struct rpc_peer *peer, const struct tp_wc *wc);
/* The parts in progress ended with the connection. */
void part_transfer_reset(struct rpc_peer *peer);

#endif
