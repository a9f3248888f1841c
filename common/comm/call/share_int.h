/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * share_int.h - how the calls of a session share its slots at a server.
 *
 * A whole mount, or a process with many threads, is one session.  A call that waits for
 * somebody else (enum wire_wait) keeps its slot until that one is done, so such calls get
 * some of the slots only, and what they wait for, perhaps an unlock, has the others:
 *
 *	|-- waits for a disk or server: 5/8 --|
 *	                 |-- waits for a lock: 3/8 --|
 *	|-- both together: 3/4 ----------------------|--- others: all ---|PING|
 *
 * Of each of these the last part goes to users that have none of it.  One slot is for
 * urgent calls alone, where there are such.  A call without a slot waits in the queue of its
 * kind, holds nothing at the server, and ends at its deadline.  The kinds get free slots in turn.
 */
#ifndef SHARE_INT_H
#define SHARE_INT_H

#include <stdbool.h>

struct rpc_peer;
struct rpc_call;

/* It may have one of the slots that are free. */
bool share_allows(const struct rpc_peer *peer, const struct rpc_call *call);

#endif
