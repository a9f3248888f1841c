/* SPDX-License-Identifier: BSD-2-Clause */
/* xfer.c - transfers: their pieces, the order of their chunks, and their end. */
#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "server/xfer/list_share.h"
#include "server/xfer/xfer.h"

#define NO_WINDOWS_MS 2000u
#define MANY_KEPT (16u << 10) /* pieces of memory kept for the next list */

/* ---- creating and freeing ---- */

/* Room for n pieces. */
static int reserve_pieces(struct xfer *x, size_t n)
{
	if (n > WIRE_REGION_MAX && n > x->manymax) {
		free(x->many);
		x->manymax = 0;
		x->many = malloc(n * sizeof(x->many[0]));
		if (!x->many)
			return -ENOMEM;
		x->manymax = n;
	}
	x->seg = n > WIRE_REGION_MAX ? x->many : x->few;
	return 0;
}

static void set_regions(struct xfer *x, const struct wire_region *reg,
			unsigned int n)
{
	struct store_seg *last = NULL;
	uint64_t off, len;
	unsigned int i;

	x->nseg = 0;
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

static int set_list(struct xfer *x, const struct wire_list *body,
		    const struct wire_vec *vec)
{
	int rc = reserve_pieces(x, list_share_pieces(body, vec));

	return rc ? rc : list_share_expand(body, vec, x->seg, &x->nseg);
}

static int set_pieces(struct xfer *x, const struct rpc_req *req)
{
	const struct wire_io *body = req->msg.body;
	uint32_t n = le32toh(body->nreg);
	int rc;

	if (req->op == WIRE_READ_LIST || req->op == WIRE_WRITE_LIST)
		return set_list(x, req->msg.body, req->msg.tail[0].ptr);
	rc = reserve_pieces(x, n);
	if (!rc)
		set_regions(x, req->msg.tail[0].ptr, n);
	return rc;
}

static void init_chunk(struct xfer *x, struct chunk *c)
{
	c->x = x;
	c->busy = false;
	c->buf = NULL;
	c->nwindow = 0;
	c->npiece = 0;
	c->entered = false;
	c->expiry = (struct rpc_timer){ 0 };
}

static struct xfer *alloc_xfer(struct worker *w)
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
	x->deadline = (struct rpc_timer){ 0 };
	x->nchunks = XFER_CHUNKS;
	for (i = 0; i < XFER_CHUNKS; i++)
		init_chunk(x, &x->chunk[i]);
	LIST_INSERT_HEAD(&w->xfers, x, link);
	return x;
}

/* Writes in a copyset take longer, and range locks keep their order, but not at a member. */
static void add_group_chunks(struct xfer *x, unsigned int op)
{
	if (!wire_op_writes(op) || op == WIRE_ORDER)
		return;
	while (x->nchunks < XFER_GROUP_CHUNKS)
		init_chunk(x, &x->chunk[x->nchunks++]);
}

struct xfer *xfer_create(struct worker *w, struct rpc_req *req,
			 const struct xfer_ops *ops)
{
	const struct wire_io *body = req->msg.body;
	struct xfer *x = alloc_xfer(w);
	int rc;

	if (!x) {
		rpc_reply_status(req, -ENOMEM);
		return NULL;
	}
	if (wire_copyset(req->msg.hdr).id)
		add_group_chunks(x, req->op);
	x->ops = ops;
	x->worker = w;
	x->ses = session_of(req);
	session_work_begin(x->ses);
	x->zones = w->zones;
	x->owner = &x->ses->owner;
	x->req = req;
	x->obj = NULL;
	x->dirty = NULL;
	x->mem = req->msg.tail[1].ptr;
	x->nmem = le32toh(body->nmem);
	x->write = false;
	x->mapped = false;
	x->broken = false;
	x->filling = false;
	x->wait.owner = NULL;
	x->status = 0;
	x->busy = 0;
	x->total = le64toh(body->total);
	x->next = 0;
	x->started = 0;
	x->windows_end = 0;
	x->writing = NULL;
	x->seg_at = 0;
	x->skip = 0;
	rc = set_pieces(x, req);
	if (!rc)
		return x;
	rpc_reply_status(req, rc);
	xfer_free(x);
	return NULL;
}

