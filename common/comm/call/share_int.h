/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * share_int.h - how the calls of a session share its slots at a server.
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
 * more slots, one is reserved for urgent calls, if the peer has such calls.  A call without a slot waits in the
 * queue of its kind.  It uses nothing at the server and ends at its deadline.  The kinds get free
 * slots in turn.
 */
#ifndef SHARE_INT_H
#define SHARE_INT_H

#include <stdbool.h>

struct rpc_peer;
struct rpc_call;

/* Whether the call may have one of the free slots. */
bool share_allows(const struct rpc_peer *peer, const struct rpc_call *call);

#endif
