/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bulk_queue.c - server-based RDMA.  Each bulk becomes a chain of gather Writes or scatter Reads,
 * with one work request per piece of the client's memory.  Only the last one is signaled.
 *
 * A chain waits in one of these cases:
 * - The send queue of its connection has no room for its work requests.
 * - Posting it would exceed the thread's part of rdma_max.
 * - Its connection has at least as many bytes outstanding as are still free (zone.h has the
 * reason).
 *
 * Connections take turns, one chain each.  If nothing is outstanding, there is always room.  So
 * every chain is posted in time, whatever its length.
 *
 * If bulk data is outstanding and does not move, the server closes the connection
 * (bulk_is_stalled()).
 */
#include "common/comm/serve/conn_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- a chain ---- */

/* The position of the plan in the two lists. */
struct bulk_plan {
	struct rpc_ctx *ctx;
	const struct rpc_bulk *bulk;
	const struct rail_sge *local;
	unsigned int rail;
	unsigned int il; /* local piece, and bytes of it used */
	uint32_t off;
	unsigned int nwr, nsge;
};

/* Adds local slices for at most len bytes.  Returns how many bytes they cover. */
static uint32_t plan_gather(struct bulk_plan *p, struct tp_send_wr *wr,
			    uint32_t len)
{
	uint32_t left = len;

	wr->sgl = &p->ctx->sge[p->nsge];
	wr->nsge = 0;
	while (left && wr->nsge < TP_SGE_MAX && p->nsge < CTX_SGE_MAX &&
	       p->il < p->bulk->nlocal) {
		const struct rail_sge *l = &p->local[p->il];
		uint32_t n = l->len - p->off < left ? l->len - p->off : left;

		if (n) {
			p->ctx->sge[p->nsge++] =
				(struct tp_sge){ (uint8_t *)l->addr + p->off, n,
						 l->mem->mr[p->rail]->lkey };
			wr->nsge++;
		}
		left -= n;
		p->off += n;
		if (p->off == l->len) {
			p->il++;
			p->off = 0;
		}
	}
	return len - left;
}

static int plan_piece(struct bulk_plan *p, const struct wire_mem *mem,
		      uint64_t skip, uint32_t len)
{
	uint64_t addr = le64toh(mem->addr) + skip;

	while (len) {
		struct tp_send_wr *wr = &p->ctx->wr[p->nwr];
		uint32_t n = len < TP_LEN_MAX ? len : TP_LEN_MAX;

		if (p->nwr == CTX_WR_MAX)
			return -EINVAL;
		*wr = (struct tp_send_wr){
			.next = wr + 1,
			.wr_id = (uintptr_t)p->bulk,
			.opcode = p->bulk->dir == RPC_GET ? TP_READ : TP_WRITE,
			.remote_addr = addr,
			.rkey = le32toh(mem->rkey),
		};
		n = plan_gather(p, wr, n);
		if (!n)
			return -EINVAL;
		p->nwr++;
		addr += n;
		len -= n;
	}
	return 0;
}

/* Fills ctx->wr with the chain.  Returns its length, or -errno. */
int bulk_plan(const struct conn *conn, const struct rpc_bulk *bulk,
	      const struct rail_sge *local)
{
	struct rpc_ctx *ctx = conn->link.ctx;
	struct bulk_plan p = { .ctx = ctx,
			       .bulk = bulk,
			       .local = local,
			       .rail = conn->link.rail };
	uint64_t skip = bulk->mem_off, left = bulk->len;
	unsigned int i;
	int rc;

	if (!left || bulk->nlocal > RPC_LOCAL_MAX)
		return -EINVAL;
	for (i = 0; i < bulk->nlocal; i++) {
		rc = rail_mem_on(local[i].mem, &ctx->rails, p.rail);
		if (rc)
			return rc;
	}
	for (i = 0; i < bulk->nmem && left; i++) {
		uint64_t n = le32toh(bulk->mem[i].len);

		if (skip >= n) {
			skip -= n;
			continue;
		}
		n = n - skip < left ? n - skip : left;
		rc = plan_piece(&p, &bulk->mem[i], skip, (uint32_t)n);
		if (rc)
			return rc;
		left -= n;
		skip = 0;
	}
	if (left)
		return -EINVAL;
	ctx->wr[p.nwr - 1].next = NULL;
	ctx->wr[p.nwr - 1].flags = TP_SIGNALED;
	return (int)p.nwr;
}

/* ---- turns ---- */

