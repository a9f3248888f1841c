/* SPDX-License-Identifier: BSD-2-Clause */
/* shared_blocks.c - see shared_blocks_int.h. */
#include "client/lib/io/shared_blocks_int.h"

#include <errno.h>
#include <string.h>

#include "client/lib/session/server_call.h"
#include "client/lib/session/coroutine.h"
#include "common/wire/block.h"
#include "common/util/usermem.h"

#define LATER_MS 60000u /* after the iod did not share */
#define SKIP_MAX 64u

/* A block, or a part of it. */
struct shared_read {
	struct rpc_rma rma;
	struct shared_reads *all;
	uint32_t k;
	uint64_t number;
	uint32_t off, len; /* offset and length in the block */
	void *to;
	bool sound;
};

struct shared_reads {
	struct drive_op op;
	struct session *s;
	uint64_t handle;
	const struct dist *dist;
	struct shared_read read[SHARED_BLOCKS];
	unsigned int n;
};

/* ---- the address of the shared blocks of an iod ---- */

struct shared_asked {
	struct rpc_peer *peer;
	struct shared_at at;
};

static int shared_take_reply(void *arg, const struct wire_msg *reply)
{
	const struct wire_share_rep *rep = reply->body;
	struct shared_asked *a = arg;

	a->at.addr = le64toh(rep->addr);
	a->at.places = le64toh(rep->places);
	a->at.rkey = le32toh(rep->rkey);
	a->at.term = rpc_peer_term(a->peer);
	return 0;
}

static void ask_where(struct session *s, uint32_t iod)
{
	struct shared_asked a = { .peer = s->iod[iod] };
	struct server_call c;

	server_call_begin(&c, s, a.peer);
	if (server_call_run(&c, WIRE_SHARE, shared_take_reply, &a))
		a.at = (struct shared_at){ .again = clock_after_ms(LATER_MS) };
	pthread_mutex_lock(&s->loans_lock);
	s->uri[iod].shared = a.at;
	pthread_mutex_unlock(&s->loans_lock);
}

static bool is_time(struct shared_at *at)
{
	return !at->addr && ++at->calls >= SHARED_AFTER &&
	       clock_now() >= at->again;
}

static bool iod_shares_blocks(const struct session *s, uint32_t iod)
{
	return rpc_peer_features(s->iod[iod]) & WIRE_FT_SHARE;
}

/*
 * Sets *at to the address of the iod's table of shared blocks. Returns false if the caller should
 * not read blocks there now. If the address is unknown, every SHARED_AFTER-th call asks the iod for
 * it, and later calls use the answer.
 */
static bool shared_find(struct session *s, uint32_t iod, struct shared_at *at)
{
	struct shared_at *known = &s->uri[iod].shared;
	bool ask, look;

	if (!iod_shares_blocks(s, iod))
		return false;
	pthread_mutex_lock(&s->loans_lock);
	ask = is_time(known);
	if (ask)
		known->calls = 0;
	look = known->addr && !known->skip;
	if (known->addr && known->skip)
		known->skip--;
	*at = *known;
	pthread_mutex_unlock(&s->loans_lock);
	if (ask)
		ask_where(s, iod);
	return look;
}

/* After a miss, the next reads skip the lookup. */
static void shared_record(struct session *s, uint32_t iod, bool hit, int status)
{
	struct shared_at *known = &s->uri[iod].shared;
	uint64_t later = clock_after_ms(LATER_MS);

	pthread_mutex_lock(&s->loans_lock);
	if (status == -ESTALE) /* the address belongs to another connection */
		*known = (struct shared_at){ .calls = SHARED_AFTER };
	/* the access error has cost the connection */
	else if (status == -EACCES)
		*known = (struct shared_at){ .again = later };
	else if (hit)
		known->pause = 0;
	else
		known->pause = known->pause < SKIP_MAX / 2
				       ? 2 * known->pause + 1
				       : SKIP_MAX;
	known->skip = known->pause;
	pthread_mutex_unlock(&s->loans_lock);
}

/* ---- reading ---- */

/* Copies a block to the caller only after it is verified. */
static bool block_deliver(struct shared_read *r, const struct wire_block *block)
{
	const struct iovec to = { r->to, r->len };

	if (!wire_block_holds(block, r->all->handle, r->number,
			      r->off + r->len) ||
	    usermem_touch(r->all->s->zero_fd, &to, 1))
		return false;
	memcpy(r->to, block->data + r->off, r->len);
	return true;
}

static void read_done(struct rpc_rma *rma)
{
	struct shared_read *r = rma->arg;

	r->sound = !rma->status && block_deliver(r, rma->data);
	op_put(&r->all->op, 0);
}

