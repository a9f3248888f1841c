/* SPDX-License-Identifier: BSD-2-Clause */
/* xfer.c - transfers and their chunks. */
#include <errno.h>
#include <stdlib.h>

#include "common/util/container.h"
#include "server/xfer/xfer.h"

static void stop_waiting(struct xfer *x)
{
	if (x->wait.owner)
		rpc_req_leave(x->req, RPC_BUFFER);
	zone_wait_cancel(x->worker->zones, &x->wait);
	rpc_timer_clear(x->worker->ctx, &x->late);
}

static void xfer_stop(struct xfer *x, int status)
{
	stop_waiting(x);
	if (!x->status)
		x->status = status;
	if (!x->busy)
		x->ops->end(x);
}

void xfer_stop_all(struct worker *w, const struct iod_session *ses, int status)
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
static void too_late(struct rpc_timer *timer)
{
	xfer_stop(container_of(timer, struct xfer, late), -ETIMEDOUT);
}

/* Advances by len bytes of the regions. */
static void advance(struct xfer *x, uint64_t len)
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

static struct chunk *idle_chunk(struct xfer *x)
{
	return x->chunk[0].busy ? &x->chunk[1] : &x->chunk[0];
}

static void start_chunk(struct xfer *x, struct chunk *c, void *buf,
			uint64_t room, struct rail_mem *mem)
{
	uint64_t left = x->total - x->next;

	c->busy = true;
	c->got = false;
	c->pos = x->next;
	c->mem = mem;
	c->io.obj = x->obj;
	c->io.seg = &x->seg[x->seg_at];
	c->io.skip = x->skip;
	c->io.buf = buf;
	c->io.len = (size_t)(left < room ? left : room);
	x->busy++;
	advance(x, c->io.len);
	x->ops->begin(c);
}

/* The bytes of the next chunk, if a buffer of that size is free. */
static size_t want(const struct xfer *x)
{
	uint64_t left = x->total - x->next;
	size_t unit = x->worker->iod->conf.unit_size;

	return left < unit ? (size_t)left : unit;
}

static void start_buf(struct xfer *x, struct zone_buf *buf)
{
	const struct store_seg *seg = &x->seg[x->seg_at];
	uint64_t len = seg->len - x->skip;
	struct chunk *c = idle_chunk(x);
	size_t room = want(x);

	if (room > buf->len)
		room = buf->len;
	if (x->mapped)
		window_note(&x->worker->windows, x->obj, seg->off + x->skip,
			    len < room ? len : room);
	c->buf = buf;
	start_chunk(x, c, buf->addr, room, buf->mem);
}

/* Starts a chunk in windows of the object.  False: the next piece lies in no window. */
static bool start_window(struct xfer *x)
{
	struct chunk *c = idle_chunk(x);
	uint64_t len = chunk_map(c);

	if (len)
		start_chunk(x, c, NULL, len, NULL);
	return len;
}

static bool over(const struct xfer *x)
{
	return x->status || x->next == x->total;
}

/*
 * Starts chunks up to the limit, the first one in buf unless it is NULL.  If a chunk fails at
 * once, the transfer ends here and not inside the loop.
 */
static void fill(struct xfer *x, struct zone_buf *buf)
{
	struct zones *zones = x->worker->zones;

	x->held = true;
	if (buf)
		start_buf(x, buf);
	while (!over(x) && x->busy < XFER_CHUNKS) {
		if (x->mapped && start_window(x))
			continue;
		buf = zone_get_wait(zones, &x->ses->owner, want(x), &x->wait);
		if (!buf) {
			rpc_req_enter(x->req, RPC_BUFFER);
			x->late.fire = too_late;
			rpc_timer_set(x->worker->ctx, &x->late,
				      x->req->deadline);
			break;
		}
		start_buf(x, buf);
	}
	x->held = false;
	if (over(x) && !x->busy)
		x->ops->end(x);
}

