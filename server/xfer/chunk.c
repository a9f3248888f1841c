/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chunk.c - a chunk of a transfer: its windows (as many pieces as fit into one transfer), its
 * access to the file, and its way over the network.
 */
#include <errno.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "server/xfer/xfer.h"

/* ---- windows ---- */

#define CHUNK_BYTES WINDOW_LEN

/* Where the next piece begins. */
struct seg_position {
	const struct store_seg *seg;
	uint64_t skip;
	uint64_t left; /* bytes that may still be added to the chunk */
};

static uint64_t position_len(const struct seg_position *p)
{
	uint64_t len = p->seg->len - p->skip;

	return len < p->left ? len : p->left;
}

static void position_advance(struct seg_position *p, uint64_t len)
{
	p->left -= len;
	p->skip += len;
	if (p->skip == p->seg->len) {
		p->seg++;
		p->skip = 0;
	}
}

/* The part of the transfer that lies in the window of the next piece. */
static struct window_need window_need_of(const struct xfer *x,
					 struct seg_position p)
{
	struct window_need need = { .off = p.seg->off + p.skip,
				    .rail = rpc_req_rail(x->req),
				    .write = x->write };
	uint64_t base = need.off - need.off % WINDOW_LEN, off, len;

	while (p.left && need.pieces < WINDOW_PIECES) {
		off = p.seg->off + p.skip;
		if (off < base || off - base >= WINDOW_LEN)
			break;
		len = position_len(&p);
		if (len > WINDOW_LEN - (off - base))
			len = WINDOW_LEN - (off - base);
		need.bytes += len;
		need.pieces++;
		position_advance(&p, len);
	}
	return need;
}

static struct window *next_window(struct chunk *c, const struct seg_position *p)
{
	struct xfer *x = c->x;
	struct window_need n;
	struct window *win;

	if (c->nwindow == CHUNK_WINDOWS)
		return NULL;
	n = window_need_of(x, *p);
	win = window_get(&x->worker->windows, x->obj, &n);
	if (win)
		c->window[c->nwindow++] = win;
	return win;
}

/* Adds the next piece.  0: it lies in no window. */
static uint64_t add_piece(struct chunk *c, const struct seg_position *p)
{
	const struct windows *ws = &c->x->worker->windows;
	uint64_t off = p->seg->off + p->skip, len = position_len(p);
	struct window *win = c->nwindow ? c->window[c->nwindow - 1] : NULL;
	void *addr = win ? window_address(ws, win, off, &len) : NULL;

	if (!c->x->write && off + len > c->x->size)
		return 0; /* the zeros beyond the end are not in a mapping */
	if (!addr) {
		win = next_window(c, p);
		addr = win ? window_address(ws, win, off, &len) : NULL;
	}
	if (!addr)
		return 0;
	c->x->worker->piece[c->npiece++] =
		(struct rail_sge){ addr, (uint32_t)len, window_mem(win) };
	if (c->x->write && c->x->windows_end < off + len)
		c->x->windows_end = off + len;
	return len;
}

uint64_t chunk_map(struct chunk *c)
{
	struct xfer *x = c->x;
	uint64_t all = x->total - x->next, len;
	struct seg_position p = { &x->seg[x->seg_at], x->skip, all };

	if (all > CHUNK_BYTES)
		p.left = all = CHUNK_BYTES;
	while (p.left && c->npiece < RPC_LOCAL_MAX) {
		len = add_piece(c, &p);
		if (!len)
			break;
		position_advance(&p, len);
	}
	return all - p.left;
}

/*
 * The change expires: closes the connection.  Data that arrives later must not reach the object,
 * and a transfer in flight cannot be stopped in any other way.
 */
static void on_expiry(struct rpc_timer *timer)
{
	struct chunk *c = container_of(timer, struct chunk, expiry);
	struct rpc_req *req = c->x->req;
	const struct rpc_session_info *info = rpc_session_info(req->session);

	log_warn(c->x->worker->iod->log,
		 "%s (%s): a write did not bring its data in time; "
		 "connection closed",
		 info->peer, info->cred.name);
	rpc_req_disconnect(req, -ETIMEDOUT);
}

/*
 * Whether the object was replaced after a window was mapped.  Called after the change has entered
 * the gate: from then on, the object is not replaced.
 */
static bool windows_are_stale(const struct chunk *c)
{
	unsigned int i;

	for (i = 0; i < c->nwindow; i++)
		if (window_is_stale(c->window[i]))
			return true;
	return false;
}

int chunk_enter_gate(struct chunk *c)
{
	const struct rpc_req *req = c->x->req;
	struct iod *iod = c->x->worker->iod;
	int rc = change_enter(iod, req, c->x->obj, NULL, &c->entry);

	if (rc)
		return rc;
	if (windows_are_stale(c)) { /* the client repeats the request */
		change_leave(iod, c->x->obj, &c->entry, 0);
		c->x->broken = true;
		return -ESTALE;
	}
	c->entered = true;
	c->expiry.fire = on_expiry;
	/* from then on those who come to the object wait for it */
	rpc_timer_set(c->x->worker->ctx, &c->expiry,
		      clock_of_boot(req->expiry, clock_boot(), clock_now()));
	return 0;
}

void chunk_unmap(struct chunk *c)
{
	if (c->entered) {
		rpc_timer_clear(c->x->worker->ctx, &c->expiry);
		change_leave(c->x->worker->iod, c->x->obj, &c->entry, 0);
		c->entered = false;
	}
	while (c->nwindow)
		window_put(c->window[--c->nwindow]);
	c->npiece = 0;
}

/* ---- file and network ---- */

static void on_access_complete(struct file_access *access, int status)
{
	struct chunk *c = container_of(access, struct chunk, access);

	c->on_file_complete(c, status);
}

static struct file_access *prepare_access(struct chunk *c,
					  chunk_file_fn *on_file_complete)
{
	c->on_file_complete = on_file_complete;
	c->access.ses = c->x->ses;
	c->access.req = c->x->req;
	c->access.done = on_access_complete;
	return &c->access;
}

void chunk_read_file(struct chunk *c, chunk_file_fn *on_file_complete)
{
	file_access_read(prepare_access(c, on_file_complete));
}

void chunk_write_file(struct chunk *c, chunk_file_fn *on_file_complete)
{
	change_start(prepare_access(c, on_file_complete));
}

void chunk_run_in_pool(struct chunk *c,
		       int (*block)(struct file_access *access),
		       chunk_file_fn *on_file_complete)
{
	file_access_block(prepare_access(c, on_file_complete), block);
}

int chunk_move_data(struct chunk *c, enum rpc_bulk_dir dir,
		    void (*done)(struct rpc_bulk *bulk, int status))
{
	struct rail_sge buf = { c->access.io.buf, (uint32_t)c->access.io.len,
				c->access.mem };
	int rc;

	c->bulk = (struct rpc_bulk){
		.dir = dir,
		.mem = c->x->mem,
		.nmem = c->x->nmem,
		.mem_off = c->pos,
		.local = c->npiece ? c->x->worker->piece : &buf,
		.nlocal = c->npiece ? c->npiece : 1,
		.len = c->access.io.len,
		.last = dir == RPC_PUT &&
			c->x->started + c->access.io.len == c->x->total,
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
