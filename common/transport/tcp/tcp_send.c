/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_send.c - sends frames: one gathering system call sends the headers and payload of many frames
 * without copying them first.
 *
 * Over a sealed connection, frames become records. Data to send is copied or encrypted into the
 * record: it must not change between the computation of the tag and sending.
 */
#include <errno.h>

#include "common/transport/tcp/tcp.h"
#include "common/util/usermem.h"

/*
 * The next part of sq.out to send. The pieces are in cq->iov; cq->held lists the registrations that
 * are held until tcp_mr_release().
 */
struct tcp_gather {
	uint64_t max, bytes, data;
	unsigned int niov;
	int nheld;
};

/*
 * Moves frames from `wait` to `out`, in order.  A READ above the peer's limit stays in `wait`, and
 * so does everything posted after it.
 */
static void commit_waiting(struct tcp_sendq *sq)
{
	struct tcp_tx *tx;

	while ((tx = STAILQ_FIRST(&sq->wait))) {
		if (tx->asks && sq->nreads == TCP_READS_MAX)
			return;
		if (tx->asks)
			sq->nreads++;
		STAILQ_REMOVE_HEAD(&sq->wait, link);
		STAILQ_INSERT_TAIL(&sq->out, tx, link);
	}
}

static uint64_t room_for_data(const struct tcp_gather *g)
{
	uint64_t turn = TCP_BURST - g->data, room = g->max - g->bytes;

	return room < turn ? room : turn;
}

static int gather_data(struct tcp_ep *ep, struct tcp_tx *tx,
		       struct tcp_gather *g)
{
	struct tcp_dev *dev = tcp_ep_dev(ep);
	struct tcp_cq *cq = ep->cq;
	uint64_t bytes = room_for_data(g);
	unsigned int n = tp_cursor_iov(&tx->data, cq->iov + g->niov,
				       TCP_IOV_MAX - g->niov, &bytes);

	if (tx->answers) {
		int held = tcp_mr_hold(dev, tx->data.sge, n,
				       cq->held + g->nheld);

		if (held < 0)
			return held;
		g->nheld += held;
	}
	g->niov += n;
	g->bytes += bytes;
	g->data += bytes;
	return 0;
}

static int gather_tx(struct tcp_ep *ep, struct tcp_tx *tx, struct tcp_gather *g)
{
	uint64_t head = tx->head_len - tx->head_sent;

	if (head > g->max - g->bytes)
		head = g->max - g->bytes;
	if (head) {
		struct iovec *iov = &ep->cq->iov[g->niov++];

		iov->iov_base = tx->head + tx->head_sent;
		iov->iov_len = head;
		g->bytes += head;
	}
	return tx->data.left && room_for_data(g) ? gather_data(ep, tx, g) : 0;
}

static bool is_full(const struct tcp_gather *g)
{
	return g->niov == TCP_IOV_MAX || !room_for_data(g);
}

/*
 * Collects at most max bytes of the frames to be sent in one system call.  False: memory that the
 * peer reads was deregistered, and ep was broken.
 */
static bool gather_frames(struct tcp_ep *ep, uint64_t max, struct tcp_gather *g)
{
	struct tcp_tx *tx;

	*g = (struct tcp_gather){ .max = max };
	STAILQ_FOREACH(tx, &ep->sq.out, link) {
		if (is_full(g))
			break;
		if (gather_tx(ep, tx, g) == 0) {
			if (ep->seal && tx == ep->seal->mark)
				break; /* the last unsealed frame */
			continue;
		}
		tcp_mr_release(ep->cq->held, g->nheld);
		tcp_ep_refuse(ep, -EACCES, tx->id,
			      "memory deregistered while the peer reads it");
		return false;
	}
	return true;
}

static void tx_sent(struct tcp_ep *ep, struct tcp_tx *tx)
{
	struct tcp_sendq *sq = &ep->sq;

	STAILQ_REMOVE_HEAD(&sq->out, link);
	if (ep->seal && tx == ep->seal->mark)
		ep->seal->mark = NULL;
	if (tx->asks) {
		STAILQ_INSERT_TAIL(&sq->reads, tx, link);
		return;
	}
	if (tx->answers)
		sq->nanswers--;
	if (tx->nwr)
		tcp_sends_complete(ep, tx->first, tx->nwr);
	tcp_tx_free(ep->cq, tx);
}

/* Removes n sent bytes from sq.out. */
static void consume_sent(struct tcp_ep *ep, uint64_t n)
{
	struct tcp_tx *tx;

	while ((tx = STAILQ_FIRST(&ep->sq.out))) {
		uint64_t part = tx->head_len - tx->head_sent;

		if (part > n)
			part = n;
		tx->head_sent += (uint32_t)part;
		n -= part;
		part = tx->data.left < n ? tx->data.left : n;
		tp_cursor_move(&tx->data, part);
		n -= part;
		if (tx->head_sent < tx->head_len || tx->data.left)
			return;
		tx_sent(ep, tx);
	}
}

/* The socket accepts no more: continue when it becomes writable. */
static void socket_full(struct tcp_ep *ep)
{
	ep->sq.full = true;
	tcp_ep_set_mask(ep, ep->mask | EPOLLOUT);
}

/* The peer's last frames may tell the reason: read them, then break. */
static void send_failed(struct tcp_ep *ep, int err)
{
	if (err == EFAULT) {
		tcp_ep_refuse(ep, -EFAULT, 0,
			      "memory of a send request is not mapped");
		return;
	}
	ep->lost = err == EPIPE ? -ECONNRESET : -err;
	if (ep->rq.paused) {
		tcp_ep_lost(ep, ep->lost);
		return;
	}
	ep->sq.full = true;
	ep->rx.hup = true;
	ep->rx.readable = true;
	tcp_ep_mark_ready(ep);
}