static bool turn_has_room(uint64_t max, uint64_t used, uint64_t len)
{
	return !max || !used || used + len <= max;
}

static bool turn_conn_fits(const struct conn *conn, const struct rpc_bulk *bulk)
{
	return conn->bulk.ready && conn->bulk.wrs + bulk->nwr <= CTX_WR_MAX;
}

static bool turn_share_fits(const struct conn *conn,
			    const struct rpc_bulk *bulk)
{
	const struct server_thread *thread = conn->thread;

	return !conn->bulk.bytes ||
	       turn_has_room(thread->rdma_max,
			     thread->rdma_bytes + conn->bulk.bytes, bulk->len);
}

static bool turn_thread_fits(const struct server_thread *thread,
			     const struct rpc_bulk *bulk)
{
	return turn_has_room(thread->rdma_max, thread->rdma_bytes, bulk->len);
}

bool conn_is_usable(const struct conn *conn)
{
	return conn->state == CONN_OPEN && !conn->link.failed.queued;
}

static void turn_dequeue(struct conn *conn)
{
	if (conn->bulk.in_turns)
		TAILQ_REMOVE(&conn->thread->turns, conn, bulk.turn);
	conn->bulk.in_turns = false;
}

/* Puts conn into the turns, if its first chain waits for the thread only. */
static void turn_enqueue(struct conn *conn)
{
	const struct rpc_bulk *bulk = TAILQ_FIRST(&conn->bulk.waiting);

	if (!bulk || conn->bulk.in_turns || !conn_is_usable(conn) ||
	    !turn_conn_fits(conn, bulk))
		return;
	TAILQ_INSERT_TAIL(&conn->thread->turns, conn, bulk.turn);
	conn->bulk.in_turns = true;
}

/* Skips connections that have used their share. */
static struct conn *turn_first(const struct server_thread *thread)
{
	struct conn *conn;

	TAILQ_FOREACH(conn, &thread->turns, bulk.turn)
		if (!conn_is_usable(conn) ||
		    turn_share_fits(conn, TAILQ_FIRST(&conn->bulk.waiting)))
			return conn;
	return NULL;
}

/*
 * The next connection whose chain can be posted, or that must be removed from the list; NULL: none.
 */
static struct conn *turn_next(const struct server_thread *thread)
{
	struct conn *conn = turn_first(thread);

	return conn && (!conn_is_usable(conn) ||
			turn_thread_fits(thread,
					 TAILQ_FIRST(&conn->bulk.waiting)))
		       ? conn
		       : NULL;
}

bool bulk_is_crowded(const struct conn *conn, const struct rpc_bulk *bulk)
{
	return !TAILQ_EMPTY(&conn->bulk.waiting) || turn_first(conn->thread) ||
	       !turn_conn_fits(conn, bulk) || !turn_share_fits(conn, bulk) ||
	       !turn_thread_fits(conn->thread, bulk);
}

/* ---- posting ---- */

static unsigned int bulk_stall_ms(const struct conn *conn)
{
	return conn->thread->server->attr.stall_ms;
}

static void bulk_count(struct conn *conn, const struct rpc_bulk *bulk)
{
	struct server_thread *thread = conn->thread;

	conn->bulk.wrs += bulk->nwr;
	conn->bulk.bytes += bulk->len;
	thread->rdma_bytes += bulk->len;
	if (thread->rdma_bytes >
	    atomic_load_explicit(&thread->rdma_most, memory_order_relaxed))
		atomic_store_explicit(&thread->rdma_most, thread->rdma_bytes,
				      memory_order_relaxed);
}

static void bulk_uncount(struct conn *conn, const struct rpc_bulk *bulk)
{
	conn->bulk.wrs -= bulk->nwr;
	conn->bulk.bytes -= bulk->len;
	conn->thread->rdma_bytes -= bulk->len;
}

static void bulk_track(struct conn *conn, struct rpc_bulk *bulk)
{
	bulk_count(conn, bulk);
	TAILQ_INSERT_TAIL(&conn->bulk.posted, bulk, link);
	if (!conn->timer.armed) {
		conn->bulk.moved_seen = conn->bulk.moved;
		rpc_timer_set(conn->link.ctx, &conn->timer,
			      clock_after_ms(bulk_stall_ms(conn)));
	}
}

int bulk_post(struct conn *conn, struct rpc_bulk *bulk)
{
	int rc = link_post(conn->bulk.link, conn->link.ctx->wr);

	if (rc) {
		link_fail(&conn->link, rc);
		return -ENOTCONN;
	}
	bulk_track(conn, bulk);
	return 0;
}

