/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_sealed.c - frames to records, and records to frames.  What leaves is copied, for it
 * must not change between its tag and the wire; what came is opened before anyone
 * looks at it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tcp.h"
#include "tcp_seal.h"
#include "usermem.h"

/* ---- sending ---- */

/* Pages of it may go while it is read. */
static bool may_go(struct tcp_dev *dev, const struct tp_sge *sge,
		   unsigned int n)
{
	struct tcp_mr *held;
	bool goes = false;
	int count;

	for (unsigned int i = 0; i < n && !goes; i++) {
		if (sge[i].lkey == TP_LKEY_NONE ||
		    (i && sge[i].lkey == sge[i - 1].lkey))
			continue;
		count = tcp_hold(dev, &sge[i], 1, &held);
		if (count > 0)
			goes = tcp_any_volatile(&held, count);
		if (count > 0)
			tcp_unhold(&held, count);
	}
	return goes;
}

static int copy_out(struct tcp_dev *dev, const struct tcp_tx *tx,
		    const struct iovec *iov, unsigned int n, void *to,
		    uint64_t len)
{
	if (may_go(dev, tx->data.sge, n))
		return tcp_copy_out(to, iov, n, len);
	return usermem_gather(to, iov, n);
}

/* Up to *len bytes of payload.  -EACCES: what the peer reads is not ours any more. */
static int take_data(struct tcp_ep *ep, struct tcp_tx *tx, uint8_t *to,
		     uint32_t *len)
{
	struct tcp_dev *dev = container_of(ep->ep.dev, struct tcp_dev, dev);
	struct tcp_cq *cq = ep->cq;
	uint64_t bytes = *len;
	unsigned int n = tp_cursor_iov(&tx->data, cq->iov, TCP_IOV_MAX, &bytes);
	int held = 0, rc;

	if (tx->answers)
		held = tcp_hold(dev, tx->data.sge, n, cq->held);
	if (held < 0)
		return held;
	rc = copy_out(dev, tx, cq->iov, n, to, bytes);
	tcp_unhold(cq->held, held);
	if (rc)
		return rc;
	tp_cursor_move(&tx->data, bytes);
	*len = (uint32_t)bytes;
	return 0;
}

static int take(struct tcp_ep *ep, struct tcp_tx *tx, uint8_t *to,
		uint32_t *len)
{
	uint32_t head = tx->head_len - tx->head_sent, room = *len;
	int rc = 0;

	if (head > room)
		head = room;
	memcpy(to, tx->head + tx->head_sent, head);
	tx->head_sent += head;
	*len = room - head;
	if (*len && tx->data.left)
		rc = take_data(ep, tx, to + head, len);
	else
		*len = 0;
	*len += head;
	return rc;
}

static int no_data(struct tcp_ep *ep, const struct tcp_tx *tx, int rc)
{
	if (rc == -EACCES)
		tcp_ep_refuse(ep, rc, tx->id,
			      "memory deregistered while the peer reads it");
	else
		tcp_ep_refuse(ep, -EFAULT, 0,
			      "memory of a send request is not mapped");
	return rc;
}

/* Frames into the data of a record: how many bytes; or -errno, and broken. */
static int take_frames(struct tcp_ep *ep, uint8_t *to)
{
	uint32_t done = 0, len;
	struct tcp_tx *tx;
	int rc;

	while ((tx = STAILQ_FIRST(&ep->sq.out)) && done < RECORD_DATA_MAX) {
		len = RECORD_DATA_MAX - done;
		rc = take(ep, tx, to + done, &len);
		if (rc)
			return no_data(ep, tx, rc);
		done += len;
		if (tx->head_sent == tx->head_len && !tx->data.left)
			tcp_tx_sent(ep, tx);
	}
	return (int)done;
}

/* False: broken. */
static bool fill_records(struct tcp_ep *ep)
{
	struct tcp_seal *seal = ep->seal;
	uint8_t *to;
	int n, rc;

	while (!STAILQ_EMPTY(&ep->sq.out) &&
	       (to = records_out_data(&seal->out))) {
		n = take_frames(ep, to);
		if (n < 0)
			return false;
		rc = records_out_close(&seal->out, seal->sealer, (uint32_t)n);
		if (rc) {
			tcp_ep_lost(ep, rc);
			return false;
		}
	}
	return true;
}

/* True: there may be more to send now. */
static bool send_once(struct tcp_ep *ep)
{
	struct records_out *out = &ep->seal->out;
	uint32_t left = records_out_left(out);
	ssize_t n = send(ep->fd, out->buf + out->sent, left,
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n > 0)
		records_out_took(out, (uint32_t)n);
	return tcp_send_ended(ep, n, left);
}

void tcp_sealed_flush(struct tcp_ep *ep)
{
	uint32_t moved = 0;

	while (moved < TCP_BURST) {
		if (!fill_records(ep) || !records_out_left(&ep->seal->out))
			return;
		moved += records_out_left(&ep->seal->out);
		if (!send_once(ep))
			return;
	}
	tcp_ep_dirty(ep);
}

bool tcp_sealed_last(struct tcp_ep *ep, const void *frame, uint32_t len)
{
	struct records_out *out = &ep->seal->out;
	uint8_t *to = records_out_data(out);

	if (records_out_left(out) || !to)
		return false;
	memcpy(to, frame, len);
	return !records_out_close(out, ep->seal->sealer, len) &&
	       send(ep->fd, out->buf, out->end, MSG_DONTWAIT | MSG_NOSIGNAL) ==
		       (ssize_t)out->end;
}

/* ---- receiving ---- */

bool tcp_sealed_ready(const struct tcp_ep *ep)
{
	return tcp_sealed_in(ep) && records_in_ready(&ep->seal->in);
}

static int open_next(struct tcp_ep *ep)
{
	struct tcp_rx *rx = &ep->rx;
	struct records_window w = { rx->at, rx->end };
	enum tp_flaw flaw = TP_FLAW_FALSE;
	int rc = records_in_next(&ep->seal->in, ep->seal->sealer, &w, &flaw);

	if (rc == -EBADMSG)
		return tcp_seal_broken(ep, flaw);
	if (rc < 0) {
		tcp_ep_lost(ep, rc);
		return rc;
	}
	rx->at = w.at;
	rx->end = w.end;
	return rc;
}

static ssize_t read_more(struct tcp_ep *ep, bool *drained)
{
	struct tcp_rx *rx = &ep->rx;
	struct records_window w = { rx->at, rx->end };
	struct records_in *in = &ep->seal->in;
	uint32_t room;
	void *to = records_in_room(in, &w, &room);
	ssize_t n = recv(ep->fd, to, room, 0);

	rx->at = w.at;
	rx->end = w.end;
	if (n < 0)
		return -errno;
	*drained = n < (ssize_t)room;
	if (n > 0) {
		ep->pulse.heard = true;
		records_in_add(in, (uint32_t)n);
	}
	return n;
}

ssize_t tcp_sealed_fill(struct tcp_ep *ep, bool *drained)
{
	ssize_t n = 1;

	*drained = false;
	if (!tcp_sealed_ready(ep))
		n = read_more(ep, drained);
	if (n > 0) {
		int rc = open_next(ep);

		if (rc < 0)
			return rc;
	}
	return n;
}
