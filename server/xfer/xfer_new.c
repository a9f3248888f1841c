/* SPDX-License-Identifier: BSD-2-Clause */
/* xfer_new.c - makes transfers for requests, and frees them. */
#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "server/xfer/list.h"
#include "server/xfer/xfer.h"

#define SHY_MS 2000u
#define MANY_KEPT (16u << 10) /* pieces of memory kept for the next list */

static void regions(struct xfer *x, const struct wire_region *reg,
		    unsigned int n)
{
	struct store_seg *last = NULL;
	uint64_t off, len;
	unsigned int i;

	x->nseg = 0;
	x->seg = x->few;
	for (i = 0; i < n; i++) {
		off = le64toh(reg[i].off);
		len = le64toh(reg[i].len);
		if (!len)
			continue;
		if (last && last->off + last->len == off) {
			last->len += len;
			continue;
		}
		last = &x->seg[x->nseg++];
		last->off = off;
		last->len = len;
	}
}

static int list(struct xfer *x, const struct wire_list *body,
		const struct wire_vec *vec)
{
	size_t n = list_pieces(body, vec);

	if (n > WIRE_REGION_MAX && n > x->manymax) {
		free(x->many);
		x->manymax = 0;
		x->many = malloc(n * sizeof(x->many[0]));
		if (!x->many)
			return -ENOMEM;
		x->manymax = n;
	}
	x->seg = n > WIRE_REGION_MAX ? x->many : x->few;
	return list_expand(body, vec, x->seg, &x->nseg);
}

static int pieces(struct xfer *x, const struct rpc_req *req)
{
	const struct wire_io *body = req->msg.body;

	if (req->op == WIRE_READ_LIST || req->op == WIRE_WRITE_LIST)
		return list(x, req->msg.body, req->msg.tail[0].ptr);
	regions(x, req->msg.tail[0].ptr, le32toh(body->nreg));
	return 0;
}
static struct xfer *xfer_alloc(struct worker *w)
{
	struct xfer *x = LIST_FIRST(&w->spare);
	unsigned int i;

	if (x) {
		LIST_REMOVE(x, link);
	} else {
		x = malloc(sizeof(*x));
		if (!x)
			return NULL;
		x->many = NULL;
		x->manymax = 0;
	}
	x->late = (struct rpc_timer){ 0 };
	for (i = 0; i < XFER_CHUNKS; i++) {
		x->chunk[i].x = x;
		x->chunk[i].busy = false;
		x->chunk[i].buf = NULL;
		x->chunk[i].nwindow = 0;
		x->chunk[i].npiece = 0;
		x->chunk[i].entered = false;
		x->chunk[i].overdue = (struct rpc_timer){ 0 };
	}
	LIST_INSERT_HEAD(&w->xfers, x, link);
	return x;
}

struct xfer *xfer_new(struct worker *w, struct rpc_req *req,
		      const struct xfer_ops *ops)
{
	const struct wire_io *body = req->msg.body;
	struct xfer *x = xfer_alloc(w);
	int rc;

	if (!x) {
		rpc_reply_status(req, -ENOMEM);
		return NULL;
	}
	x->ops = ops;
	x->worker = w;
	x->ses = session_of(req);
	session_begin(x->ses);
	x->req = req;
	x->obj = NULL;
	x->mark = NULL;
	x->mem = req->msg.tail[1].ptr;
	x->nmem = le32toh(body->nmem);
	x->write = false;
	x->mapped = false;
	x->broken = false;
	x->held = false;
	x->wait.owner = NULL;
	x->status = 0;
	x->busy = 0;
	x->total = le64toh(body->total);
	x->next = 0;
	x->started = 0;
	x->direct = 0;
	x->filing = NULL;
	x->seg_at = 0;
	x->skip = 0;
	rc = pieces(x, req);
	if (!rc)
		return x;
	rpc_reply_status(req, rc);
	xfer_free(x);
	return NULL;
}

/*
 * If a connection broke, a truncation may have cut a window.  The repeated request uses
 * buffers, so that further truncations cannot stop it again and again.
 */
bool xfer_windows(const struct xfer *x)
{
	return clock_now() >= x->ses->shy_until;
}

void xfer_free(struct xfer *x)
{
	struct iod_session *ses = x->ses;

	if (x->broken)
		ses->shy_until = clock_after_ms(SHY_MS);
	if (x->obj)
		store_obj_put(x->obj);
	rpc_timer_clear(x->worker->ctx, &x->late);
	LIST_REMOVE(x, link);
	if (x->manymax > MANY_KEPT) {
		free(x->many);
		x->many = NULL;
		x->manymax = 0;
	}
	LIST_INSERT_HEAD(&x->worker->spare, x, link);
	session_finish(ses);
}

void xfer_free_all(struct worker *w)
{
	struct xfer *x;
	unsigned int i;

	while ((x = LIST_FIRST(&w->xfers))) {
		for (i = 0; i < XFER_CHUNKS; i++)
			chunk_unmap(&x->chunk[i]);
		xfer_free(x);
	}
	while ((x = LIST_FIRST(&w->spare))) {
		LIST_REMOVE(x, link);
		free(x->many);
		free(x);
	}
}
