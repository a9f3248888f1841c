/* SPDX-License-Identifier: BSD-2-Clause */
/* turn.c - room for chains, and the connections that wait for it. */
#include "common/comm/serve/carry_int.h"
#include "common/comm/serve/turn.h"

static bool room(uint64_t max, uint64_t used, uint64_t len)
{
	return !max || !used || used + len <= max;
}

static bool conn_fits(const struct conn *conn, const struct rpc_bulk *bulk)
{
	return apart_ready(conn) && conn->bulk_wrs + bulk->nwr <= CTX_WR_MAX;
}

static bool share_fits(const struct conn *conn, const struct rpc_bulk *bulk)
{
	const struct lane *lane = conn->lane;

	return !conn->bulk_bytes ||
	       room(lane->rdma_max, lane->rdma_bytes + conn->bulk_bytes,
		    bulk->len);
}

static bool lane_fits(const struct lane *lane, const struct rpc_bulk *bulk)
{
	return room(lane->rdma_max, lane->rdma_bytes, bulk->len);
}

bool conn_moves(const struct conn *conn)
{
	return conn->state == CONN_OPEN && !conn->link.failed.queued;
}

void turn_leave(struct conn *conn)
{
	if (conn->in_turns)
		TAILQ_REMOVE(&conn->lane->turns, conn, turn);
	conn->in_turns = false;
}

void turn_take(struct conn *conn)
{
	const struct rpc_bulk *bulk = TAILQ_FIRST(&conn->waiting);

	if (!bulk || conn->in_turns || !conn_moves(conn) ||
	    !conn_fits(conn, bulk))
		return;
	TAILQ_INSERT_TAIL(&conn->lane->turns, conn, turn);
	conn->in_turns = true;
}

/* Skips connections that have used their share. */
static struct conn *first(const struct lane *lane)
{
	struct conn *conn;

	TAILQ_FOREACH(conn, &lane->turns, turn)
		if (!conn_moves(conn) ||
		    share_fits(conn, TAILQ_FIRST(&conn->waiting)))
			return conn;
	return NULL;
}

struct conn *turn_next(const struct lane *lane)
{
	struct conn *conn = first(lane);

	return conn && (!conn_moves(conn) ||
			lane_fits(lane, TAILQ_FIRST(&conn->waiting)))
		       ? conn
		       : NULL;
}

bool turn_crowded(const struct conn *conn, const struct rpc_bulk *bulk)
{
	return !TAILQ_EMPTY(&conn->waiting) || first(conn->lane) ||
	       !conn_fits(conn, bulk) || !share_fits(conn, bulk) ||
	       !lane_fits(conn->lane, bulk);
}