/*
 * If a truncation cut a window, the connection may have broken.  So after a lost connection,
 * repeated requests use buffers for a while; otherwise further truncations could stop them
 * repeatedly.
 */
bool xfer_may_use_windows(const struct xfer *x)
{
	return clock_now() >= x->ses->no_windows_until;
}

bool xfer_has_many_pieces(const struct xfer *x)
{
	return x->nseg >= WINDOW_PIECES;
}

void xfer_free(struct xfer *x)
{
	struct iod_session *ses = x->ses;

	if (x->broken)
		ses->no_windows_until = clock_after_ms(NO_WINDOWS_MS);
	if (x->obj)
		store_obj_put(x->obj);
	rpc_timer_clear(x->worker->ctx, &x->deadline);
	LIST_REMOVE(x, link);
	if (x->manymax > MANY_KEPT) {
		free(x->many);
		x->many = NULL;
		x->manymax = 0;
	}
	LIST_INSERT_HEAD(&x->worker->spare, x, link);
	session_work_end(ses);
}

void xfer_free_all(struct worker *w)
{
	struct xfer *x;
	unsigned int i;

	while ((x = LIST_FIRST(&w->xfers))) {
		for (i = 0; i < x->nchunks; i++)
			chunk_unmap(&x->chunk[i]);
		xfer_free(x);
	}
	while ((x = LIST_FIRST(&w->spare))) {
		LIST_REMOVE(x, link);
		free(x->many);
		free(x);
	}
}

/* ---- waiting for a buffer ---- */

static void stop_waiting_for_buffer(struct xfer *x)
{
	if (x->wait.owner)
		rpc_req_leave(x->req, RPC_BUFFER);
	zone_wait_cancel(x->zones, &x->wait);
	rpc_timer_clear(x->worker->ctx, &x->deadline);
}

static void xfer_stop(struct xfer *x, int status)
{
	stop_waiting_for_buffer(x);
	if (!x->status)
		x->status = status;
	if (!x->busy)
		x->ops->end(x);
}

void xfer_stop_session(struct worker *w, const struct iod_session *ses,
		       int status)
{
	struct xfer *x = LIST_FIRST(&w->xfers);

	while (x) {
		if (x->ses == ses && x->wait.owner) {
			xfer_stop(x, status);
			x = LIST_FIRST(&w->xfers);
		} else {
			x = LIST_NEXT(x, link);
		}
	}
}

/* The deadline has passed while the transfer waited for a buffer. */
static void on_deadline(struct rpc_timer *timer)
{
	xfer_stop(container_of(timer, struct xfer, deadline), -ETIMEDOUT);
}

/* Advances by len bytes of the regions. */
static void advance_position(struct xfer *x, uint64_t len)
{
	uint64_t left;

	x->next += len;
	while (len) {
		left = x->seg[x->seg_at].len - x->skip;
		if (len < left) {
			x->skip += len;
			return;
		}
		len -= left;
		x->seg_at++;
		x->skip = 0;
	}
}

static struct chunk *unused_chunk(struct xfer *x)
{
	struct chunk *c = x->chunk;

	while (c->busy)
		c++;
	return c;
}

static void start_chunk(struct xfer *x, struct chunk *c, void *buf,
			uint64_t room, struct rail_mem *mem)
{
	uint64_t left = x->total - x->next;

	c->busy = true;
	c->arrived = false;
	c->started = false;
	c->pos = x->next;
	c->access.mem = mem;
	c->access.io.obj = x->obj;
	c->access.io.seg = &x->seg[x->seg_at];
	c->access.io.skip = x->skip;
	c->access.io.buf = buf;
	c->access.io.len = (size_t)(left < room ? left : room);
	x->busy++;
	advance_position(x, c->access.io.len);
	x->ops->begin(c);
}

