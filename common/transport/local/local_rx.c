/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_rx.c - receiving: handles each record. The head of a record is a private copy. Its lengths,
 * keys and ids are checked before use. A payload is copied once, to its destination.
 */
#include <errno.h>
#include <string.h>

#include "common/transport/local/local.h"

#define BURST (256u << 10) /* bytes consumed in one turn */

static struct local_mrs *mrs_of(struct local_ep *ep)
{
	return &local_dev(ep->ep.dev)->mrs;
}

static int refuse_peer(struct local_ep *ep, int status, uint32_t id,
		       const char *why)
{
	local_ep_refuse(ep, status, id, why);
	return status;
}

/* ---- where payload is placed ---- */

static bool to_memory(struct local_ep *ep, uint64_t addr, uint32_t key,
		      const uint8_t *p, uint32_t n)
{
	struct local_mrs *mrs = mrs_of(ep);
	int rc;

	if (n == 0)
		return true;
	if (!local_mr_use(mrs, key))
		return false;
	rc = local_copy(mrs, key, (void *)(uintptr_t)addr, p, n);
	local_mr_unuse(mrs, key);
	return !rc;
}

/* Writes the answer to wr to the memory of its request. */
static bool to_request(struct local_ep *ep, struct local_swr *wr,
		       const uint8_t *p, uint32_t n)
{
	struct local_mrs *mrs = mrs_of(ep);
	struct iovec iov[LOCAL_IOV];
	uint64_t bytes = n;
	unsigned int niov = tp_cursor_iov(&wr->data, iov, LOCAL_IOV, &bytes);
	const struct tp_sge *sge = wr->data.sge;
	int rc;

	if (!local_mr_hold(mrs, sge, niov))
		return false;
	rc = local_scatter(mrs, sge, iov, niov, p, bytes);
	local_mr_unhold(mrs, sge, niov);
	tp_cursor_move(&wr->data, bytes);
	return !rc;
}

/* Returns the request to which the next answer belongs: the oldest unfinished one. */
static struct local_swr *awaiting_request(struct local_ep *ep, uint32_t id)
{
	struct local_sendq *sq = &ep->sq;
	struct local_swr *wr = &sq->wr[sq->q.done & sq->q.mask];

	if (sq->q.done == sq->next || !wr->asked || wr->r.done ||
	    wr->r.id != id)
		return NULL;
	return wr;
}

static bool place_payload(struct local_ep *ep, const uint8_t *p, uint32_t n)
{
	struct local_rx *rx = &ep->rx;
	bool ok;

	if (rx->op == LOCAL_OP_READ_DATA) {
		ok = to_request(ep, awaiting_request(ep, rx->id), p, n);
	} else {
		ok = to_memory(ep, rx->addr, rx->rkey, p, n);
		rx->addr += n;
	}
	rx->left -= n;
	return ok;
}

static void answer_came(struct local_ep *ep, struct local_swr *wr)
{
	ep->sq.asks--;
	ep->sq.stuck = false;
	local_send_complete(ep, wr);
}

static void message_end(struct local_ep *ep)
{
	const struct local_rx *rx = &ep->rx;

	switch (rx->op) {
	case LOCAL_OP_SEND:
		local_recv_complete(ep, TP_RECV, 0, rx->total, 0);
		break;
	case LOCAL_OP_WRITE_IMM:
		local_recv_complete(ep, TP_RECV_IMM, 0, rx->total, rx->imm);
		break;
	case LOCAL_OP_READ_DATA:
		answer_came(ep, awaiting_request(ep, rx->id));
		break;
	default:
		break;
	}
}

/* Breaks the connection because the target of a message was deregistered in the middle of it. */
static int target_gone(struct local_ep *ep)
{
	const struct local_rx *rx = &ep->rx;
	bool theirs = rx->op == LOCAL_OP_WRITE || rx->op == LOCAL_OP_WRITE_IMM;

	if (rx->op == LOCAL_OP_SEND)
		local_recv_complete(ep, TP_RECV, -EFAULT, 0, 0);
	return refuse_peer(ep, theirs ? -EACCES : -EFAULT, theirs ? rx->id : 0,
			   "memory gone in the middle of a transfer");
}

/* Handles the first or a further part of the message in rx. */
static int take_payload(struct local_ep *ep, const struct local_head *head,
			const uint8_t *p)
{
	if (head->size > ep->rx.left || (head->size == 0 && ep->rx.left))
		return refuse_peer(ep, -EPROTO, head->id, "a wrong length");
	if (!place_payload(ep, p, head->size))
		return target_gone(ep);
	if (!ep->rx.left)
		message_end(ep);
	return 0;
}

