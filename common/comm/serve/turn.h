/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * turn.h - whose chain of RDMA is next, where not all may be outstanding at once;
 * bulk.c posts them.
 *
 * Chains beyond the connection's share of work requests wait in order.  Those beyond
 * what the lane may have outstanding, or beyond what of that is free if their connection
 * has as much outstanding already (zone.h says why), wait for a turn: connections take
 * turns chain by chain.  If nothing is outstanding there is always room, so that each
 * chain comes to its turn, however long it is.
 */
#ifndef TURN_H
#define TURN_H

#include <stdbool.h>

struct conn;
struct lane;
struct rpc_bulk;

/* Something can be posted on it. */
bool conn_moves(const struct conn *conn);
/* It is in the turns from now on, if it is the lane that its first chain waits for. */
void turn_take(struct conn *conn);
/* Nothing happens if it is not in them. */
void turn_leave(struct conn *conn);
/* Whose chain can go now, or who has to leave the turns; NULL: nobody. */
struct conn *turn_next(const struct lane *lane);
/* Such a chain would have to wait, behind others or for room. */
bool turn_crowded(const struct conn *conn, const struct rpc_bulk *bulk);

#endif
