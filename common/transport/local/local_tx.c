/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_tx.c - sending: checks and stores what is posted. Answers are sent first, then requests in
 * posting order, each as far as the ring and the peer allow. The records of one message are
 * consecutive.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/local/local.h"

enum step {
	STEP_DONE, /* continue with the next request */
	STEP_WAIT, /* wait until the peer acts */
	STEP_LATER, /* continue in the next turn */
	STEP_BROKEN,
};

/* The work that one turn may still do. */
struct turn {
	uint64_t budget;
	bool bulk;
};

/* Puts head at the tail of the ring. Returns where its payload goes, or NULL and *step. */
static uint8_t *reserve_record(struct local_ep *ep,
			       const struct local_head *head, enum step *step)
{
	uint8_t *p;
	int rc;

	p = local_out_room(&ep->out, head->size, &rc);
	if (p) {
		memcpy(p, head, sizeof(*head));
		return p + sizeof(*head);
	}
	*step = STEP_WAIT;
	if (rc == 0) {
		atomic_store(&ep->out.me->starved, 1);
		return NULL;
	}
	local_ep_refuse(ep, rc, 0, "the peer's index in the ring is invalid");
	*step = STEP_BROKEN;
	return NULL;
}

static void put_record(struct local_ep *ep, struct turn *turn, uint32_t size)
{
	local_out_put(&ep->out, size);
	turn->budget -= size < turn->budget ? size : turn->budget;
}

/* Copies n bytes from the cursor to p. -EFAULT. */
static int gather_payload(struct local_ep *ep, struct tp_cursor *c, uint8_t *p,
			  uint32_t n)
{
	struct local_mrs *mrs = &local_dev(ep->ep.dev)->mrs;
	struct iovec iov[LOCAL_IOV];
	unsigned int niov;
	uint64_t bytes;
	int rc;

	while (n) {
		bytes = n;
		niov = tp_cursor_iov(c, iov, LOCAL_IOV, &bytes);
		rc = local_gather(mrs, p, c->sge, iov, niov, bytes);
		if (rc)
			return rc;
		tp_cursor_move(c, bytes);
		p += bytes;
		n -= (uint32_t)bytes;
	}
	return 0;
}

/* Breaks the connection because of an error of this side. */
static enum step request_failed(struct local_ep *ep, const struct local_swr *wr,
				int rc)
{
	log_warn(ep->ep.dev->log, "%s: connection broken: %s", ep->peer,
		 rc == -EACCES ? "no right to that memory of the peer"
			       : "memory that is not mapped");
	atomic_store(&ep->out.me->status, rc);
	atomic_store(&ep->out.me->ended, 1);
	local_ep_break(ep, rc, wr->r.id);
	return STEP_BROKEN;
}

static uint32_t piece_of(uint64_t left)
{
	return left < LOCAL_PIECE ? (uint32_t)left : LOCAL_PIECE;
}

/*
 * Publishes a large message piece by piece, so that the peer copies a piece while we write the
 * next.
 */
static void publish_early(struct local_ep *ep)
{
	if (ep->out.tail - ep->out.published >= LOCAL_PIECE &&
	    local_out_publish(&ep->out))
		local_ep_notify_peer(ep);
}

/* ---- answers ---- */

static enum step target_deregistered(struct local_ep *ep,
				     const struct local_answer *a)
{
	local_ep_refuse(ep, -EACCES, a->id,
			"memory deregistered while the peer reads it");
	return STEP_BROKEN;
}

static enum step answer_old(struct local_ep *ep, struct turn *turn,
			    struct local_answer *a)
{
	struct local_head head = {
		.size = 8, .op = LOCAL_OP_OLD, .id = a->id, .total = 8
	};
	enum step step = STEP_DONE;
	uint8_t *p = reserve_record(ep, &head, &step);

	if (!p)
		return step;
	memcpy(p, &a->old, 8);
	put_record(ep, turn, 8);
	return STEP_DONE;
}

static enum step answer_read(struct local_ep *ep, struct turn *turn,
			     struct local_answer *a)
{
	struct local_mrs *mrs = &local_dev(ep->ep.dev)->mrs;
	enum step step = STEP_DONE;

	while (a->sent < a->len) {
		struct local_head head = {
			.size = piece_of(a->len - a->sent),
			.op = a->sent ? LOCAL_OP_MORE : LOCAL_OP_READ_DATA,
			.id = a->id,
			.total = a->len,
		};
		uint8_t *p;

		if (!turn->budget)
			return STEP_LATER;
		p = reserve_record(ep, &head, &step);
		if (!p)
			return step;
		if (!local_mr_use(mrs, a->rkey))
			return target_deregistered(ep, a);
		memcpy(p, (void *)(uintptr_t)(a->addr + a->sent), head.size);
		local_mr_unuse(mrs, a->rkey);
		a->sent += head.size;
		put_record(ep, turn, head.size);
		publish_early(ep);
	}
	return STEP_DONE;
}

