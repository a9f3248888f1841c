/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_carry_int.h - the client's part of adaptive rendezvous.  A loaded server asks the client
 * to move data (WIRE_CARRY) between the memory that the request names and memory that the server
 * lends.  A client that is itself loaded with such parts declines (PVFS2 over Quadrics, ICS 2005,
 * section 5.1: the load of both ends counts).
 */
#ifndef CALL_CARRY_INT_H
#define CALL_CARRY_INT_H

#include "common/comm/call/peer_int.h"

/* A checked CARRY.  Lives longer than the receive that it came in. */
struct call_part {
	unsigned int slot;
	struct wire_carry_rep rep;
};

/* Fills in part.  Returns NULL, or what is wrong with the message. */
const char *call_part_get(const struct rpc_peer *peer,
			  const struct wire_msg *msg, struct call_part *part);
/*
 * Call it after the receive is posted again, because the server may send another message after
 * the answer.
 */
void call_part_move(struct rpc_peer *peer, const struct call_part *part);
/* If call_part_is(wr_id), the completion belongs to such a part: call call_part_moved(). */
bool call_part_is(uint64_t wr_id);
void call_part_moved(struct rpc_peer *peer, const struct tp_wc *wc);

#endif
