/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_sealed.c - turns frames into records, and records into frames. Data to send is copied or
 * encrypted into the record: it must not change between the computation of the tag and sending.
 * Received data is opened before any other code reads it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/tcp/tcp.h"
#include "common/transport/tcp/tcp_seal.h"
#include "common/util/usermem.h"

/* ---- sending ---- */

/* Whether pages of the memory may disappear while it is read. */
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

/* Whether this is possible for the memory of the next bytes. */
static bool any_may_go(struct tcp_ep *ep, uint64_t bytes)
{
	struct tcp_dev *dev = container_of(ep->ep.dev, struct tcp_dev, dev);
	struct tcp_tx *tx;
	uint64_t has;

	STAILQ_FOREACH(tx, &ep->sq.out, link) {
		if (tx->data.left && may_go(dev, tx->data.sge, tx->data.n))
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

	if (any_may_go(ep, g->bytes)) {
		if (tcp_copy_out(to, from, n, g->bytes))
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

	if (!tcp_gather(ep, RECORD_DATA_MAX, &g))
		return false;
	rc = seal_pieces(ep, &g, to);
	tcp_unhold(ep->cq->held, g.nheld);
	if (rc == -EFAULT)
		tcp_ep_refuse(ep, rc, 0,
			      "memory of a send request is not mapped");
	else if (rc)
		tcp_ep_lost(ep, rc);
	else
		tcp_sent(ep, g.bytes);
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
	const struct iovec from = { (void *)(uintptr_t)frame, len };

	if (records_out_left(out) || !records_out_data(out))
		return false;
	return !records_out_close(out, ep->seal->sealer, &from, 1, len) &&
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
