/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bulk_loan.c - lends memory to clients that move the data: see bulk_int.h.
 */
#include "common/comm/serve/conn_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOAN_MSG_LEN (sizeof(struct wire_hdr) + sizeof(struct wire_carry_rep))

struct bulk_loan {
	struct rpc_bulk *bulk; /* NULL: none, or withdrawn */
	struct rail_sge local;
	struct rail_mem mem; /* these bytes, for this loan only */
	uint64_t until;
	bool out; /* the client has not answered */
};

struct bulk_loans {
	struct conn *conn;
	struct rpc_timer timer;
	struct bulk_loan loan[WIRE_CARRY_MAX]; /* by ticket */
	uint8_t *block; /* receives, then a message for each ticket */
	size_t step; /* bytes of a receive; 0: receives are shared */
	struct rail_mem mem; /* of block */
};

static struct rx *bulk_rx(const struct rpc_bulk *bulk)
{
	return container_of(bulk->req, struct rx, req);
}

/* ---- at the first loan of a connection ---- */

static void loans_expired(struct rpc_timer *timer);

static int loans_open(struct conn *conn)
{
	struct bulk_loans *c = calloc(1, sizeof(*c));
	size_t len;
	int rc = -ENOMEM;

	if (!c)
		return rc;
	c->conn = conn;
	c->timer.fire = loans_expired;
	if (!conn->pool)
		c->step = server_step(conn->request_max);
	len = WIRE_CARRY_MAX * (c->step + LOAN_MSG_LEN);
	c->block = aligned_alloc(4096, (len + 4095) & ~(size_t)4095);
	rail_mem_init(&c->mem, c->block, len, TP_LOCAL_WRITE);
	if (c->block)
		rc = rail_mem_on(&c->mem, conn_rails(conn), conn->link.rail);
	if (rc) {
		free(c->block);
		free(c);
		return rc;
	}
	conn->loans = c;
	if (conn->pool)
		return 0;
	return rx_more(conn, c->block, c->step,
		       c->mem.mr[conn->link.rail]->lkey);
}

static struct bulk_loan *loans_unused(const struct conn *conn)
{
	unsigned int i;

	for (i = 0; i < WIRE_CARRY_MAX; i++) {
		if (!conn->loans->loan[i].out)
			return &conn->loans->loan[i];
	}
	return NULL;
}

/* ---- the deadline ---- */

static void loans_set_timer(struct bulk_loans *c)
{
	uint64_t next = CLOCK_NEVER;
	unsigned int i;

	for (i = 0; i < WIRE_CARRY_MAX; i++) {
		if (c->loan[i].bulk && c->loan[i].until < next)
			next = c->loan[i].until;
	}
	if (next == CLOCK_NEVER)
		rpc_timer_clear(c->conn->link.ctx, &c->timer);
	else
		rpc_timer_set(c->conn->link.ctx, &c->timer, next);
}

/* The server moves the data after all.  If there is no memory for that, fails the link. */
static void loan_move_by_server(struct conn *conn, struct bulk_loan *loan)
{
	struct rpc_bulk *bulk = loan->bulk;
	struct rx *rx = bulk_rx(bulk);
	int rc;

	bulk->local = &loan->local;
	rc = bulk_enqueue(conn, bulk);
	if (rc) {
		link_fail(&conn->link, rc);
		return;
	}
	loan->bulk = NULL;
	rx->bulks--;
	bulk_pump(conn);
}

static void loans_expired(struct rpc_timer *timer)
{
	struct bulk_loans *c = container_of(timer, struct bulk_loans, timer);
	struct conn *conn = c->conn;
	unsigned int i, n = 0;

	for (i = 0; i < WIRE_CARRY_MAX; i++) {
		struct bulk_loan *loan = &c->loan[i];

		if (!loan->bulk || loan->until > conn->link.ctx->now)
			continue;
		rail_mem_fini(&loan->mem);
		counter_increment(&conn->thread->carry_late);
		loan_move_by_server(conn, loan);
		n++;
	}
	conn->session->loan_expired |= n > 0;
	if (n)
		log_warn(conn_log(conn),
			 "%s (%s): did not move %u parts of its data within "
			 "%u ms: the server does, and lends it no more until "
			 "it has answered; nothing if it connects again",
			 conn->peer, conn->session->info.cred.name, n,
			 conn->thread->server->attr.carry_ms);
	loans_set_timer(c);
}

/* ---- a loan ---- */

static bool loan_is_wanted(const struct rx *rx, const struct rpc_bulk *bulk,
			   bool crowded)
{
	const struct server_thread *thread = rx->conn->thread;

	return rx->conn->may_lend && bulk->lend && bulk->nlocal == 1 &&
	       bulk->len >= BULK_LOAN_MIN &&
	       (crowded ||
		thread->rdma_bytes + bulk->len > thread->carry_above);
}

static int loan_register(struct conn *conn, struct bulk_loan *loan,
			 const struct rpc_bulk *bulk)
{
	void *addr = bulk->local->addr;

	if (bulk->dir == RPC_GET)
		memset(addr, 0, bulk->len);
	rail_mem_init(&loan->mem, addr, bulk->len,
		      TP_LENT | (bulk->dir == RPC_GET ? TP_REMOTE_WRITE
						      : TP_REMOTE_READ));
	return rail_mem_on(&loan->mem, conn_rails(conn), conn->link.rail);
}

