/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_recv.c - the receive state machine. Bytes are read ahead into a buffer, the stage, so that a
 * small message takes one system call. Payload that is not in the stage is read directly to its
 * destination. The stage is the last piece of that read, so the next head arrives with it.
 *
 * Over a sealed connection, records are opened before any other code reads their data.
 */
#include <errno.h>
#include <string.h>

#include "common/transport/tcp/tcp.h"
#include "common/util/crc32c.h"
#include "common/util/usermem.h"

static bool peer_writes(const struct tcp_ep *ep)
{
	return ep->rx.frame.op == TCP_OP_WRITE ||
	       ep->rx.frame.op == TCP_OP_WRITE_IMM;
}

/*
 * Breaks the ep because the target memory was deregistered.  If the peer named the memory by its
 * key, the peer made the error; otherwise this side did.
 */
static void target_gone(struct tcp_ep *ep)
{
	if (peer_writes(ep))
		tcp_rx_refuse(ep, -EACCES,
			      "memory deregistered while the peer writes it");
	else
		tcp_rx_refuse(ep, -EFAULT,
			      "memory of a request was deregistered");
}

/*
 * Whether the target is mapped.  The peer often writes application memory, which may be unmapped,
 * because registration does not check that.
 */
static bool is_mapped(struct tcp_ep *ep, unsigned int n)
{
	return !peer_writes(ep) ||
	       !usermem_touch(tcp_ep_dev(ep)->zero_fd, ep->cq->iov, n);
}

/* Copies the staged part of the payload to its place. Returns false if the ep was broken. */
static bool land_staged(struct tcp_ep *ep)
{
	struct tcp_rx *rx = &ep->rx;
	struct tcp_cq *cq = ep->cq;
	uint64_t bytes = rx->end - rx->at;
	unsigned int n;
	int held, rc;

	if (!bytes || !rx->land.left)
		return true;
	n = tp_cursor_iov(&rx->land, cq->iov, TCP_IOV_MAX, &bytes);
	held = tcp_mr_hold(tcp_ep_dev(ep), rx->land.sge, n, cq->held);
	if (held < 0) {
		target_gone(ep);
		return false;
	}
	if (!is_mapped(ep, n)) {
		tcp_mr_release(cq->held, held);
		tcp_rx_refuse(ep, -EFAULT,
			      "memory that the peer writes is not mapped");
		return false;
	}
	rc = tcp_mr_copy_in(cq->held, held, cq->iov, n, rx->stage + rx->at,
			    bytes);
	tcp_mr_release(cq->held, held);
	if (rc) {
		tcp_rx_refuse(ep, rc, "memory of a request went away");
		return false;
	}
	rx->at += (uint32_t)bytes;
	tp_cursor_move(&rx->land, bytes);
	return true;
}

/* Whether this is a frame that a server may send first. */
static bool is_answer(const struct tcp_frame *frame)
{
	return frame->op == TCP_OP_ACCEPT || frame->op == TCP_OP_REJECT ||
	       frame->op == TCP_OP_NAK;
}

/*
 * Breaks the ep because bits of a frame have changed and TCP's checksum did not notice.  Nothing of
 * the frame is used.
 */
static int frame_damaged(struct tcp_ep *ep)
{
	tcp_sock_reset_on_close(ep->fd);
	tcp_ep_lost_because(ep, -EBADMSG, TCP_CHANGED);
	return -EBADMSG;
}

/* Decodes the head at p.  Returns 0, or -errno: the ep was broken. */
static int decode_head(struct tcp_ep *ep, const uint8_t *p,
		       struct tcp_check *check)
{
	struct tcp_rx *rx = &ep->rx;
	const char *why = "covered bytes out of bounds";
	int rc = ep->check_len ? tcp_check_get(p, check) : 0;

	if (rc == -EBADMSG && tcp_must_be_sealed(ep, p[0]))
		return tcp_seal_break(ep, TP_FLAW_BARE);
	if (rc == -EBADMSG)
		return frame_damaged(ep);
	if (!rc)
		rc = tcp_frame_get(p, &rx->frame, &why);
	if (ep->state == TCP_EP_HELLO && (rc || !is_answer(&rx->frame)))
		return tcp_ep_not_pvfs(ep);
	if (!rc && check->covered > rx->frame.len)
		rc = -EPROTO;
	return rc ? tcp_rx_refuse(ep, rc, why) : 0;
}