void bulk_post_or_fail(struct conn *conn, struct rpc_bulk *bulk)
{
	if (bulk_post(conn, bulk))
		bulk_track(conn, bulk);
}

void bulk_count_posted(struct rx *rx)
{
	if (!--rx->bulks && rx->when_posted)
		rx->when_posted(rx);
}

static void bulk_post_waiting(struct conn *conn, struct rpc_bulk *bulk)
{
	bulk_plan(conn, bulk, bulk->copy);
	TAILQ_REMOVE(&conn->bulk.waiting, bulk, link);
	if (bulk_post(conn, bulk)) {
		TAILQ_INSERT_HEAD(&conn->bulk.waiting, bulk, link);
		return;
	}
	free(bulk->copy);
	bulk->copy = NULL;
	bulk_count_posted(container_of(bulk->req, struct rx, req));
}

static void bulk_pump_turns(struct server_thread *thread)
{
	struct conn *conn;

	while ((conn = turn_next(thread))) {
		turn_dequeue(conn);
		if (conn_is_usable(conn))
			bulk_post_waiting(conn,
					  TAILQ_FIRST(&conn->bulk.waiting));
		turn_enqueue(conn);
	}
}

void bulk_pump(struct conn *conn)
{
	turn_enqueue(conn);
	bulk_pump_turns(conn->thread);
}

int bulk_enqueue(struct conn *conn, struct rpc_bulk *bulk)
{
	size_t len = bulk->nlocal * sizeof(*bulk->local);

	bulk->copy = malloc(len);
	if (!bulk->copy)
		return -ENOMEM;
	memcpy(bulk->copy, bulk->local, len);
	TAILQ_INSERT_TAIL(&conn->bulk.waiting, bulk, link);
	container_of(bulk->req, struct rx, req)->bulks++;
	return 0;
}

int bulk_enqueue_counted(struct conn *conn, struct rpc_bulk *bulk)
{
	int rc = bulk_enqueue(conn, bulk);

	if (rc)
		return rc;
	counter_increment(&conn->thread->rdma_waits);
	turn_enqueue(conn);
	return 0;
}

/* ---- the end ---- */

void bulk_complete(struct conn *conn, struct rpc_bulk *bulk)
{
	TAILQ_REMOVE(&conn->bulk.posted, bulk, link);
	bulk_uncount(conn, bulk);
	conn->bulk.moved++;
	if (conn->bulk.link != &conn->link)
		counter_add(&conn->thread->apart_bytes, bulk->len);
	conn->link.ctx->moved += bulk->len;
	bulk->done(bulk, 0);
	bulk_pump(conn);
}

void bulk_fail_all(struct conn *conn, int status)
{
	struct rpc_bulk *bulk;

	turn_dequeue(conn);
	while ((bulk = TAILQ_FIRST(&conn->bulk.posted))) {
		TAILQ_REMOVE(&conn->bulk.posted, bulk, link);
		bulk_uncount(conn, bulk);
		counter_increment(&conn->thread->rdma_cut);
		bulk->done(bulk, status);
	}
	while ((bulk = TAILQ_FIRST(&conn->bulk.waiting))) {
		struct rx *rx = container_of(bulk->req, struct rx, req);

		TAILQ_REMOVE(&conn->bulk.waiting, bulk, link);
		free(bulk->copy);
		bulk_count_posted(rx);
		bulk->done(bulk, status);
	}
	bulk_pump_turns(conn->thread);
}

void bulk_free_waiting(struct conn *conn)
{
	struct rpc_bulk *bulk;

	turn_dequeue(conn);
	TAILQ_FOREACH(bulk, &conn->bulk.waiting, link)
		free(bulk->copy);
}

bool bulk_is_stalled(struct conn *conn)
{
	if (TAILQ_EMPTY(&conn->bulk.posted))
		return false;
	if (conn->bulk.moved != conn->bulk.moved_seen) {
		conn->bulk.moved_seen = conn->bulk.moved;
		rpc_timer_set(conn->link.ctx, &conn->timer,
			      clock_after_ms(bulk_stall_ms(conn)));
		return false;
	}
	log_warn(conn_log(conn),
		 "%s (%s): no bulk data moved for %u ms; connection closed",
		 conn->peer, conn->session->info.cred.name,
		 bulk_stall_ms(conn));
	return true;
}
