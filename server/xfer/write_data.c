/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * write_data.c - moves the bytes of a write to the object, in this order:
 *
 *   xfer_write_message_data()  if the data came with the request: writes it from where it is
 *   xfer_write_chunks()        otherwise
 *   xfer_fetch_chunk()         for each chunk, called by xfer_start() as xfer_ops.begin (xfer.c):
 *                              fetches it from the client into a buffer, or straight into a window
 *                              of bytes that are overwritten
 *   on_chunk_arrived()
 *   write_chunk()              writes a buffer to the file: chunk_write_file() (chunk.c),
 *                              change_start() (copyset/change.c), file_access_write()
 *                              (state/file_access.c), pieces_write() with the gate
 *                              (store/engine.c), store_obj_write() (store/object.c)
 *   on_chunk_written()
 *   xfer_ops.end               all chunks are done, also after an error
 */
#include <errno.h>

#include "server/xfer/xfer.h"

static void write_chunk(struct chunk *c);

/* ---- data that came with the request ---- */

static void on_message_data_written(struct chunk *c, int status)
{
	c->x->status = status;
	c->x->ops->end(c->x);
}

bool xfer_write_message_data(struct xfer *x)
{
	const void *data = rpc_req_data(x->req);
	struct chunk *c = &x->chunk[0];

	if (!data && x->nmem)
		return false;
	if (!data)
		data = x->req->msg.tail[2].ptr;
	c->access.io.obj = x->obj;
	c->access.io.seg = x->seg;
	c->access.io.skip = 0;
	c->access.io.buf = (void *)(uintptr_t)data;
	c->access.io.len = (size_t)x->total;
	c->access.mem = NULL;
	chunk_write_file(c, on_message_data_written);
	return true;
}

/* ---- data in chunks ---- */

void xfer_write_chunks(struct xfer *x)
{
	x->write = true;
	xfer_start(x);
}

/*
 * The next chunk to write to the file: the first in the order of the list that has not started,
 * other than `except`.  NULL: its bytes have not arrived.
 */
static struct chunk *next_chunk_to_write(struct xfer *x,
					 const struct chunk *except)
{
	struct chunk *first = NULL, *c;

	for (c = x->chunk; c < x->chunk + x->nchunks; c++) {
		if (c->busy && !c->started && c != except &&
		    (!first || c->pos < first->pos))
			first = c;
	}
	return first && first->arrived ? first : NULL;
}

static bool in_group(const struct xfer *x)
{
	return x->nchunks > XFER_CHUNKS;
}

/* Their range locks (group_change.h) keep the order in which they start. */
static void write_group_chunks(struct xfer *x)
{
	struct chunk *c;

	while ((c = next_chunk_to_write(x, NULL)))
		write_chunk(c);
}

/* The chunk was written to the file, or need not be. */
static void on_chunk_written(struct chunk *c, int status)
{
	struct xfer *x = c->x;
	struct chunk *next = NULL;

	c->started = true;
	if (in_group(x))
		write_group_chunks(x);
	else if (!x->writing || x->writing == c)
		x->writing = next = next_chunk_to_write(x, c);
	xfer_chunk_complete(c, status);
	if (next)
		write_chunk(next);
}

static void on_chunk_arrived(struct rpc_bulk *bulk, int status)
{
	struct chunk *c = bulk->arg;

	rpc_req_leave(c->x->req, RPC_NETWORK);
	if (status) {
		c->x->broken = true;
		on_chunk_written(c, status);
	} else if (c->nwindow) {
		on_chunk_written(c, c->x->ses->fenced ? -ESTALE : 0);
	} else {
		c->arrived = true;
		if (in_group(c->x))
			write_group_chunks(c->x);
		else if (!c->x->writing && next_chunk_to_write(c->x, NULL) == c)
			write_chunk(c);
	}
}

void xfer_fetch_chunk(struct chunk *c)
{
	int rc = c->nwindow ? chunk_enter_gate(c) : 0;

	if (!rc)
		rc = chunk_move_data(c, RPC_GET, on_chunk_arrived);
	if (rc)
		xfer_chunk_complete(c, rc);
}

/*
 * Chunks are written one at a time, in the order of the list, because their pieces may overlap.
 * In a copyset with several members, range locks keep this order, so they are in flight together.
 * If the client moves some of them (rpc_bulk.lend), they may arrive in another order.
 */
static void write_chunk(struct chunk *c)
{
	struct xfer *x = c->x;

	x->writing = c;
	c->started = true;
	if (x->status || x->ses->fenced)
		on_chunk_written(c, -ESTALE);
	else
		chunk_write_file(c, on_chunk_written);
}
