/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * turn.h - whose chain of RDMA is next, if not all may be outstanding at once; bulk.c posts them.
 *
 * Chains beyond the connection's share of work requests wait in order.  A chain waits for a turn
 * if it would exceed what the lane may have outstanding.  It also waits if its connection has
 * already as much outstanding as is free (zone.h gives the reason).  Connections take turns,
 * chain by chain.  If nothing is outstanding, there is always room.  So each chain gets its turn,
 * however long it is.
 */
#ifndef TURN_H
#define TURN_H

#include <stdbool.h>

struct conn;
struct lane;
struct rpc_bulk;

/* Whether something can be posted on it. */
bool conn_moves(const struct conn *conn);
/* Puts it into the turns, if its first chain waits for the lane only. */
void turn_take(struct conn *conn);
/* Does nothing if it is not in the turns. */
void turn_leave(struct conn *conn);
/*
 * The connection whose chain can be posted now, or that has to leave the turns; NULL: none.
 */
struct conn *turn_next(const struct lane *lane);
/* Whether such a chain would have to wait, for others or for room. */
bool turn_crowded(const struct conn *conn, const struct rpc_bulk *bulk);

#endif
