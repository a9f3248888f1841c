/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_write.c - WRITE, from the request to the reply, in this order:
 *
 *   op_write()            checks the deadline and repetitions, and opens the object
 *   xfer_write_message_data(), xfer_write_chunks()
 *                         move and write the bytes (xfer/write_data.c)
 *   end_transfer()        all chunks are done, also after an error
 *   end_write()           flushes the object if this is wanted
 *   send_reply()
 */
#include <errno.h>
#include <string.h>

#include "common/util/container.h"
#include "server/op/op_int.h"
#include "server/xfer/xfer.h"

static bool may_use_windows(const struct xfer *x);
static void end_transfer(struct xfer *x);
static void end_write(struct xfer *x);
static void send_reply(struct xfer *x);

static const struct xfer_ops write_ops = {
	.begin = xfer_fetch_chunk,
	.end = end_transfer,
};

void op_write(struct worker *w, struct rpc_req *req)
{
	const struct wire_io *body = req->msg.body;
	struct object_key key = request_key(req, body->handle);
	struct xfer *x = xfer_create(w, req, &write_ops);

	if (!x)
		return;
	x->status = change_check(w->iod, req, key, x->seg, x->nseg);
	if (!x->status && x->total)
		x->status = change_open_object(w->iod, key, &x->obj);
	if (x->status || !x->total) {
		end_transfer(x);
		return;
	}
	x->dirty = dirty_objects_write_begin(&x->ses->dirty, w->iod->store,
					     key);
	if (xfer_write_message_data(x))
		return;
	x->mapped = may_use_windows(x);
	xfer_write_chunks(x);
}

/* ---- windows ---- */

/*
 * Whether windows can be used.  The object must belong to this iod alone.  The range must need no new space and lie in memory.  Its pieces
 * must not overlap, because windows are filled in any order.  Small pieces in an object with holes
 * are rejected without a search, because mapping them would fill the holes.
 */
static bool may_use_windows(const struct xfer *x)
{
	struct store_stat st;
	uint64_t end = 0;
	unsigned int i;

	if (!x->worker->windows.memory || !xfer_may_use_windows(x) ||
	    !object_key_is_own(store_obj_key(x->obj)) ||
	    store_obj_stat(x->obj, &st))
		return false;
	/* because the search for holes may block */
	if (!store_whole(&st) && loan_object_has_writer(x->worker->iod->loans,
							store_obj_key(x->obj)))
		return false;
	if (x->total / x->nseg < WINDOW_MIN &&
	    !(xfer_has_many_pieces(x) && store_whole(&st)))
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

/* ---- the end of the transfer ---- */

/*
 * Completes a write through windows.  If a concurrent truncation cut the object below the
 * written range, redoes the whole write through buffers.  Returns true if it is being redone.
 */
static bool redo_if_truncated(struct xfer *x, int rc)
{
	struct store_stat st;

	if (!rc)
		rc = store_obj_stat(x->obj, &st);
	if (!x->status)
		x->status = rc;
	if (x->broken || x->status || st.size >= x->windows_end)
		return false;
	x->windows_end = 0;
	x->mapped = false;
	xfer_restart(x);
	return true;
}

static int touch_object(struct file_access *access)
{
	return store_obj_touch(access->io.obj);
}

static void touch_complete(struct chunk *c, int rc)
{
	if (!redo_if_truncated(c->x, rc))
		end_write(c->x);
}

/* The kernel sets no modification time for writes through windows. */
static void end_transfer(struct xfer *x)
{
	struct chunk *c = &x->chunk[0];

	if (!x->windows_end)
		end_write(x);
	else if (loan_object_is_busy(x->worker->iod->loans,
				     store_obj_key(x->obj)))
		chunk_run_in_pool(c, touch_object, touch_complete);
	else
		touch_complete(c, touch_object(&c->access));
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

static void flush_complete(struct change_flush *f, int status)
{
	struct xfer *x = container_of(f, struct xfer, flush);

	x->status = status;
	send_reply(x);
}

static void end_write(struct xfer *x)
{
	const struct wire_io *body = x->req->msg.body;
	struct iod *iod = x->worker->iod;

	dirty_object_write_end(x->dirty);
	if (x->broken) {
		rpc_req_abort(x->req);
		xfer_free(x);
		return;
	}
	if (x->status)
		log_failure(x);
	if (x->status || !x->total ||
	    !(iod->conf.sync || le32toh(body->flags) & WIRE_IO_SYNC)) {
		send_reply(x);
		return;
	}
	x->flush.done = flush_complete;
	x->flush.req = x->req;
	change_flush_start(&x->flush, x->ses, x->obj);
}

static void send_reply(struct xfer *x)
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