static void loan_send(struct conn *conn, const struct bulk_loan *loan)
{
	const struct bulk_loans *c = conn->loans;
	const struct wire_hdr *to = bulk_rx(loan->bulk)->req.msg.hdr;
	unsigned int rail = conn->link.rail;
	uint32_t ticket = (uint32_t)(loan - c->loan);
	uint8_t *buf = c->block + WIRE_CARRY_MAX * c->step +
		       ticket * LOAN_MSG_LEN;
	struct wire_hdr *hdr = (struct wire_hdr *)buf;
	struct wire_carry_rep rep = {
		.addr = htole64((uintptr_t)loan->mem.addr),
		.mem_off = htole64(loan->bulk->mem_off),
		.len = htole32((uint32_t)loan->mem.len),
		.rkey = htole32(loan->mem.mr[rail]->rkey),
		.ticket = htole32(ticket),
	};
	struct wire_out out;

	wire_begin(&out, buf, LOAN_MSG_LEN);
	wire_put(&out, &rep, sizeof(rep));
	wire_end(&out, WIRE_CARRY, WIRE_F_REPLY, 0);
	hdr->slot = to->slot;
	hdr->session = to->session;
	hdr->seq = to->seq;
	hdr->clock = htole64(clock_boot());
	conn_send(conn, buf, LOAN_MSG_LEN, c->mem.mr[rail]->lkey);
}

/*
 * Stops lending on this connection: after one failed registration, most others would fail.
 */
static void loans_stop(struct conn *conn, int status)
{
	log_warn(conn_log(conn),
		 "%s: no memory to let it move its data (%s): the server does",
		 conn->peer, strerror(-status));
	conn->may_lend = false;
}

/* NULL: all tickets are in use, or there is no memory. */
static struct bulk_loan *loan_new(struct conn *conn,
				  const struct rpc_bulk *bulk)
{
	int rc = conn->loans ? 0 : loans_open(conn);
	struct bulk_loan *loan = rc ? NULL : loans_unused(conn);

	if (loan)
		rc = loan_register(conn, loan, bulk);
	if (!rc)
		return loan;
	loans_stop(conn, rc);
	return NULL;
}

bool bulk_loan_offer(struct rx *rx, struct rpc_bulk *bulk, bool crowded)
{
	struct conn *conn = rx->conn;
	struct bulk_loan *loan = loan_is_wanted(rx, bulk, crowded)
					 ? loan_new(conn, bulk)
					 : NULL;

	if (!loan)
		return false;
	loan->bulk = bulk;
	loan->local = *bulk->local;
	loan->until = clock_after_ms(conn->thread->server->attr.carry_ms);
	loan->out = true;
	rx->bulks++;
	loan_send(conn, loan);
	loans_set_timer(conn->loans);
	return true;
}

/* ---- the end ---- */

static uint32_t loan_ticket(uint32_t imm)
{
	return imm & WIRE_IMM_TICKET;
}

bool bulk_loan_is_out(const struct conn *conn, uint32_t imm)
{
	return conn->loans && loan_ticket(imm) < WIRE_CARRY_MAX &&
	       conn->loans->loan[loan_ticket(imm)].out;
}

/* The reply may wait for this bulk.  The reply to a GET is sent from done(). */
static void loan_finish(struct bulk_loan *loan, int status)
{
	struct rpc_bulk *bulk = loan->bulk;

	rail_mem_fini(&loan->mem);
	loan->bulk = NULL;
	bulk_count_posted(bulk_rx(bulk));
	bulk->done(bulk, status);
}

void bulk_loan_answered(struct conn *conn, uint32_t imm)
{
	struct bulk_loan *loan = &conn->loans->loan[loan_ticket(imm)];
	struct server_thread *thread = conn->thread;

	loan->out = false;
	if (!loan->bulk)
		return;
	conn->bulk.moved++;
	if (imm & WIRE_IMM_DECLINED) {
		counter_increment(&thread->carry_declined);
		rail_mem_fini(&loan->mem);
		loan_move_by_server(conn, loan);
	} else {
		counter_increment(&thread->carried);
		counter_add(&thread->carried_bytes, loan->bulk->len);
		conn->link.ctx->moved += loan->bulk->len;
		loan_finish(loan, 0);
	}
	loans_set_timer(conn->loans);
}

void bulk_loan_fail_all(struct conn *conn, int status)
{
	unsigned int i;

	if (!conn->loans)
		return;
	rpc_timer_clear(conn->link.ctx, &conn->loans->timer);
	for (i = 0; i < WIRE_CARRY_MAX; i++) {
		if (!conn->loans->loan[i].bulk)
			continue;
		counter_increment(&conn->thread->rdma_cut);
		loan_finish(&conn->loans->loan[i], status);
	}
}

void bulk_loan_free(struct conn *conn)
{
	struct bulk_loans *c = conn->loans;
	unsigned int i;

	if (!c)
		return;
	rpc_timer_clear(conn->link.ctx, &c->timer);
	for (i = 0; i < WIRE_CARRY_MAX; i++)
		rail_mem_fini(&c->loan[i].mem);
	rail_mem_fini(&c->mem);
	free(c->block);
	free(c);
}