/* The bytes of the next chunk, if a buffer of that size is free. */
static size_t next_chunk_bytes(const struct xfer *x)
{
	uint64_t left = x->total - x->next;
	size_t unit = x->worker->iod->conf.unit_size;

	return left < unit ? (size_t)left : unit;
}

static void start_chunk_in_buffer(struct xfer *x, struct zone_buf *buf)
{
	const struct store_seg *seg = &x->seg[x->seg_at];
	uint64_t len = seg->len - x->skip;
	struct chunk *c = unused_chunk(x);
	size_t room = next_chunk_bytes(x);

	if (room > buf->len)
		room = buf->len;
	if (x->mapped)
		window_note(&x->worker->windows, x->obj, seg->off + x->skip,
			    len < room ? len : room);
	c->buf = buf;
	start_chunk(x, c, buf->addr, room, buf->mem);
}

/* Starts a chunk in windows of the object.  False: the next piece lies in no window. */
static bool start_chunk_in_windows(struct xfer *x)
{
	struct chunk *c = unused_chunk(x);
	uint64_t len = chunk_map(c);

	if (len)
		start_chunk(x, c, NULL, len, NULL);
	return len;
}

static bool has_no_more_chunks(const struct xfer *x)
{
	return x->status || x->next == x->total;
}

/*
 * Starts chunks up to the limit.  If buf is not NULL, the first one uses it.  If a chunk fails at
 * once, the transfer ends after the loop, not inside it.
 */
static void start_chunks(struct xfer *x, struct zone_buf *buf)
{
	x->filling = true;
	if (buf)
		start_chunk_in_buffer(x, buf);
	while (!has_no_more_chunks(x) && x->busy < x->nchunks) {
		if (x->mapped && start_chunk_in_windows(x))
			continue;
		buf = zone_get_wait(x->zones, x->owner, next_chunk_bytes(x),
				    &x->wait);
		if (!buf) {
			rpc_req_enter(x->req, RPC_BUFFER);
			x->deadline.fire = on_deadline;
			rpc_timer_set(x->worker->ctx, &x->deadline,
				      x->req->deadline);
			break;
		}
		start_chunk_in_buffer(x, buf);
	}
	x->filling = false;
	if (has_no_more_chunks(x) && !x->busy)
		x->ops->end(x);
}

/* After the deadline the client may have freed its memory, so no data may be moved. */
static void on_buffer(struct zone_wait *wait, struct zone_buf *buf)
{
	struct xfer *x = container_of(wait, struct xfer, wait);

	rpc_req_leave(x->req, RPC_BUFFER);
	rpc_timer_clear(x->worker->ctx, &x->deadline);
	if (!rpc_req_late(x->req)) {
		start_chunks(x, buf);
		return;
	}
	zone_put(x->zones, buf);
	xfer_stop(x, -ETIMEDOUT);
}

void xfer_start(struct xfer *x)
{
	x->wait.ready = on_buffer;
	start_chunks(x, NULL);
}

void xfer_restart(struct xfer *x)
{
	x->next = 0;
	x->seg_at = 0;
	x->skip = 0;
	start_chunks(x, NULL);
}

/* If the transfer waits for a buffer, zone_put() may start its next chunk. */
void xfer_chunk_complete(struct chunk *c, int status)
{
	struct xfer *x = c->x;
	struct zones *zones = x->zones;
	struct zone_buf *buf = c->buf;
	bool waits;

	chunk_unmap(c);
	c->buf = NULL;
	c->busy = false;
	x->busy--;
	if (status && !x->status) {
		x->status = status;
		stop_waiting_for_buffer(x);
	}
	waits = x->filling || x->wait.owner;
	if (buf)
		zone_put(zones, buf);
	if (!waits)
		start_chunks(x, NULL);
}