/*
 * Handles the result of a send: n of the wanted bytes, or -1 and errno. True: the socket may accept
 * more now.
 */
static bool send_ended(struct tcp_ep *ep, ssize_t n, uint64_t wanted)
{
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno != EAGAIN) {
		send_failed(ep, errno);
		return false;
	}
	if (n > 0)
		tcp_pulse_resume(ep->cq);
	if (n == (ssize_t)wanted)
		return true;
	socket_full(ep);
	return false;
}

/* Sends frames once.  Returns true if there may be more to send now. */
static bool flush_once(struct tcp_ep *ep)
{
	struct msghdr msg = { .msg_iov = ep->cq->iov };
	struct tcp_gather g;
	ssize_t n;

	if (!gather_frames(ep, UINT64_MAX, &g))
		return false;
	msg.msg_iovlen = g.niov;
	n = sendmsg(ep->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	tcp_mr_release(ep->cq->held, g.nheld);
	if (n > 0)
		consume_sent(ep, (uint64_t)n);
	return send_ended(ep, n, g.bytes);
}

/* Whether pages of the memory may disappear while it is read. */
static bool may_vanish(struct tcp_dev *dev, const struct tp_sge *sge,
		       unsigned int n)
{
	struct tcp_mr *held;
	bool goes = false;
	int count;

	for (unsigned int i = 0; i < n && !goes; i++) {
		if (sge[i].lkey == TP_LKEY_NONE ||
		    (i && sge[i].lkey == sge[i - 1].lkey))
			continue;
		count = tcp_mr_hold(dev, &sge[i], 1, &held);
		if (count > 0)
			goes = tcp_mr_any_volatile(&held, count);
		if (count > 0)
			tcp_mr_release(&held, count);
	}
	return goes;
}

/* As may_vanish(), for the memory of the next bytes to send. */
static bool any_may_vanish(struct tcp_ep *ep, uint64_t bytes)
{
	struct tcp_dev *dev = tcp_ep_dev(ep);
	struct tcp_tx *tx;
	uint64_t has;

	STAILQ_FOREACH(tx, &ep->sq.out, link) {
		if (tx->data.left && may_vanish(dev, tx->data.sge, tx->data.n))
			return true;
		has = tx->head_len - tx->head_sent + tx->data.left;
		if (has >= bytes)
			break;
		bytes -= has;
	}
	return false;
}

/* -EFAULT: some of the memory is not mapped; else as sealer->seal(). */
static int seal_pieces(struct tcp_ep *ep, const struct tcp_gather *g, void *to)
{
	struct tcp_seal *seal = ep->seal;
	const struct iovec copied = { to, g->bytes }, *from = ep->cq->iov;
	unsigned int n = g->niov;

	if (any_may_vanish(ep, g->bytes)) {
		if (tcp_mr_copy_out(to, from, n, g->bytes))
			return -EFAULT;
		from = &copied;
		n = 1;
	} else if (!usermem_readable(from, n)) {
		return -EFAULT;
	}
	return records_out_close(&seal->out, seal->sealer, from, n,
				 (uint32_t)g->bytes);
}

/* Fills one record with frames. False: broken. */
static bool fill_record(struct tcp_ep *ep, void *to)
{
	struct tcp_gather g;
	int rc;

	if (!gather_frames(ep, RECORD_DATA_MAX, &g))
		return false;
	rc = seal_pieces(ep, &g, to);
	tcp_mr_release(ep->cq->held, g.nheld);
	if (rc == -EFAULT)
		tcp_ep_refuse(ep, rc, 0,
			      "memory of a send request is not mapped");
	else if (rc)
		tcp_ep_lost(ep, rc);
	else
		consume_sent(ep, g.bytes);
	return !rc;
}

/* Fills records while there are frames and room. False: broken. */
static bool fill_records(struct tcp_ep *ep)
{
	void *to;

	while (!STAILQ_EMPTY(&ep->sq.out) &&
	       (to = records_out_data(&ep->seal->out)))
		if (!fill_record(ep, to))
			return false;
	return true;
}

/* Sends records once.  Returns true if there may be more to send now. */
static bool send_once(struct tcp_ep *ep)
{
	struct records_out *out = &ep->seal->out;
	uint32_t left = records_out_left(out);
	ssize_t n = send(ep->fd, out->buf + out->sent, left,
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n > 0)
		records_out_took(out, (uint32_t)n);
	return send_ended(ep, n, left);
}

static void flush_records(struct tcp_ep *ep)
{
	uint32_t moved = 0;

	while (moved < TCP_BURST) {
		if (!fill_records(ep) || !records_out_left(&ep->seal->out))
			return;
		moved += records_out_left(&ep->seal->out);
		if (!send_once(ep))
			return;
	}
	tcp_ep_mark_dirty(ep);
}

void tcp_flush(struct tcp_ep *ep)
{
	commit_waiting(&ep->sq);
	if (!tcp_sends_records(ep) &&
	    (STAILQ_EMPTY(&ep->sq.out) || !flush_once(ep)))
		return;
	if (tcp_sends_records(ep))
		flush_records(ep);
	else if (!STAILQ_EMPTY(&ep->sq.out))
		tcp_ep_mark_dirty(ep);
}
