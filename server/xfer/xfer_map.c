/* SPDX-License-Identifier: BSD-2-Clause */
/* xfer_map.c - chunks in windows: as many pieces as fit into one transfer. */
#include <errno.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "server/xfer/xfer.h"

#define CHUNK_BYTES WINDOW_LEN

/* Where the next piece begins. */
struct place {
	const struct store_seg *seg;
	uint64_t skip;
	uint64_t left; /* bytes that may still be added to the chunk */
};

static uint64_t place_len(const struct place *p)
{
	uint64_t len = p->seg->len - p->skip;

	return len < p->left ? len : p->left;
}

static void place_move(struct place *p, uint64_t len)
{
	p->left -= len;
	p->skip += len;
	if (p->skip == p->seg->len) {
		p->seg++;
		p->skip = 0;
	}
}

bool xfer_fine(const struct xfer *x)
{
	return x->nseg >= WINDOW_PIECES;
}

/* The part of the transfer that lies in the window of the next piece. */
static struct window_need need(const struct xfer *x, struct place p)
{
	struct window_need need = { .off = p.seg->off + p.skip,
				    .rail = rpc_req_rail(x->req),
				    .write = x->write };
	uint64_t base = need.off - need.off % WINDOW_LEN, off, len;

	while (p.left && need.pieces < WINDOW_PIECES) {
		off = p.seg->off + p.skip;
		if (off < base || off - base >= WINDOW_LEN)
			break;
		len = place_len(&p);
		if (len > WINDOW_LEN - (off - base))
			len = WINDOW_LEN - (off - base);
		need.bytes += len;
		need.pieces++;
		place_move(&p, len);
	}
	return need;
}

static struct window *next_window(struct chunk *c, const struct place *p)
{
	struct xfer *x = c->x;
	struct window_need n;
	struct window *win;

	if (c->nwindow == CHUNK_WINDOWS)
		return NULL;
	n = need(x, *p);
	win = window_get(&x->worker->windows, x->obj, &n);
	if (win)
		c->window[c->nwindow++] = win;
	return win;
}

/* Adds the next piece.  0: it lies in no window. */
static uint64_t add_piece(struct chunk *c, const struct place *p)
{
	const struct windows *ws = &c->x->worker->windows;
	uint64_t off = p->seg->off + p->skip, len = place_len(p);
	struct window *win = c->nwindow ? c->window[c->nwindow - 1] : NULL;
	void *addr = win ? window_at(ws, win, off, &len) : NULL;

	if (!c->x->write && off + len > c->x->size)
		return 0; /* the zeros beyond the end are not in a mapping */
	if (!addr) {
		win = next_window(c, p);
		addr = win ? window_at(ws, win, off, &len) : NULL;
	}
	if (!addr)
		return 0;
	c->x->worker->piece[c->npiece++] =
		(struct rail_sge){ addr, (uint32_t)len, window_mem(win) };
	if (c->x->write && c->x->direct < off + len)
		c->x->direct = off + len;
	return len;
}

uint64_t chunk_map(struct chunk *c)
{
	struct xfer *x = c->x;
	uint64_t all = x->total - x->next, len;
	struct place p = { &x->seg[x->seg_at], x->skip, all };

	if (all > CHUNK_BYTES)
		p.left = all = CHUNK_BYTES;
	while (p.left && c->npiece < RPC_LOCAL_MAX) {
		len = add_piece(c, &p);
		if (!len)
			break;
		place_move(&p, len);
	}
	return all - p.left;
}

/*
 * Data that arrives after the expiry must not reach the object.  Only the end of the connection
 * prevents that.
 */
static void overdue(struct rpc_timer *timer)
{
	struct chunk *c = container_of(timer, struct chunk, overdue);
	struct rpc_req *req = c->x->req;
	const struct rpc_session_info *info = rpc_session_info(req->session);

	log_warn(c->x->worker->iod->log,
		 "%s (%s): a write did not bring its data in time; "
		 "connection closed",
		 info->peer, info->cred.name);
	rpc_req_cut(req, -ETIMEDOUT);
}

/* The object was replaced since the windows were mapped.  Now that the change has entered, it
 * is not. */
static bool moved(const struct chunk *c)
{
	unsigned int i;

	for (i = 0; i < c->nwindow; i++)
		if (window_moved(c->window[i]))
			return true;
	return false;
}

int chunk_enter(struct chunk *c)
{
	const struct rpc_req *req = c->x->req;
	int rc = store_obj_enter(c->x->obj, req->expiry, &c->entry);

	if (rc)
		return rc;
	if (moved(c)) { /* the client repeats the request */
		store_obj_leave(c->x->obj, &c->entry);
		c->x->broken = true;
		return -ESTALE;
	}
	c->entered = true;
	c->overdue.fire = overdue;
	/* from then on those who come to the object wait for it */
	rpc_timer_set(c->x->worker->ctx, &c->overdue,
		      clock_of_boot(req->expiry, clock_boot(), clock_now()));
	return 0;
}

void chunk_unmap(struct chunk *c)
{
	if (c->entered) {
		rpc_timer_clear(c->x->worker->ctx, &c->overdue);
		store_obj_leave(c->x->obj, &c->entry);
		c->entered = false;
	}
	while (c->nwindow)
		window_put(c->window[--c->nwindow]);
	c->npiece = 0;
}