/*
 * Begins the frame in the stage.  Returns 1: the frame was begun; 0: more bytes are needed;
 * -EAGAIN: the frame must wait for a posted receive or for sealing (tcp_frame_begin()); another
 * -errno: the ep was broken.
 */
static int begin_staged(struct tcp_ep *ep)
{
	struct tcp_rx *rx = &ep->rx;
	uint32_t have = rx->end - rx->at, before = TCP_HEAD_LEN + ep->check_len;
	const uint8_t *p = rx->stage + rx->at;
	struct tcp_check check = { .covered = 0 };
	size_t need;
	int rc;

	if (have < before)
		return 0;
	rc = decode_head(ep, p, &check);
	if (rc)
		return rc;
	need = tcp_frame_need(&rx->frame) + ep->check_len;
	if (have < need + check.covered)
		return 0;
	if (ep->check_len &&
	    crc32c(0, p + before, need - before + check.covered) != check.rest)
		return frame_damaged(ep);
	if (ep->state == TCP_EP_HELLO &&
	    !tcp_hello_is_intact(&rx->frame, p + TCP_HEAD_LEN))
		return frame_damaged(ep);
	rc = tcp_frame_begin(ep, &rx->frame, p + ep->check_len);
	if (rc)
		return rc;
	rx->at += (uint32_t)need;
	rx->landing = true;
	return 1;
}

/*
 * Handles all complete frames in the stage.  Returns true if more bytes are needed; false if the
 * next frame must wait, or the ep was broken.
 */
static bool handle_staged(struct tcp_ep *ep)
{
	struct tcp_rx *rx = &ep->rx;
	int rc;

	for (;;) {
		if (!rx->landing) {
			rc = begin_staged(ep);
			if (rc <= 0)
				return rc == 0;
		}
		if (!land_staged(ep))
			return false;
		if (rx->land.left)
			return true;
		rx->landing = false;
		tcp_frame_end(ep);
	}
}

/* Moves the rest of the stage to its start.  The rest is always the beginning of a frame. */
static void compact_stage(struct tcp_rx *rx)
{
	if (rx->at && rx->end > rx->at)
		memmove(rx->stage, rx->stage + rx->at, rx->end - rx->at);
	rx->end -= rx->at;
	rx->at = 0;
}

/* The kernel stops before unmapped memory; only the next read reports the fault. */
static bool may_be_fault(const struct tcp_ep *ep, int nheld, ssize_t n,
			 uint64_t land)
{
	return n > 0 && (uint64_t)n < land &&
	       (peer_writes(ep) || tcp_mr_any_volatile(ep->cq->held, nheld));
}

/*
 * Reads at most limit bytes of payload. If that completes the frame, also reads ahead. Returns the
 * number of bytes, 0 at the end of file, or -errno. *drained: the socket has no more data now.
 */
static ssize_t read_socket(struct tcp_ep *ep, uint64_t limit, bool *drained)
{
	struct tcp_rx *rx = &ep->rx;
	struct tcp_cq *cq = ep->cq;
	uint64_t land = rx->landing ? limit : 0, want;
	unsigned int niov = 0;
	int held = 0;
	ssize_t n;

	compact_stage(rx);
	if (land) {
		niov = tp_cursor_iov(&rx->land, cq->iov, TCP_IOV_MAX - 1,
				     &land);
		held = tcp_mr_hold(tcp_ep_dev(ep), rx->land.sge, niov,
				   cq->held);
		if (held < 0) {
			target_gone(ep);
			return held;
		}
	}
	want = land;
	if (!rx->landing || land == rx->land.left) {
		cq->iov[niov].iov_base = rx->stage + rx->end;
		cq->iov[niov++].iov_len = TCP_STAGE - rx->end;
		want += TCP_STAGE - rx->end;
	}
	if (niov == 1)
		n = recv(ep->fd, cq->iov->iov_base, cq->iov->iov_len, 0);
	else
		n = readv(ep->fd, cq->iov, (int)niov);
	if (n < 0)
		n = -errno;
	*drained = n < (ssize_t)want && !may_be_fault(ep, held, n, land);
	tcp_mr_release(cq->held, held);
	if (n <= 0)
		return n;
	ep->pulse.heard = true;
	if (land > (uint64_t)n)
		land = (uint64_t)n;
	if (land)
		tp_cursor_move(&rx->land, land);
	rx->end += (uint32_t)((uint64_t)n - land);
	return n;
}

