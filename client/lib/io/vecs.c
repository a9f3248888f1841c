/* SPDX-License-Identifier: BSD-2-Clause */
/* vecs.c - converting extents to vectors, one after the other. */
#include "client/lib/io/vecs_int.h"

void vecs_begin(struct vecs *vecs)
{
	vecs->n = 0;
	vecs->pieces = 0;
	vecs->open = false;
}

/* True: off is the next piece of the vector under construction. */
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

/* True: row starts where the next row of v would. */
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
