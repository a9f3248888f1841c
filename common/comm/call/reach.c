/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reach.c - one-sided operations.  An operation ends with its completion, its deadline, or the
 * end of the connection.  After a deadline the slot stays in use until the completion, because
 * the result may still arrive there.
 */
#include "common/comm/call/peer_int.h"

#include <errno.h>
#include <stdlib.h>

#define REACH_BIT (UINT64_C(1) << 63) /* in a wr_id, with the slot */

static struct peer_reach *reach_of(struct rpc_peer *peer)
{
	return &peer->reach;
}

static bool is_long(const struct rpc_reach *reach)
{
	return reach->op == TP_READ && reach->len > REACH_WORDS;
}

static void *landing(const struct peer_reach *r, const struct rpc_reach *reach,
		     unsigned int slot)
{
	if (is_long(reach))
		return r->blocks.block + (size_t)slot * REACH_BYTES;
	return r->words.block + (size_t)slot * REACH_WORDS;
}

/* ---- the end ---- */

static void finish(struct rpc_reach *reach, int status, const void *data)
{
	rpc_timer_clear(reach->p.peer->link.ctx, &reach->p.timer);
	reach->status = status;
	reach->data = data;
	reach->done(reach);
}

void reach_drain(struct rpc_peer *peer)
{
	struct peer_reach *r = reach_of(peer);
	struct rpc_reach *reach;

	ctx_undefer(peer->link.ctx, &r->drain);
	while ((reach = TAILQ_FIRST(&r->ended))) {
		TAILQ_REMOVE(&r->ended, reach, p.link);
		finish(reach, reach->status, NULL);
	}
}

static void run_drain(struct ctx_task *task)
{
	reach_drain(container_of(task, struct rpc_peer, reach.drain));
}

/* done() runs in the next round. */
static void end_later(struct rpc_reach *reach, int status)
{
	struct rpc_peer *peer = reach->p.peer;

	rpc_timer_clear(peer->link.ctx, &reach->p.timer);
	reach->status = status;
	TAILQ_INSERT_TAIL(&peer->reach.ended, reach, p.link);
	ctx_defer(peer->link.ctx, &peer->reach.drain);
}

static void passed(struct rpc_timer *timer)
{
	struct rpc_reach *reach = container_of(timer, struct rpc_reach,
					       p.timer);
	struct rpc_peer *peer = reach->p.peer;

	log_error(peer->link.ctx->log,
		  "%s: no answer to a one-sided access by its deadline",
		  peer->name);
	peer->reach.slot[reach->p.slot].reach = NULL;
	finish(reach, -ETIMEDOUT, NULL);
}

bool reach_is(const struct tp_wc *wc)
{
	return (wc->opcode == TP_READ || wc->opcode == TP_FETCH_ADD) &&
	       wc->wr_id & REACH_BIT;
}

/*
 * The server executes the requests of a connection in order, and none after a refused one.
 */
void reach_completed(struct rpc_peer *peer, const struct tp_wc *wc)
{
	struct peer_reach *r = reach_of(peer);
	unsigned int i = wc->wr_id & (REACHES - 1);
	struct rpc_reach *reach = r->slot[i].reach;

	if (wc->status == -EACCES)
		r->refused = true;
	if (wc->status)
		return; /* reach_lost() follows */
	r->slot[i] = (struct reach_slot){ 0 };
	if (reach)
		finish(reach, 0, landing(r, reach, i));
}

void reach_lost(struct rpc_peer *peer)
{
	struct peer_reach *r = reach_of(peer);
	int status = r->refused ? -EACCES : -ECONNABORTED;
	unsigned int i;

	for (i = 0; i < REACHES; i++) {
		if (r->slot[i].reach)
			end_later(r->slot[i].reach, status);
		r->slot[i] = (struct reach_slot){ 0 };
	}
	r->refused = false;
}

/* ---- the start ---- */

void reach_init(struct rpc_peer *peer)
{
	struct peer_reach *r = reach_of(peer);

	TAILQ_INIT(&r->ended);
	r->drain.run = run_drain;
}

static void landing_free(struct reach_landing *l)
{
	if (!l->block)
		return;
	rail_mem_fini(&l->mem);
	free(l->block);
}

void reach_fini(struct rpc_peer *peer)
{
	landing_free(&peer->reach.words);
	landing_free(&peer->reach.blocks);
}

/* Allocates at the first operation of the peer, and registers on each rail. */
static int prepare(struct rpc_peer *peer, struct reach_landing *l, size_t each)
{
	size_t len = (REACHES * each + 4095) / 4096 * 4096;

	if (!l->block) {
		l->block = aligned_alloc(4096, len);
		if (!l->block)
			return -ENOMEM;
		rail_mem_init(&l->mem, l->block, len, TP_LOCAL_WRITE);
	}
	return rail_mem_on(&l->mem, &peer->link.ctx->rails, peer->link.rail);
}

static int prepare_for(struct rpc_peer *peer, const struct rpc_reach *reach)
{
	struct peer_reach *r = reach_of(peer);

	return is_long(reach) ? prepare(peer, &r->blocks, REACH_BYTES)
			      : prepare(peer, &r->words, REACH_WORDS);
}

_Static_assert((REACHES & (REACHES - 1)) == 0, "a slot in a wr_id");

static int free_slot(const struct peer_reach *r)
{
	unsigned int i;

	for (i = 0; i < REACHES; i++)
		if (!r->slot[i].busy)
			return (int)i;
	return -EBUSY;
}

static int post(struct rpc_peer *peer, const struct rpc_reach *reach,
		unsigned int slot)
{
	const struct peer_reach *r = reach_of(peer);
	const struct rail_mem *mem = is_long(reach) ? &r->blocks.mem
						    : &r->words.mem;
	bool reads = reach->op == TP_READ;
	struct tp_sge sge = { landing(r, reach, slot),
			      reads ? reach->len : sizeof(uint64_t),
			      mem->mr[peer->link.rail]->lkey };
	struct tp_send_wr wr = { .wr_id = REACH_BIT | slot,
				 .opcode = reach->op,
				 .sgl = &sge,
				 .nsge = 1,
				 .remote_addr = reach->addr,
				 .rkey = reach->rkey,
				 .compare_add = reach->add };

	return link_post_one(&peer->link, &wr);
}

static bool may_start(const struct rpc_peer *peer, uint32_t term)
{
	return peer->state == PEER_READY && peer->epoch == term &&
	       !peer->link.failed.queued;
}

int rpc_reach_start(struct rpc_peer *peer, struct rpc_reach *reach)
{
	struct peer_reach *r = reach_of(peer);
	int slot = free_slot(r), rc;

	if (!may_start(peer, reach->term))
		return -ESTALE;
	if (slot < 0)
		return slot;
	if (reach->op == TP_READ && reach->len > REACH_BYTES)
		return -EINVAL;
	rc = prepare_for(peer, reach);
	if (!rc)
		rc = post(peer, reach, (unsigned int)slot);
	if (rc)
		return rc;
	r->slot[slot] = (struct reach_slot){ true, reach };
	reach->p.peer = peer;
	reach->p.slot = (unsigned int)slot;
	reach->p.timer = (struct rpc_timer){ .fire = passed };
	rpc_timer_set(peer->link.ctx, &reach->p.timer, reach->deadline);
	return 0;
}

uint32_t rpc_peer_term(const struct rpc_peer *peer)
{
	return peer->epoch;
}