static enum step send_answers(struct local_ep *ep, struct turn *turn)
{
	while (ep->answer_head != ep->answer_tail) {
		struct local_answer *a =
			&ep->answer[ep->answer_head % LOCAL_ASKS];
		enum step step = a->is_read ? answer_read(ep, turn, a)
					    : answer_old(ep, turn, a);

		if (step != STEP_DONE)
			return step;
		ep->answer_head++;
	}
	return STEP_DONE;
}

/* ---- requests ---- */

static enum step send_payload(struct local_ep *ep, struct turn *turn,
			      struct local_swr *wr, enum local_op op)
{
	enum step step = STEP_DONE;

	do {
		struct local_head head = {
			.size = piece_of(wr->data.left),
			.op = wr->begun ? LOCAL_OP_MORE : op,
			.id = wr->r.id,
			.imm = wr->imm,
			.addr = wr->remote,
			.rkey = wr->rkey,
			.total = wr->r.len,
		};
		uint8_t *p;
		int rc;

		if (!turn->budget)
			return STEP_LATER;
		p = reserve_record(ep, &head, &step);
		if (!p)
			return step;
		rc = gather_payload(ep, &wr->data, p, head.size);
		if (rc)
			return request_failed(ep, wr, rc);
		wr->begun = true;
		put_record(ep, turn, head.size);
		publish_early(ep);
	} while (wr->data.left);
	return STEP_DONE;
}

static enum step send_imm(struct local_ep *ep, struct turn *turn,
			  struct local_swr *wr)
{
	struct local_head head = { .op = LOCAL_OP_IMM,
				   .id = wr->r.id,
				   .imm = wr->imm,
				   .total = wr->r.len };
	enum step step = STEP_DONE;

	if (!reserve_record(ep, &head, &step))
		return step;
	put_record(ep, turn, 0);
	return STEP_DONE;
}

static enum step send_question(struct local_ep *ep, struct turn *turn,
			       struct local_swr *wr, enum local_op op,
			       uint32_t size)
{
	struct local_head head = { .size = size,
				   .op = op,
				   .id = wr->r.id,
				   .addr = wr->remote,
				   .rkey = wr->rkey,
				   .total = wr->r.len };
	enum step step = STEP_DONE;
	uint8_t *p;

	if (ep->sq.asks == LOCAL_ASKS)
		return STEP_WAIT;
	p = reserve_record(ep, &head, &step);
	if (!p)
		return step;
	memcpy(p, wr->operand, size);
	put_record(ep, turn, size);
	wr->asked = true;
	ep->sq.asks++;
	return STEP_DONE;
}

static enum step atomic_op(struct local_ep *ep, struct turn *turn,
			   struct local_swr *wr)
{
	return send_question(ep, turn, wr,
			     wr->r.opcode == TP_FETCH_ADD ? LOCAL_OP_FETCH_ADD
							  : LOCAL_OP_CMP_SWAP,
			     sizeof(wr->operand));
}

static enum step reach_failed(struct local_ep *ep, struct local_swr *wr, int rc)
{
	if (rc == -EPERM && wr->data.left == wr->r.len) {
		log_info(ep->ep.dev->log,
			 "%s: its memory cannot be reached any more; through "
			 "the ring from now on",
			 ep->peer);
		ep->reach = LOCAL_REACH_RING;
		return STEP_LATER;
	}
	if (rc == -ECANCELED)
		return STEP_LATER;
	if (rc == -ESRCH || rc == -EPERM) {
		local_ep_lost(ep, wr->r.id);
		return STEP_BROKEN;
	}
	return request_failed(ep, wr, rc);
}

/*
 * Executes a request by direct access.  Earlier requests through the ring must be complete before.
 */
static enum step send_direct(struct local_ep *ep, struct turn *turn,
			     struct local_swr *wr)
{
	int64_t moved;

	if (ep->sq.asks)
		return STEP_WAIT;
	while (wr->data.left) {
		if (!turn->budget)
			return STEP_LATER;
		moved = local_reach_copy(ep, turn->budget);
		if (moved < 0)
			return reach_failed(ep, wr, (int)moved);
		turn->budget -= (uint64_t)moved;
	}
	return wr->r.opcode == TP_WRITE_IMM ? send_imm(ep, turn, wr)
					    : STEP_DONE;
}

static enum step one_sided(struct local_ep *ep, struct turn *turn,
			   struct local_swr *wr)
{
	if (wr->r.len == 0 && wr->r.opcode != TP_WRITE_IMM)
		return STEP_DONE;
	if (wr->r.len && !turn->bulk)
		return STEP_LATER;
	if (wr->r.len == 0 || (local_reach(ep) == LOCAL_REACH_VM &&
			       !local_table_lent(ep->table, wr->rkey)))
		return send_direct(ep, turn, wr);
	if (wr->r.opcode == TP_READ)
		return send_question(ep, turn, wr, LOCAL_OP_READ, 0);
	return send_payload(ep, turn, wr,
			    wr->r.opcode == TP_WRITE ? LOCAL_OP_WRITE
						     : LOCAL_OP_WRITE_IMM);
}