static int begin_message(struct local_ep *ep, const struct local_head *head,
			 const uint8_t *p, uint64_t addr, uint32_t rkey)
{
	ep->rx = (struct local_rx){
		.op = head->op,
		.left = head->total,
		.total = head->total,
		.imm = head->imm,
		.id = head->id,
		.addr = addr,
		.rkey = rkey,
	};
	return take_payload(ep, head, p);
}

/* ---- the operations ---- */

static int not_ready(struct local_ep *ep)
{
	return sock_recvq_not_ready(&ep->rq, ep->ep.dev->log, ep->peer);
}

static int rx_send(struct local_ep *ep, const struct local_head *head,
		   const uint8_t *p)
{
	struct sock_recvq *rq = &ep->rq;
	const struct tp_sge *sge = &rq->wr[rq->done & rq->mask].sge;

	if (rq->done == rq->tail)
		return not_ready(ep);
	if (head->total > sge->len) {
		local_recv_complete(ep, TP_RECV, -EMSGSIZE, 0, 0);
		return refuse_peer(ep, -EMSGSIZE, head->id,
				   "a message longer than its receive");
	}
	return begin_message(ep, head, p, (uintptr_t)sge->addr, sge->lkey);
}

static int rx_write(struct local_ep *ep, const struct local_head *head,
		    const uint8_t *p)
{
	if (head->op == LOCAL_OP_WRITE_IMM && ep->rq.done == ep->rq.tail)
		return not_ready(ep);
	ep->peer_uses_ring = true;
	if (!local_mr_serves(&ep->ep, head->rkey, head->addr, head->total,
			     TP_REMOTE_WRITE))
		return refuse_peer(ep, -EACCES, head->id,
				   "the peer has no right to that memory");
	return begin_message(ep, head, p, head->addr, head->rkey);
}

/* Handles an immediate whose data, according to the peer, is in memory already. */
static int rx_imm(struct local_ep *ep, const struct local_head *head,
		  const uint8_t *p)
{
	if (ep->rq.done == ep->rq.tail)
		return not_ready(ep);
	if (head->total > TP_LEN_MAX)
		return refuse_peer(ep, -EPROTO, head->id, "a wrong length");
	local_recv_complete(ep, TP_RECV_IMM, 0, head->total, head->imm);
	return 0;
}

/* Queues an answer. NULL: too many are queued, and the peer was rejected. */
static struct local_answer *queue_answer(struct local_ep *ep,
					 const struct local_head *head)
{
	struct local_answer *a = &ep->answer[ep->answer_tail % LOCAL_ASKS];

	if (ep->answer_tail - ep->answer_head == LOCAL_ASKS) {
		refuse_peer(ep, -EPROTO, head->id, "too many READs at once");
		return NULL;
	}
	*a = (struct local_answer){ .addr = head->addr,
				    .rkey = head->rkey,
				    .id = head->id,
				    .len = head->total };
	ep->answer_tail++;
	return a;
}

static int rx_read(struct local_ep *ep, const struct local_head *head,
		   const uint8_t *p)
{
	struct local_answer *a;

	ep->peer_uses_ring = true;
	if (head->total == 0 || head->total > TP_LEN_MAX)
		return refuse_peer(ep, -EPROTO, head->id, "a wrong length");
	if (!local_mr_serves(&ep->ep, head->rkey, head->addr, head->total,
			     TP_REMOTE_READ))
		return refuse_peer(ep, -EACCES, head->id,
				   "the peer has no right to that memory");
	a = queue_answer(ep, head);
	if (!a)
		return -EPROTO;
	a->is_read = true;
	return 0;
}

