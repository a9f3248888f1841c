/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_write.c - WRITE.  Data that came with the request is written from where it is.  Other data
 * the iod fetches from the client in chunks: into a buffer and from there to the file, or
 * straight into a window of bytes that are overwritten.
 */
#include <errno.h>
#include <string.h>

#include "common/util/container.h"
#include "server/op/op.h"
#include "server/xfer/xfer.h"

static void write_answer(struct xfer *x)
{
	struct store_stat st = { 0 };
	struct wire_io_rep rep = { 0 };
	int rc = x->status;

	if (!rc && x->obj)
		rc = store_obj_stat(x->obj, &st);
	if (rc) {
		rpc_reply_status(x->req, rc);
	} else {
		rep.done = htole64(x->total);
		rep.size = htole64(st.size);
		op_reply(x->req, &rep, sizeof(rep), NULL, 0, 0);
	}
	xfer_free(x);
}

static void flushed(struct flushing *f, int status)
{
	struct xfer *x = container_of(f, struct xfer, flush);

	x->status = status;
	write_answer(x);
}

static void log_failure(struct xfer *x)
{
	const struct wire_io *body = x->req->msg.body;
	const struct rpc_session_info *info = rpc_session_info(x->req->session);

	log_msg(x->worker->iod->log,
		x->status == -EIO ? LOG_LV_ERROR : LOG_LV_WARN,
		"%s (%s): write of %llu bytes to object %016llx: %s",
		info->peer, info->cred.name, (unsigned long long)x->total,
		(unsigned long long)le64toh(body->handle),
		strerror(-x->status));
}

/*
 * Completes a write through windows.  If a concurrent truncation cut the object below the
 * written range, redoes the whole write through buffers.  Returns true if it is being redone.
 */
static bool settle(struct xfer *x, int rc)
{
	struct store_stat st;

	if (!rc)
		rc = store_obj_stat(x->obj, &st);
	if (!x->status)
		x->status = rc;
	if (x->broken || x->status || st.size >= x->direct)
		return false;
	x->direct = 0;
	x->mapped = false;
	xfer_again(x);
	return true;
}

static void write_over(struct xfer *x)
{
	const struct wire_io *body = x->req->msg.body;
	struct iod *iod = x->worker->iod;

	mark_written(x->mark);
	if (x->broken) {
		rpc_req_abort(x->req);
		xfer_free(x);
		return;
	}
	if (x->status)
		log_failure(x);
	if (x->status || !x->total ||
	    !(iod->conf.sync || le32toh(body->flags) & WIRE_IO_SYNC)) {
		write_answer(x);
		return;
	}
	x->flush.done = flushed;
	x->flush.req = x->req;
	flushing_start(&x->flush, x->ses, x->obj);
}

static int touch(struct chunk *c)
{
	return store_obj_touch(c->x->obj);
}

static void touched(struct chunk *c, int rc)
{
	if (!settle(c->x, rc))
		write_over(c->x);
}

static void write_end(struct xfer *x)
{
	if (!x->direct)
		write_over(x);
	else if (loan_object_is_busy(x->worker->iod->loans,
				     store_obj_handle(x->obj)))
		chunk_apart(&x->chunk[0], touch, touched);
	else
		touched(&x->chunk[0], touch(&x->chunk[0]));
}

/*
 * The next chunk to write to the file: the first in the order of the list, other than gone.
 * NULL: its bytes have not arrived.
 */
static struct chunk *next_behind(struct xfer *x, const struct chunk *gone)
{
	struct chunk *first = NULL, *c;

	for (c = x->chunk; c < x->chunk + XFER_CHUNKS; c++) {
		if (c->busy && c != gone && (!first || c->pos < first->pos))
			first = c;
	}
	return first && first->got ? first : NULL;
}

static void land(struct chunk *c);

