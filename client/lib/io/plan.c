/* SPDX-License-Identifier: BSD-2-Clause */
/* plan.c - cursors over a striped transfer. */
#include "client/lib/io/plan.h"

_Static_assert(PLAN_REQUEST_MAX <= UINT32_MAX, "fits wire_mem.len");

void plan_start(const struct io_plan *plan, struct plan_cur *cur, uint32_t k)
{
	*cur = (struct plan_cur){ .k = k };
	view_iter_init(&cur->view, plan->view, 0, 0);
	cur->dist.d = plan->dist;
}

uint64_t plan_total(const struct io_plan *plan)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < plan->nspan; i++)
		sum += plan->span[i].len;
	return sum;
}

/* In the order of the transfer. */
bool plan_extent(const struct io_plan *plan, struct plan_cur *cur)
{
	uint64_t off, len;

	while (!view_iter_next(&cur->view, &off, &len)) {
		const struct plan_span *span = &plan->span[cur->nspan];

		if (cur->nspan == plan->nspan)
			return false;
		cur->nspan++;
		view_iter_init(&cur->view, plan->view, span->pos, span->len);
	}
	cur->ext_at = cur->at;
	cur->ext_off = off;
	cur->ext_len = len;
	cur->at += len;
	dist_iter_init(&cur->dist, plan->dist, cur->k, off, len);
	return true;
}

bool plan_share(const struct io_plan *plan, struct plan_cur *cur)
{
	uint64_t delta, len;

	if (cur->piece.len)
		return true;
	if (!dist_iter_next(&cur->dist, &delta, &len))
		return false;
	cur->piece = (struct plan_piece){
		.at = cur->ext_at + delta,
		.local = dist_local(plan->dist, cur->ext_off + delta),
		.len = len,
	};
	return true;
}

bool plan_piece(const struct io_plan *plan, struct plan_cur *cur)
{
	while (!plan_share(plan, cur)) {
		if (!plan_extent(plan, cur))
			return false;
	}
	return true;
}

void *plan_memory(const struct io_plan *plan, struct plan_cur *cur,
		  uint64_t max, size_t *len, unsigned int *iov)
{
	const struct iovec *v = &plan->iov[cur->iov];
	uint64_t in;

	while (cur->piece.at - cur->iov_at >= v->iov_len) {
		cur->iov_at += v->iov_len;
		v = &plan->iov[++cur->iov];
	}
	in = cur->piece.at - cur->iov_at;
	if (max > cur->piece.len)
		max = cur->piece.len;
	*len = v->iov_len - in < max ? v->iov_len - in : (size_t)max;
	*iov = cur->iov;
	return (char *)v->iov_base + in;
}

void plan_advance(struct plan_cur *cur, uint64_t len)
{
	cur->piece.at += len;
	cur->piece.local += len;
	cur->piece.len -= len;
}

unsigned int plan_pieces(const struct io_plan *plan, struct plan_cur *cur,
			 uint64_t *len, struct iovec *piece)
{
	unsigned int n = 0, iov;
	size_t got;
	char *mem;

	piece[0] = (struct iovec){ 0 };
	while (*len && plan_piece(plan, cur)) {
		mem = plan_memory(plan, cur, *len, &got, &iov);
		if (n && (char *)piece[n - 1].iov_base + piece[n - 1].iov_len ==
				 mem) {
			piece[n - 1].iov_len += got;
		} else if (n == WIRE_MEM_MAX) {
			break;
		} else {
			piece[n++] = (struct iovec){ mem, got };
		}
		plan_advance(cur, got);
		*len -= got;
	}
	return n;
}

/* The region for the next bytes; NULL: no room for another one. */
static struct wire_region *plan_region(struct plan_req *req, uint64_t local)
{
	struct wire_region *r = &req->reg[req->nreg];

	if (req->nreg && le64toh(r[-1].off) + le64toh(r[-1].len) == local)
		return r - 1;
	if (req->nreg == WIRE_REGION_MAX)
		return NULL;
	*r = (struct wire_region){ .off = htole64(local) };
	return r;
}

static struct plan_seg *plan_seg(struct plan_req *req, void *addr, size_t len,
				 unsigned int iov)
{
	struct plan_seg *s = &req->seg[req->nseg];

	if (req->nseg && s[-1].iov == iov &&
	    (char *)s[-1].addr + s[-1].len == (char *)addr)
		return s - 1;
	if (req->nseg == WIRE_MEM_MAX)
		return NULL;
	*s = (struct plan_seg){ .addr = addr, .iov = iov };
	return s;
}

/* Adds the head of the piece to the request.  False: the request is full. */
static bool plan_add(const struct io_plan *plan, struct plan_cur *cur,
		     struct plan_req *req)
{
	size_t len;
	unsigned int iov;
	void *addr = plan_memory(plan, cur, PLAN_REQUEST_MAX - req->total, &len,
				 &iov);
	struct wire_region *r = plan_region(req, cur->piece.local);
	struct plan_seg *s = plan_seg(req, addr, len, iov);

	if (!r || !s || !len)
		return false;
	r->len = htole64(le64toh(r->len) + len);
	s->len += (uint32_t)len;
	req->nreg = (unsigned int)(r - req->reg) + 1;
	req->nseg = (unsigned int)(s - req->seg) + 1;
	req->total += len;
	plan_advance(cur, len);
	return true;
}

bool plan_next(const struct io_plan *plan, struct plan_cur *cur,
	       struct plan_req *req)
{
	req->total = 0;
	req->nreg = 0;
	req->nseg = 0;
	while (plan_piece(plan, cur)) {
		if (!plan_add(plan, cur, req))
			break;
	}
	return req->total > 0;
}
