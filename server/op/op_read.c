/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_read.c - READ, from the request to the reply, in this order:
 *
 *   op_read()             opens the object and determines how many bytes are present
 *   read_into_reply()     if the client gave no memory: the data goes into the reply
 *   read_chunk()          otherwise, for each chunk, called by xfer_start() as xfer_ops.begin
 *                         (xfer.c): reads it, unless it lies in a window
 *   send_chunk()          writes it into the client's memory; the reply follows the last chunk
 *   send_reply()          rpc_reply_send() holds the reply back until the last chunk is posted.  If
 *                         all regions end before the end of the object (RPC_WHOLE), the immediate
 *                         of the last RDMA Write may replace the reply (common/comm/serve/bulk.c)
 *   on_chunk_sent()
 *   end_read()            the end of the transfer, also after an error
 *
 * The size of the object when the request begins decides what is sent: all bytes up to the last
 * one, in the order of the regions, that lies before that size.  Bytes beyond the size in an
 * earlier region are sent as zeros.
 */
#include <errno.h>
#include <string.h>

#include "server/op/op_int.h"
#include "server/state/rdma_places.h"
#include "server/xfer/xfer.h"

static int open_object(struct xfer *x, struct object_key key);
static void read_into_reply(struct xfer *x);
static void read_chunk(struct chunk *c);
static void send_chunk(struct chunk *c, int status);
static void end_read(struct xfer *x);

static const struct xfer_ops read_ops = {
	.begin = read_chunk,
	.end = end_read,
};

void op_read(struct worker *w, struct rpc_req *req)
{
	const struct wire_io *body = req->msg.body;
	struct xfer *x = xfer_create(w, req, &read_ops);

	if (!x)
		return;
	x->status = open_object(x, request_key(req, body->handle));
	if (x->status || !x->total)
		end_read(x);
	else if (!x->nmem)
		read_into_reply(x);
	else
		xfer_start(x);
}

/* ---- the object ---- */

/* The bytes of the transfer up to the last one that lies before x->size. */
static uint64_t present_bytes(const struct xfer *x)
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
 * Whether all regions end before the end of the object.  Otherwise the client needs the size in the
 * reply, to know where the file ends.
 */
static bool ends_before_object(const struct xfer *x)
{
	unsigned int i;

	for (i = 0; i < x->nseg; i++)
		if (x->seg[i].off + x->seg[i].len >= x->size)
			return false;
	return true;
}

/* An object that does not exist is empty. */
static int open_object(struct xfer *x, struct object_key key)
{
	struct store_stat st = { 0 };
	int rc;

	rc = store_obj_get(x->worker->iod->store, key, false, &x->obj);
	if (!rc)
		rc = store_obj_stat(x->obj, &st);
	if (rc && rc != -ENOENT)
		return rc;
	x->size = st.size;
	x->mapped = store_whole(&st) && xfer_may_use_windows(x);
	x->total = present_bytes(x);
	x->before_end = ends_before_object(x);
	return 0;
}

/* Small reads count for the sharing of blocks. */
static void note_shared_blocks(struct xfer *x)
{
	if (x->obj && !x->status && !x->broken &&
	    x->total <= BLOCK_PLACE_READ_MAX)
		block_place_note_read(x->worker->iod, x->obj, x->seg, x->nseg,
				      x->size);
}

static void send_error(struct xfer *x)
{
	const struct wire_io *body = x->req->msg.body;
	const struct rpc_session_info *info = rpc_session_info(x->req->session);

	log_warn(x->worker->iod->log, "%s (%s): read of object %016llx: %s",
		 info->peer, info->cred.name,
		 (unsigned long long)le64toh(body->handle),
		 strerror(-x->status));
	rpc_reply_status(x->req, x->status);
}

/* ---- data in the reply ---- */

static void on_reply_filled(struct chunk *c, int status)
{
	struct xfer *x = c->x;

	x->status = status;
	if (status) {
		send_error(x);
	} else {
		rpc_reply_end(x->req, 0, RPC_REEXECUTE);
		rpc_reply_send(x->req);
		note_shared_blocks(x);
	}
	xfer_free(x);
}

static void read_into_reply(struct xfer *x)
{
	struct wire_io_rep rep = { .done = htole64(x->total),
				   .size = htole64(x->size),
				   .data_len = htole32((uint32_t)x->total) };
	struct wire_out *out = rpc_reply_begin(x->req);
	struct chunk *c = &x->chunk[0];

	if (x->total > out->cap - out->len - sizeof(rep)) {
		x->status = -EMSGSIZE;
		end_read(x);
		return;
	}
	wire_put(out, &rep, sizeof(rep));
	c->access.io.obj = x->obj;
	c->access.io.seg = x->seg;
	c->access.io.skip = 0;
	c->access.io.buf = wire_put(out, NULL, (size_t)x->total);
	c->access.io.len = (size_t)x->total;
	chunk_read_file(c, on_reply_filled);
}

/* ---- data in chunks ---- */

static void read_chunk(struct chunk *c)
{
	if (c->nwindow)
		send_chunk(c, 0);
	else
		chunk_read_file(c, send_chunk);
}

static void send_reply(struct xfer *x)
{
	struct wire_io_rep rep = { .done = htole64(x->total),
				   .size = htole64(x->size) };

	op_reply(x->req, &rep, sizeof(rep), NULL, 0,
		 RPC_REEXECUTE | (x->before_end ? RPC_WHOLE : 0));
	x->req = NULL;
}

static void on_chunk_sent(struct rpc_bulk *bulk, int status)
{
	struct chunk *c = bulk->arg;

	if (c->x->req)
		rpc_req_leave(c->x->req, RPC_NETWORK);
	if (status)
		c->x->broken = true;
	xfer_chunk_complete(c, status);
}

/* The reply does not wait for the last chunk: it follows it on the connection. */
static void send_chunk(struct chunk *c, int status)
{
	struct xfer *x = c->x;

	if (!status)
		status = x->status;
	if (!status)
		status = chunk_move_data(c, RPC_PUT, on_chunk_sent);
	if (status) {
		xfer_chunk_complete(c, status);
		return;
	}
	x->started += c->access.io.len;
	if (x->started == x->total)
		send_reply(x);
}

static void end_read(struct xfer *x)
{
	if (x->req && x->broken)
		rpc_req_abort(x->req);
	else if (x->req && x->status)
		send_error(x);
	else if (x->req)
		send_reply(x);
	note_shared_blocks(x);
	xfer_free(x);
}