/* The chunk was written to the file, or need not be. */
static void landed(struct chunk *c, int status)
{
	struct xfer *x = c->x;
	struct chunk *next = NULL;

	if (!x->filing || x->filing == c)
		x->filing = next = next_behind(x, c);
	chunk_done(c, status);
	if (next)
		land(next);
}

/*
 * Chunks are written one at a time, in the order of the list, because their pieces may overlap.
 * If the client moves some of them (rpc_bulk.lend), they may arrive in another order.
 */
static void land(struct chunk *c)
{
	struct xfer *x = c->x;

	x->filing = c;
	if (x->status || x->ses->fenced)
		landed(c, -ESTALE);
	else
		chunk_file(c, true, landed);
}

static void write_got(struct rpc_bulk *bulk, int status)
{
	struct chunk *c = bulk->arg;

	rpc_req_leave(c->x->req, RPC_NETWORK);
	if (status) {
		c->x->broken = true;
		landed(c, status);
	} else if (c->nwindow) {
		landed(c, c->x->ses->fenced ? -ESTALE : 0);
	} else {
		c->got = true;
		if (!c->x->filing && next_behind(c->x, NULL) == c)
			land(c);
	}
}

static void write_begin(struct chunk *c)
{
	int rc = c->nwindow ? chunk_enter(c) : 0;

	if (!rc)
		rc = chunk_bulk(c, RPC_GET, write_got);
	if (rc)
		chunk_done(c, rc);
}

static const struct xfer_ops write_ops = {
	.begin = write_begin,
	.end = write_end,
};

static void inline_filed(struct chunk *c, int status)
{
	c->x->status = status;
	write_end(c->x);
}

static void write_inline(struct xfer *x)
{
	const void *data = rpc_req_data(x->req);
	struct chunk *c = &x->chunk[0];

	if (!data)
		data = x->req->msg.tail[2].ptr;
	c->io.obj = x->obj;
	c->io.seg = x->seg;
	c->io.skip = 0;
	c->io.buf = (void *)(uintptr_t)data;
	c->io.len = (size_t)x->total;
	chunk_file(c, true, inline_filed);
}

/*
 * True: windows can be used.  The range needs no new space and lies in memory.  The pieces do
 * not overlap, because windows are filled in any order.  Small pieces in an object with holes
 * are not looked up: mapping them would fill the holes.
 */
static bool overwrites(const struct xfer *x)
{
	struct store_stat st;
	uint64_t end = 0;
	unsigned int i;

	if (!x->worker->windows.memory || !xfer_windows(x) ||
	    store_obj_stat(x->obj, &st))
		return false;
	/* because the search for holes may block */
	if (!store_whole(&st) &&
	    loan_object_has_writer(x->worker->iod->loans,
				   store_obj_handle(x->obj)))
		return false;
	if (x->total / x->nseg < WINDOW_MIN &&
	    !(xfer_fine(x) && store_whole(&st)))
		return false;
	for (i = 0; i < x->nseg; i++) {
		if (x->seg[i].off < end ||
		    !store_obj_present(x->obj, &st, x->seg[i].off,
				       x->seg[i].len))
			return false;
		end = x->seg[i].off + x->seg[i].len;
	}
	return true;
}

static void write_bulk(struct xfer *x)
{
	x->write = true;
	x->mapped = overwrites(x);
	xfer_run(x);
}

void op_write(struct worker *w, struct rpc_req *req)
{
	const struct wire_io *body = req->msg.body;
	struct xfer *x = xfer_new(w, req, &write_ops);

	if (!x)
		return;
	x->status = change_may(w->iod, req, le64toh(body->handle), x->seg,
			       x->nseg);
	if (!x->status && x->total)
		x->status = change_make(w->iod, le64toh(body->handle), &x->obj);
	if (x->status || !x->total) {
		write_end(x);
		return;
	}
	x->mark = marks_write(&x->ses->marks, w->iod->store,
			      le64toh(body->handle));
	if (!x->nmem || rpc_req_data(req))
		write_inline(x);
	else
		write_bulk(x);
}
