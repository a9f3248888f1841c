/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rma.c - one-sided operations.  An operation ends with its completion, its deadline, or the
 * end of the connection.  After a deadline the slot stays in use until the completion, because
 * the result may still arrive there.
 */
#include "common/comm/call/peer_int.h"

#include <errno.h>
#include <stdlib.h>

#define RMA_BIT (UINT64_C(1) << 63) /* in a wr_id, with the slot */

static bool is_long(const struct rpc_rma *rma)
{
	return rma->op == TP_READ && rma->len > RMA_SMALL;
}

static void *result_buf(const struct peer_rma *r, const struct rpc_rma *rma,
			unsigned int slot)
{
	if (is_long(rma))
		return r->blocks.block + (size_t)slot * RPC_RMA_MAX;
	return r->words.block + (size_t)slot * RMA_SMALL;
}

/* ---- the end ---- */

static void end_access(struct rpc_rma *rma, int status, const void *data)
{
	rpc_timer_clear(rma->p.peer->link.ctx, &rma->p.timer);
	rma->status = status;
	rma->data = data;
	rma->done(rma);
}

void rma_drain(struct rpc_peer *peer)
{
	struct peer_rma *r = &peer->rma;
	struct rpc_rma *rma;

	ctx_undefer(peer->link.ctx, &r->drain);
	while ((rma = TAILQ_FIRST(&r->ended))) {
		TAILQ_REMOVE(&r->ended, rma, p.link);
		end_access(rma, rma->status, NULL);
	}
}

static void run_drain(struct ctx_task *task)
{
	rma_drain(container_of(task, struct rpc_peer, rma.drain));
}

/* done() runs in the next round. */
static void end_later(struct rpc_rma *rma, int status)
{
	struct rpc_peer *peer = rma->p.peer;

	rpc_timer_clear(peer->link.ctx, &rma->p.timer);
	rma->status = status;
	TAILQ_INSERT_TAIL(&peer->rma.ended, rma, p.link);
	ctx_defer(peer->link.ctx, &peer->rma.drain);
}

static void deadline_passed(struct rpc_timer *timer)
{
	struct rpc_rma *rma = container_of(timer, struct rpc_rma, p.timer);
	struct rpc_peer *peer = rma->p.peer;

	log_error(peer->link.ctx->log,
		  "%s: no answer to a one-sided access by its deadline",
		  peer->name);
	peer->rma.slot[rma->p.slot].rma = NULL;
	end_access(rma, -ETIMEDOUT, NULL);
}

bool rma_owns(const struct tp_wc *wc)
{
	return (wc->opcode == TP_READ || wc->opcode == TP_FETCH_ADD) &&
	       wc->wr_id & RMA_BIT;
}

/*
 * The server executes the operations of a connection in order, and none after one that it rejected.
 */
void rma_completed(struct rpc_peer *peer, const struct tp_wc *wc)
{
	struct peer_rma *r = &peer->rma;
	unsigned int i = wc->wr_id & (RMA_SLOTS - 1);
	struct rpc_rma *rma = r->slot[i].rma;

	if (wc->status == -EACCES)
		r->refused = true;
	if (wc->status)
		return; /* rma_lost() follows */
	r->slot[i] = (struct rma_slot){ 0 };
	if (rma)
		end_access(rma, 0, result_buf(r, rma, i));
}

void rma_lost(struct rpc_peer *peer)
{
	struct peer_rma *r = &peer->rma;
	int status = r->refused ? -EACCES : -ECONNABORTED;
	unsigned int i;

	for (i = 0; i < RMA_SLOTS; i++) {
		if (r->slot[i].rma)
			end_later(r->slot[i].rma, status);
		r->slot[i] = (struct rma_slot){ 0 };
	}
	r->refused = false;
}

/* ---- the start ---- */

void rma_init(struct rpc_peer *peer)
{
	struct peer_rma *r = &peer->rma;

	TAILQ_INIT(&r->ended);
	r->drain.run = run_drain;
}

static void results_free(struct rma_results *l)
{
	if (!l->block)
		return;
	rail_mem_fini(&l->mem);
	free(l->block);
}

void rma_fini(struct rpc_peer *peer)
{
	results_free(&peer->rma.words);
	results_free(&peer->rma.blocks);
}

/* Allocates at the first operation of the peer, and registers on each rail. */
static int prepare_results(struct rpc_peer *peer, struct rma_results *l,
			   size_t each)
{
	size_t len = (RMA_SLOTS * each + 4095) / 4096 * 4096;

	if (!l->block) {
		l->block = aligned_alloc(4096, len);
		if (!l->block)
			return -ENOMEM;
		rail_mem_init(&l->mem, l->block, len, TP_LOCAL_WRITE);
	}
	return rail_mem_on(&l->mem, &peer->link.ctx->rails, peer->link.rail);
}

static int prepare_results_for(struct rpc_peer *peer, const struct rpc_rma *rma)
{
	struct peer_rma *r = &peer->rma;

	return is_long(rma) ? prepare_results(peer, &r->blocks, RPC_RMA_MAX)
			    : prepare_results(peer, &r->words, RMA_SMALL);
}

_Static_assert((RMA_SLOTS & (RMA_SLOTS - 1)) == 0, "a slot in a wr_id");

static int free_slot(const struct peer_rma *r)
{
	unsigned int i;

	for (i = 0; i < RMA_SLOTS; i++)
		if (!r->slot[i].busy)
			return (int)i;
	return -EBUSY;
}

static int post_access(struct rpc_peer *peer, const struct rpc_rma *rma,
		       unsigned int slot)
{
	const struct peer_rma *r = &peer->rma;
	const struct rail_mem *mem = is_long(rma) ? &r->blocks.mem
						  : &r->words.mem;
	bool reads = rma->op == TP_READ;
	struct tp_sge sge = { result_buf(r, rma, slot),
			      reads ? rma->len : sizeof(uint64_t),
			      mem->mr[peer->link.rail]->lkey };
	struct tp_send_wr wr = { .wr_id = RMA_BIT | slot,
				 .opcode = rma->op,
				 .sgl = &sge,
				 .nsge = 1,
				 .remote_addr = rma->addr,
				 .rkey = rma->rkey,
				 .compare_add = rma->add };

	return link_post_one(&peer->link, &wr);
}

static bool is_current(const struct rpc_peer *peer, uint32_t term)
{
	return peer->state == PEER_READY && peer->epoch == term &&
	       !peer->link.failed.queued;
}

int rpc_rma_start(struct rpc_peer *peer, struct rpc_rma *rma)
{
	struct peer_rma *r = &peer->rma;
	int slot = free_slot(r), rc;

	if (!is_current(peer, rma->term))
		return -ESTALE;
	if (slot < 0)
		return slot;
	if (rma->op == TP_READ && rma->len > RPC_RMA_MAX)
		return -EINVAL;
	rc = prepare_results_for(peer, rma);
	if (!rc)
		rc = post_access(peer, rma, (unsigned int)slot);
	if (rc)
		return rc;
	r->slot[slot] = (struct rma_slot){ true, rma };
	rma->p.peer = peer;
	rma->p.slot = (unsigned int)slot;
	rma->p.timer = (struct rpc_timer){ .fire = deadline_passed };
	rpc_timer_set(peer->link.ctx, &rma->p.timer, rma->deadline);
	return 0;
}