static void begin_all(struct drive_op *op)
{
	struct shared_reads *w = (struct shared_reads *)op;
	unsigned int i;

	for (i = 0; i < w->n; i++) {
		struct shared_read *r = &w->read[i];

		r->rma.status = rpc_rma_start(
			w->s->iod[session_iod(w->s, w->dist, r->k)], &r->rma);
		if (!r->rma.status)
			op_get(op);
	}
}

static void read_prepare(struct shared_reads *w, struct shared_read *r,
			 const struct shared_at *at)
{
	uint64_t place = wire_block_place(w->handle, r->number, at->places);

	r->all = w;
	r->sound = false;
	r->rma = (struct rpc_rma){
		.op = TP_READ,
		.addr = at->addr + place * sizeof(struct wire_block),
		.rkey = at->rkey,
		.term = at->term,
		.len = sizeof(struct wire_block),
		.deadline = session_deadline(w->s),
		.done = read_done,
		.arg = r,
	};
}

/* Adds the blocks of server k's share.  Returns their number, or -E2BIG. */
static int share_collect(struct shared_reads *w, const struct io_plan *plan,
			 uint32_t k)
{
	unsigned int first = w->n, iov;
	struct plan_cur cur;
	uint64_t local;
	size_t len;
	void *to;

	plan_start(plan, &cur, k);
	while (plan_piece(plan, &cur)) {
		if (w->n == SHARED_BLOCKS)
			return -E2BIG;
		local = cur.piece.local;
		to = plan_memory(plan, &cur, WIRE_BLOCK - local % WIRE_BLOCK,
				 &len, &iov);
		w->read[w->n++] = (struct shared_read){
			.k = k,
			.number = local / WIRE_BLOCK,
			.off = (uint32_t)(local % WIRE_BLOCK),
			.len = (uint32_t)len,
			.to = to,
		};
		plan_advance(&cur, len);
	}
	return (int)(w->n - first);
}

/*
 * Returns the number of blocks to look up, or -E2BIG.  Sets done[k] for servers with
 * nothing to read.
 */
static int reads_prepare(struct shared_reads *w, const struct io_plan *plan,
			 bool *done)
{
	struct shared_at at = { 0 };
	unsigned int first;
	uint32_t k;
	int n;

	for (k = 0; k < w->dist->pcount; k++) {
		first = w->n;
		n = done[k] ? 0 : share_collect(w, plan, k);
		if (n < 0)
			return n;
		if (!n)
			done[k] = true;
		else if (!shared_find(w->s, session_iod(w->s, w->dist, k), &at))
			w->n = first;
		for (; first < w->n; first++)
			read_prepare(w, &w->read[first], &at);
	}
	return (int)w->n;
}

/* A server is done if all its blocks arrived.  Otherwise its share goes by message. */
static void reads_conclude(struct shared_reads *w, bool *done)
{
	unsigned int i = 0;
	int status;
	uint32_t k;
	bool hit;

	while (i < w->n) {
		k = w->read[i].k;
		hit = true;
		status = 0;
		for (; i < w->n && w->read[i].k == k; i++) {
			hit &= w->read[i].sound;
			if (w->read[i].rma.status)
				status = w->read[i].rma.status;
		}
		shared_record(w->s, session_iod(w->s, w->dist, k), hit, status);
		done[k] = hit;
		if (hit)
			atomic_fetch_add_explicit(&w->s->count.borrowed, 1,
						  memory_order_relaxed);
	}
}

static bool all_done(const struct dist *dist, const bool *done)
{
	uint32_t k;

	for (k = 0; k < dist->pcount; k++)
		if (!done[k])
			return false;
	return true;
}

static bool reads_run(struct session *s, uint64_t handle,
		      const struct io_plan *plan, bool *done)
{
	struct shared_reads w = { .op = { .start = begin_all },
				  .s = s,
				  .handle = handle,
				  .dist = plan->dist };

	if (reads_prepare(&w, plan, done) <= 0)
		return false;
	op_run(&s->drive, &w.op);
	reads_conclude(&w, done);
	return all_done(plan->dist, done);
}

static bool any_shares(const struct session *s, const struct dist *dist)
{
	uint32_t k;

	for (k = 0; k < dist->pcount; k++)
		if (iod_shares_blocks(s, session_iod(s, dist, k)))
			return true;
	return false;
}

bool shared_blocks_read(struct session *s, uint64_t handle,
			const struct io_plan *plan, bool *done)
{
	return session_is_direct(s, plan->dist) &&
	       plan_total(plan) <= SHARED_MAX && any_shares(s, plan->dist) &&
	       reads_run(s, handle, plan, done);
}