static uint64_t execute_atomic(enum local_op op, uint64_t *target,
			       const uint64_t operand[2])
{
	uint64_t old = operand[0];

	if (op == LOCAL_OP_FETCH_ADD)
		return __atomic_fetch_add(target, operand[0], __ATOMIC_SEQ_CST);
	/* on a mismatch, old becomes the current value */
	__atomic_compare_exchange_n(target, &old, operand[1], false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}

static int rx_atomic(struct local_ep *ep, const struct local_head *head,
		     const uint8_t *p)
{
	struct local_mrs *mrs = mrs_of(ep);
	struct local_answer *a;
	uint64_t operand[2];

	if (head->size != sizeof(operand) || head->total != 8 || head->addr % 8)
		return refuse_peer(ep, -EPROTO, head->id, "a wrong atomic");
	memcpy(operand, p, sizeof(operand));
	if (!local_mr_serves(&ep->ep, head->rkey, head->addr, 8,
			     TP_REMOTE_ATOMIC) ||
	    !local_mr_use(mrs, head->rkey))
		return refuse_peer(ep, -EACCES, head->id,
				   "the peer has no right to that memory");
	a = queue_answer(ep, head);
	if (a)
		a->old = execute_atomic(head->op,
					(uint64_t *)(uintptr_t)head->addr,
					operand);
	local_mr_unuse(mrs, head->rkey);
	return a ? 0 : -EPROTO;
}

static int rx_read_data(struct local_ep *ep, const struct local_head *head,
			const uint8_t *p)
{
	const struct local_swr *wr = awaiting_request(ep, head->id);

	if (!wr || wr->r.opcode != TP_READ || wr->r.len != head->total)
		return refuse_peer(ep, -EPROTO, head->id,
				   "an answer to no READ");
	return begin_message(ep, head, p, 0, 0);
}

static int rx_old(struct local_ep *ep, const struct local_head *head,
		  const uint8_t *p)
{
	struct local_swr *wr = awaiting_request(ep, head->id);

	if (!wr || wr->r.opcode == TP_READ || head->size != 8)
		return refuse_peer(ep, -EPROTO, head->id,
				   "an answer to no atomic");
	if (!to_request(ep, wr, p, 8))
		return refuse_peer(ep, -EFAULT, 0,
				   "memory of a request was deregistered");
	answer_came(ep, wr);
	return 0;
}

static int (*const ops[LOCAL_OP_END])(struct local_ep *ep,
				      const struct local_head *head,
				      const uint8_t *p) = {
	[LOCAL_OP_SEND] = rx_send,	  [LOCAL_OP_WRITE] = rx_write,
	[LOCAL_OP_WRITE_IMM] = rx_write,  [LOCAL_OP_IMM] = rx_imm,
	[LOCAL_OP_READ] = rx_read,	  [LOCAL_OP_READ_DATA] = rx_read_data,
	[LOCAL_OP_FETCH_ADD] = rx_atomic, [LOCAL_OP_CMP_SWAP] = rx_atomic,
	[LOCAL_OP_OLD] = rx_old,
};

/*
 * Handles one record.  Returns 0: it was consumed; -EAGAIN: try again later, because no receive is
 * posted; another -errno: the ep was broken.
 */
static int handle_record(struct local_ep *ep, const struct local_head *head,
			 const uint8_t *p)
{
	if (ep->rx.left) {
		if (head->op != LOCAL_OP_MORE)
			return refuse_peer(ep, -EPROTO, head->id,
					   "a message in the middle of another");
		return take_payload(ep, head, p);
	}
	if (head->op >= LOCAL_OP_END || !ops[head->op])
		return refuse_peer(ep, -EPROTO, head->id, "an unknown record");
	return ops[head->op](ep, head, p);
}

static void publish_room(struct local_ep *ep)
{
	if (local_in_publish(&ep->in))
		local_ep_notify_peer(ep);
}

bool local_rx(struct local_ep *ep)
{
	struct local_head head;
	const uint8_t *p;
	uint32_t taken = 0;
	int rc;

	while (!ep->rq.paused && taken < BURST) {
		rc = local_in_next(&ep->in, &head, &p);
		if (rc == 0)
			break;
		if (rc > 0)
			rc = handle_record(ep, &head, p);
		else
			refuse_peer(ep, rc, 0,
				    "the peer's ring is inconsistent");
		if (rc == -EAGAIN)
			break;
		if (rc)
			return false;
		local_in_take(&ep->in, head.size);
		taken += local_record(head.size);
		if (ep->in.head - ep->in.published >= LOCAL_PIECE)
			publish_room(ep);
	}
	publish_room(ep);
	return true;
}

int local_post_recv(struct tp_ep *base, const struct tp_recv_wr *wr)
{
	struct local_ep *ep = local_ep(base);
	int rc;

	if (ep->state == LOCAL_EP_BROKEN)
		return -ENOTCONN;
	rc = sock_recvq_post(&ep->rq, base->dev, wr, local_dev_covers);
	if (rc <= 0)
		return rc;
	local_ep_activate(ep);
	return 0;
}
