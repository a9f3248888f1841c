/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_carry_int.h - the client's part of adaptive rendezvous: it moves what a loaded
 * server asks it to (WIRE_CARRY), between the memory that its request names
 * and that which the server lends.  One that is loaded itself, by what it moves for
 * others, declines (PVFS2 over Quadrics, ICS 2005, section 5.1: both ends' load counts).
 */
#ifndef CALL_CARRY_INT_H
#define CALL_CARRY_INT_H

#include "common/comm/call/peer_int.h"

/* A checked CARRY: outlives the receive that it came in. */
struct call_part {
	unsigned int slot;
	struct wire_carry_rep rep;
};

/* NULL, or what the server does wrong. */
const char *call_part_get(const struct rpc_peer *peer,
			  const struct wire_msg *msg, struct call_part *part);
/* The receive is posted again: the answer may be followed by another message. */
void call_part_move(struct rpc_peer *peer, const struct call_part *part);
/* Completions of that: call_part_moved() if call_part_is(). */
bool call_part_is(uint64_t wr_id);
void call_part_moved(struct rpc_peer *peer, const struct tp_wc *wc);

#endif
