/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_read.c - READ.  Small data is sent in the reply.  Larger data the iod writes into the
 * client's memory in chunks; the reply follows the last one.
 *
 * The size of the object when the request begins decides what is sent: all bytes up to the last
 * one, in the order of the regions, that lies before that size.  Bytes beyond the size in an
 * earlier region are sent as zeros.
 */
#include <errno.h>
#include <string.h>

#include "server/op/op.h"
#include "server/state/shares.h"
#include "server/xfer/xfer.h"

static void read_answer(struct xfer *x)
{
	struct wire_io_rep rep = { .done = htole64(x->total),
				   .size = htole64(x->size) };

	op_reply(x->req, &rep, sizeof(rep), NULL, 0,
		 RPC_REEXECUTE | (x->inside ? RPC_WHOLE : 0));
	x->req = NULL;
}

static void read_fail(struct xfer *x)
{
	const struct wire_io *body = x->req->msg.body;
	const struct rpc_session_info *info = rpc_session_info(x->req->session);

	log_warn(x->worker->iod->log, "%s (%s): read of object %016llx: %s",
		 info->peer, info->cred.name,
		 (unsigned long long)le64toh(body->handle),
		 strerror(-x->status));
	rpc_reply_status(x->req, x->status);
}

/* Small reads count for the sharing of blocks (share.h). */
static void seen(struct xfer *x)
{
	if (x->obj && !x->status && !x->broken && x->total <= SHARES_READ_MAX)
		shares_seen(x->worker->iod, x->obj, x->seg, x->nseg, x->size);
}

static void read_end(struct xfer *x)
{
	if (x->req && x->broken)
		rpc_req_abort(x->req);
	else if (x->req && x->status)
		read_fail(x);
	else if (x->req)
		read_answer(x);
	seen(x);
	xfer_free(x);
}

static void read_put(struct rpc_bulk *bulk, int status)
{
	struct chunk *c = bulk->arg;

	if (c->x->req)
		rpc_req_leave(c->x->req, RPC_NETWORK);
	if (status)
		c->x->broken = true;
	chunk_done(c, status);
}

static void read_filed(struct chunk *c, int status)
{
	struct xfer *x = c->x;

	if (!status)
		status = x->status;
	if (!status)
		status = chunk_bulk(c, RPC_PUT, read_put);
	if (status) {
		chunk_done(c, status);
		return;
	}
	x->started += c->io.len;
	if (x->started == x->total)
		read_answer(x);
}

static void read_begin(struct chunk *c)
{
	if (c->nwindow)
		read_filed(c, 0);
	else
		chunk_file(c, false, read_filed);
}

static const struct xfer_ops read_ops = {
	.begin = read_begin,
	.end = read_end,
};

static void inline_filed(struct chunk *c, int status)
{
	struct xfer *x = c->x;

	x->status = status;
	if (status) {
		read_fail(x);
	} else {
		rpc_reply_end(x->req, 0, RPC_REEXECUTE);
		rpc_reply_send(x->req);
		seen(x);
	}
	xfer_free(x);
}

/* Reads directly into the reply. */
static void read_inline(struct xfer *x)
{
	struct wire_io_rep rep = { .done = htole64(x->total),
				   .size = htole64(x->size),
				   .data_len = htole32((uint32_t)x->total) };
	struct wire_out *out = rpc_reply_begin(x->req);
	struct chunk *c = &x->chunk[0];

	if (x->total > out->cap - out->len - sizeof(rep)) {
		x->status = -EMSGSIZE;
		read_end(x);
		return;
	}
	wire_put(out, &rep, sizeof(rep));
	c->io.obj = x->obj;
	c->io.seg = x->seg;
	c->io.skip = 0;
	c->io.buf = wire_put(out, NULL, (size_t)x->total);
	c->io.len = (size_t)x->total;
	chunk_file(c, false, inline_filed);
}

/* The bytes of the transfer up to the last one that lies before x->size. */
static uint64_t present(const struct xfer *x)
{
	const struct store_seg *seg = x->seg;
	uint64_t pos = 0, end = 0;
	unsigned int i;

	for (i = 0; i < x->nseg; i++, pos += seg->len, seg++)
		if (seg->off < x->size)
			end = pos + (seg->len < x->size - seg->off
					     ? seg->len
					     : x->size - seg->off);
	return end;
}

/*
 * True: all regions end before the end of the object.  Otherwise the client needs the size in
 * the reply, to know where the file ends.
 */
static bool goes_on(const struct xfer *x)
{
	unsigned int i;

	for (i = 0; i < x->nseg; i++)
		if (x->seg[i].off + x->seg[i].len >= x->size)
			return false;
	return true;
}

static int read_open(struct xfer *x, uint64_t handle)
{
	struct store_stat st = { 0 };
	int rc;

	rc = store_obj_get(x->worker->iod->store, handle, false, &x->obj);
	if (!rc)
		rc = store_obj_stat(x->obj, &st);
	if (rc && rc != -ENOENT)
		return rc;
	x->size = st.size;
	x->mapped = store_whole(&st) && xfer_windows(x);
	x->total = present(x);
	x->inside = goes_on(x);
	return 0;
}

void op_read(struct worker *w, struct rpc_req *req)
{
	const struct wire_io *body = req->msg.body;
	struct xfer *x = xfer_new(w, req, &read_ops);

	if (!x)
		return;
	x->status = read_open(x, le64toh(body->handle));
	if (x->status || !x->total)
		read_end(x);
	else if (!x->nmem)
		read_inline(x);
	else
		xfer_run(x);
}