/* Whether read_record() would succeed without reading the socket. */
static bool record_is_ready(const struct tcp_ep *ep)
{
	return tcp_receives_records(ep) && records_in_ready(&ep->seal->in);
}

static int open_next(struct tcp_ep *ep)
{
	struct tcp_rx *rx = &ep->rx;
	struct records_window w = { rx->at, rx->end };
	enum tp_flaw flaw = TP_FLAW_FALSE;
	int rc = records_in_next(&ep->seal->in, ep->seal->sealer, &w, &flaw);

	if (rc == -EBADMSG)
		return tcp_seal_break(ep, flaw);
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

/*
 * Opens the next record, or reads more bytes of it. Returns like recv(), but -errno. *drained: the
 * socket has no more data now.
 */
static ssize_t read_record(struct tcp_ep *ep, bool *drained)
{
	ssize_t n = 1;

	*drained = false;
	if (!record_is_ready(ep))
		n = read_more(ep, drained);
	if (n > 0) {
		int rc = open_next(ep);

		if (rc < 0)
			return rc;
	}
	return n;
}

/* An end of file without BYE: the peer's process ended, or it could not send BYE. */
static void end_of_file(struct tcp_ep *ep)
{
	tcp_seal_check_end(ep);
	if (ep->state == TCP_EP_HELLO && ep->rx.end > ep->rx.at) {
		tcp_ep_not_pvfs(ep);
	} else if (ep->state == TCP_EP_HELLO) {
		log_info(ep->ep.dev->log, "%s: closed before it accepted",
			 ep->peer);
		tcp_ep_break(ep, -ECONNRESET, 0);
	} else if (ep->lost) {
		tcp_ep_lost(ep, ep->lost);
	} else {
		log_info(ep->ep.dev->log, "%s: closed by its process' end",
			 ep->peer);
		tcp_ep_break(ep, 0, 0);
	}
}

/*
 * Reads from the socket.  Returns true if it may have more data, false if there is no more data now
 * or ep is broken.
 */
static bool fill_more(struct tcp_ep *ep, uint64_t *budget)
{
	bool drained;
	ssize_t n = tcp_receives_records(ep)
			    ? read_record(ep, &drained)
			    : read_socket(ep, *budget, &drained);

	if (ep->state == TCP_EP_BROKEN)
		return false;
	if (n > 0) {
		*budget -= (uint64_t)n < *budget ? (uint64_t)n : *budget;
		if (drained && !ep->rx.hup)
			ep->rx.readable = false;
		return true;
	}
	if (n == -EINTR)
		return true;
	if (n == 0)
		end_of_file(ep);
	else if (n == -EAGAIN && !ep->lost)
		ep->rx.readable = false;
	else
		tcp_ep_lost(ep, ep->lost ? ep->lost : (int)n);
	return false;
}

void tcp_recv(struct tcp_ep *ep)
{
	uint64_t budget = TCP_BURST;

	while (handle_staged(ep)) {
		if (!ep->rx.readable && !record_is_ready(ep))
			return;
		if (!budget) {
			tcp_ep_mark_ready(ep);
			return;
		}
		if (!fill_more(ep, &budget))
			return;
	}
	/*
	 * While a frame waits, the socket is not read, so read() does not report a dead peer: check
	 * the socket's error.
	 */
	if (ep->state != TCP_EP_BROKEN && ep->rx.error) {
		int err = 0;
		socklen_t len = sizeof(err);

		getsockopt(ep->fd, SOL_SOCKET, SO_ERROR, &err, &len);
		tcp_ep_lost(ep, err ? -err : -ECONNRESET);
	}
}