/* After the deadline the client may have freed its memory, so no data may be moved. */
static void got_buf(struct zone_wait *wait, struct zone_buf *buf)
{
	struct xfer *x = container_of(wait, struct xfer, wait);

	rpc_req_leave(x->req, RPC_BUFFER);
	rpc_timer_clear(x->worker->ctx, &x->late);
	if (!rpc_req_late(x->req)) {
		fill(x, buf);
		return;
	}
	zone_put(x->worker->zones, buf);
	xfer_stop(x, -ETIMEDOUT);
}

void xfer_run(struct xfer *x)
{
	x->wait.ready = got_buf;
	fill(x, NULL);
}

void xfer_again(struct xfer *x)
{
	x->next = 0;
	x->seg_at = 0;
	x->skip = 0;
	fill(x, NULL);
}

static void chunk_filed(struct mail *mail)
{
	struct chunk *c = container_of(mail, struct chunk, mail);

	rpc_req_leave_from(c->x->req, RPC_DISK, c->io.work.item.began);
	c->filed(c, c->io_status);
}

static void io_done(struct store_io *io, int status)
{
	struct chunk *c = container_of(io, struct chunk, io);

	c->io_status = status;
	mailbox_post(&c->x->worker->mail, &c->mail);
}

void chunk_file(struct chunk *c, bool write,
		void (*filed)(struct chunk *c, int status))
{
	int rc;

	c->io.done = io_done;
	c->filed = filed;
	c->mail.deliver = chunk_filed;
	rpc_req_enter(c->x->req, RPC_DISK);
	rc = session_file(c->x->ses, c->x->req, &c->io, write);
	if (rc == -EINPROGRESS)
		return;
	rpc_req_leave(c->x->req, RPC_DISK);
	filed(c, rc);
}

static void run_apart(struct sync_work *work)
{
	struct chunk *c = container_of(work, struct chunk, io.work);

	io_done(&c->io, c->apart(c));
}

void chunk_apart(struct chunk *c, int (*apart)(struct chunk *c),
		 void (*filed)(struct chunk *c, int status))
{
	struct xfer *x = c->x;

	c->apart = apart;
	c->filed = filed;
	c->mail.deliver = chunk_filed;
	c->io.work.run = run_apart;
	c->io.work.item.began = 0;
	rpc_req_enter(x->req, RPC_DISK);
	sync_pool_run(x->worker->iod->pool, x->ses->turn, SYNC_WRITE,
		      &c->io.work);
}

int chunk_bulk(struct chunk *c, enum rpc_bulk_dir dir,
	       void (*done)(struct rpc_bulk *bulk, int status))
{
	struct rail_sge buf = { c->io.buf, (uint32_t)c->io.len, c->mem };
	int rc;

	c->bulk = (struct rpc_bulk){
		.dir = dir,
		.mem = c->x->mem,
		.nmem = c->x->nmem,
		.mem_off = c->pos,
		.local = c->npiece ? c->x->worker->piece : &buf,
		.nlocal = c->npiece ? c->npiece : 1,
		.len = c->io.len,
		.last = dir == RPC_PUT &&
			c->x->started + c->io.len == c->x->total,
		.lend = c->buf,
		.mapped = c->npiece,
		.done = done,
		.arg = c
	};
	rc = rpc_bulk_start(c->x->req, &c->bulk);
	if (rc == -ENOTCONN)
		c->x->broken = true;
	if (!rc)
		rpc_req_enter(c->x->req, RPC_NETWORK);
	return rc;
}

/* If the transfer waits for a buffer, zone_put() may start its next chunk. */
void chunk_done(struct chunk *c, int status)
{
	struct xfer *x = c->x;
	struct zones *zones = x->worker->zones;
	struct zone_buf *buf = c->buf;
	bool waits;

	chunk_unmap(c);
	c->buf = NULL;
	c->busy = false;
	x->busy--;
	if (status && !x->status) {
		x->status = status;
		stop_waiting(x);
	}
	waits = x->held || x->wait.owner;
	if (buf)
		zone_put(zones, buf);
	if (!waits)
		fill(x, NULL);
}
