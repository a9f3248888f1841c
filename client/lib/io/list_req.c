/* SPDX-License-Identifier: BSD-2-Clause */
/* list_req.c - collecting the pieces of one list request, with vectors for its extents. */
#include "client/lib/io/list_req_int.h"

void vecs_begin(struct vecs *vecs)
{
	vecs->n = 0;
	vecs->pieces = 0;
	vecs->open = false;
}

/* Whether the piece of len bytes at off continues the vector under construction. */
static bool vec_fits(const struct wire_vec *v, uint64_t off, uint64_t len)
{
	uint64_t first = le64toh(v->off), stride = le64toh(v->stride);
	uint32_t count = le32toh(v->count);

	if (le64toh(v->len) != len || off < first)
		return false;
	return count == 1 || off == first + count * stride;
}

static bool same_row(const struct wire_vec *a, const struct wire_vec *b)
{
	return a->len == b->len && a->count == b->count &&
	       a->stride == b->stride;
}

/* Whether row is the next row of v: it has the same form, and starts where that row would. */
static bool next_row(const struct wire_vec *v, const struct wire_vec *row)
{
	uint64_t off = le64toh(v->off), at = le64toh(row->off);
	uint32_t count2 = le32toh(v->count2);

	if (!same_row(v, row) || at < off)
		return false;
	return count2 == 1 || at == off + count2 * le64toh(v->stride2);
}

/*
 * The last vector is complete: merge it as a row into the previous one, keep it, or drop
 * it if nothing in it is needed.
 */
static void close_last(struct vecs *vecs)
{
	struct wire_vec *last = &vecs->v[vecs->n - 1], *v = last - 1;

	vecs->open = false;
	if (vecs->n > 1 && next_row(v, last)) {
		if (le32toh(v->count2) == 1)
			v->stride2 = htole64(le64toh(last->off) -
					     le64toh(v->off));
		v->count2 = htole32(le32toh(v->count2) + 1);
		vecs->n--;
	} else if (!vecs->needed) {
		vecs->pieces -= le32toh(last->count);
		vecs->n--;
	}
}

static void vec_extend(struct wire_vec *v, uint64_t off)
{
	uint32_t count = le32toh(v->count);

	if (count == 1)
		v->stride = htole64(off - le64toh(v->off));
	v->count = htole32(count + 1);
}

bool vecs_add(struct vecs *vecs, uint64_t off, uint64_t len, bool needed)
{
	if (vecs->pieces == WIRE_PIECE_MAX)
		return !needed;
	if (vecs->open && vec_fits(&vecs->v[vecs->n - 1], off, len)) {
		vec_extend(&vecs->v[vecs->n - 1], off);
		vecs->needed |= needed;
		vecs->pieces++;
		return true;
	}
	if (vecs->open)
		close_last(vecs);
	if (vecs->n == WIRE_VEC_MAX)
		return !needed;
	vecs->v[vecs->n++] = (struct wire_vec){ .off = htole64(off),
						.len = htole64(len),
						.count = htole32(1),
						.count2 = htole32(1) };
	vecs->open = true;
	vecs->needed = needed;
	vecs->pieces++;
	return true;
}

void vecs_end(struct vecs *vecs)
{
	if (vecs->open)
		close_last(vecs);
}

/* Bytes of the server's share of the extent before the current piece. */
static uint64_t bytes_before_piece(const struct io_plan *plan,
				   const struct plan_cur *cur)
{
	uint64_t local;

	dist_share(plan->dist, cur->k, cur->ext_off, cur->ext_len, &local);
	return cur->piece.local - local;
}

/* Finds the next piece, and adds its extent to the vectors. */
static bool next_piece(const struct io_plan *plan, struct plan_cur *cur,
		       struct list_req *req)
{
	while (!plan_share(plan, cur)) {
		if (!plan_extent(plan, cur))
			return false;
		if (!vecs_add(&req->vecs, cur->ext_off, cur->ext_len,
			      cur->dist.next < cur->dist.end))
			return false;
	}
	return true;
}

static bool is_fragmented(const struct list_req *req,
			  const struct list_limits *limits)
{
	return req->total < limits->place * req->nseg;
}

/* The segment for memory of the piece; NULL: no room. */
static struct plan_seg *seg_for(struct list_req *req, char *addr,
				unsigned int iov)
{
	struct plan_seg *s = &req->seg[req->nseg];

	if (req->nseg && s[-1].iov == iov &&
	    (char *)s[-1].addr + s[-1].len == addr)
		return s - 1;
	if (req->nseg == WIRE_MEM_MAX)
		return NULL;
	*s = (struct plan_seg){ .addr = addr, .iov = iov };
	req->nseg++;
	return s;
}

static bool add_in_place(const struct io_plan *plan, struct plan_cur *cur,
			 const struct list_limits *limits, struct list_req *req)
{
	struct plan_seg *s;
	unsigned int iov;
	size_t len;
	void *addr;

	if (req->total == PLAN_REQUEST_MAX)
		return false;
	addr = plan_memory(plan, cur, PLAN_REQUEST_MAX - req->total, &len,
			   &iov);
	s = seg_for(req, addr, iov);
	if (!s) {
		req->packed = req->total < limits->pack &&
			      is_fragmented(req, limits);
		return req->packed;
	}
	s->len += (uint32_t)len;
	req->total += len;
	plan_advance(cur, len);
	return true;
}

static bool add_packed(struct plan_cur *cur, const struct list_limits *limits,
		       struct list_req *req)
{
	uint64_t len = limits->pack - req->total;

	if (len > cur->piece.len)
		len = cur->piece.len;
	if (!len || (req->total && cur->piece.len >= 4 * limits->place))
		return false;
	req->total += len;
	plan_advance(cur, len);
	return true;
}

bool list_req_next(const struct io_plan *plan, struct plan_cur *cur,
		   const struct list_limits *limits, struct list_req *req)
{
	bool more = true;

	req->total = 0;
	req->skip = 0;
	req->nseg = 0;
	req->packed = false;
	vecs_begin(&req->vecs);
	if (plan_share(plan, cur)) {
		req->skip = bytes_before_piece(plan, cur);
		vecs_add(&req->vecs, cur->ext_off, cur->ext_len, true);
	}
	while (more && next_piece(plan, cur, req))
		more = req->packed ? add_packed(cur, limits, req)
				   : add_in_place(plan, cur, limits, req);
	if (!req->packed && req->total <= limits->pack)
		req->packed = is_fragmented(req, limits);
	vecs_end(&req->vecs);
	return req->total > 0;
}