static enum step send_request(struct local_ep *ep, struct turn *turn,
			      struct local_swr *wr)
{
	switch (wr->r.opcode) {
	case TP_SEND:
		return send_payload(ep, turn, wr, LOCAL_OP_SEND);
	case TP_FETCH_ADD:
	case TP_CMP_SWAP:
		return atomic_op(ep, turn, wr);
	default:
		return one_sided(ep, turn, wr);
	}
}

static enum step send_requests(struct local_ep *ep, struct turn *turn)
{
	struct local_sendq *sq = &ep->sq;

	while (sq->next != sq->q.tail) {
		struct local_swr *wr = &sq->wr[sq->next & sq->q.mask];
		enum step step = send_request(ep, turn, wr);

		if (step != STEP_DONE)
			return step;
		sq->next++;
		if (!wr->asked)
			local_send_complete(ep, wr);
	}
	return STEP_DONE;
}

/* Whether a message is sent in part.  It continues before anything else. */
static bool in_message(const struct local_ep *ep)
{
	const struct local_sendq *sq = &ep->sq;

	return sq->next != sq->q.tail && sq->wr[sq->next & sq->q.mask].begun;
}

void local_tx(struct local_ep *ep, bool bulk)
{
	struct turn turn = { .budget = LOCAL_BURST, .bulk = bulk };
	enum step step = STEP_DONE;

	if (in_message(ep))
		step = send_requests(ep, &turn);
	if (step == STEP_DONE)
		step = send_answers(ep, &turn);
	if (step == STEP_DONE)
		step = send_requests(ep, &turn);
	if (step == STEP_BROKEN)
		return;
	ep->sq.stuck = step == STEP_WAIT;
	if (step != STEP_WAIT &&
	    atomic_load_explicit(&ep->out.me->starved, memory_order_relaxed))
		atomic_store(&ep->out.me->starved, 0);
	if (local_out_publish(&ep->out))
		local_ep_notify_peer(ep);
}

/* Stores the pieces that are not empty, in the request or in separate memory. -ENOMEM. */
static int store_pieces(struct local_swr *to, const struct tp_send_wr *wr)
{
	struct tp_sge *sge = to->few;
	unsigned int i, n = 0;

	to->more = NULL;
	if (wr->nsge > LOCAL_FEW) {
		to->more = malloc(wr->nsge * sizeof(*sge));
		if (!to->more)
			return -ENOMEM;
		sge = to->more;
	}
	to->r.len = 0;
	for (i = 0; i < wr->nsge; i++) {
		if (!wr->sgl[i].len)
			continue;
		to->r.len += wr->sgl[i].len;
		sge[n++] = wr->sgl[i];
	}
	tp_cursor_set(&to->data, sge, n, to->r.len);
	return 0;
}

static int store_wr(struct local_sendq *sq, uint32_t at,
		    const struct tp_send_wr *wr)
{
	struct local_swr *to = &sq->wr[at & sq->q.mask];

	to->r = (struct sock_swr){ .wr_id = wr->wr_id,
				   .opcode = (uint8_t)wr->opcode,
				   .signaled = wr->flags & TP_SIGNALED };
	to->remote = wr->remote_addr;
	to->operand[0] = wr->compare_add;
	to->operand[1] = wr->swap;
	to->rkey = wr->rkey;
	to->imm = wr->imm;
	to->begun = false;
	to->asked = false;
	return store_pieces(to, wr);
}

static int store_chain(struct local_ep *ep, const struct tp_send_wr *wr)
{
	struct local_sendq *sq = &ep->sq;
	uint32_t tail = sq->q.tail, i;

	for (; wr; wr = wr->next, tail++) {
		if (store_wr(sq, tail, wr) == 0)
			continue;
		for (i = sq->q.tail; i != tail; i++)
			free(sq->wr[i & sq->q.mask].more);
		return -ENOMEM;
	}
	for (i = sq->q.tail; i != tail; i++)
		sq->wr[i & sq->q.mask].r.id = sock_next_id(&sq->q);
	sq->q.tail = tail;
	return 0;
}

/*
 * Sends messages at once.  A copy from or to the peer's memory waits for the next poll, so that
 * this call takes little time.
 */
int local_post_send(struct tp_ep *base, const struct tp_send_wr *wr)
{
	struct local_ep *ep = local_ep(base);
	int rc;

	if (ep->state != LOCAL_EP_UP)
		return -ENOTCONN;
	rc = sock_wr_check(&ep->ep, ep->peer, wr,
			   ep->sq.q.max - (ep->sq.q.tail - ep->sq.q.head),
			   local_dev_covers);
	if (!rc)
		rc = store_chain(ep, wr);
	if (rc)
		return rc;
	local_ep_activate(ep);
	local_tx(ep, false);
	return 0;
}
