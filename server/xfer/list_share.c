/* SPDX-License-Identifier: BSD-2-Clause */
/* list_share.c - the iod's share of a list of file pieces. */
#include <errno.h>

#include "common/dist/dist.h"
#include "server/xfer/list_share.h"

_Static_assert(WIRE_SSIZE_MIN == DIST_SSIZE_MIN, "smallest stripe");
_Static_assert(WIRE_SSIZE_MAX == DIST_SSIZE_MAX, "largest stripe");

struct list_share {
	struct dist dist;
	uint32_t k;
	uint64_t skip, left;
	/* the stripe used last, because most pieces are small and close together */
	uint64_t begin, end; /* offsets in the file */
	uint64_t local; /* offset in the object */
	bool ours;
	struct store_seg *seg;
	unsigned int nseg;
};

size_t list_share_pieces(const struct wire_list *list,
			 const struct wire_vec *vec)
{
	uint32_t i, n = le32toh(list->io.nreg);
	size_t sum = 0;

	for (i = 0; i < n; i++)
		sum += (size_t)le32toh(vec[i].count) * le32toh(vec[i].count2);
	return sum;
}

static void add_segment(struct list_share *s, uint64_t off, uint64_t len)
{
	struct store_seg *last = s->seg + s->nseg;
	uint64_t skip = s->skip < len ? s->skip : len;

	s->skip -= skip;
	off += skip;
	len -= skip;
	if (len > s->left)
		len = s->left;
	if (!len)
		return;
	s->left -= len;
	if (s->nseg && last[-1].off + last[-1].len == off) {
		last[-1].len += len;
		return;
	}
	*last = (struct store_seg){ off, len };
	s->nseg++;
}

static void find_stripe(struct list_share *s, uint64_t off)
{
	s->begin = off - off % s->dist.ssize;
	s->end = s->begin + s->dist.ssize;
	s->ours = dist_server(&s->dist, off) == s->k;
	s->local = dist_local(&s->dist, s->begin);
}

static void add_piece(struct list_share *s, uint64_t off, uint64_t len)
{
	uint64_t local;

	if (off < s->begin || off >= s->end)
		find_stripe(s, off);
	if (len <= s->end - off) {
		if (s->ours)
			add_segment(s, s->local + off - s->begin, len);
		return;
	}
	len = dist_share(&s->dist, s->k, off, len, &local);
	add_segment(s, local, len);
}

static void add_vector(struct list_share *s, const struct wire_vec *vec)
{
	uint64_t off = le64toh(vec->off), len = le64toh(vec->len);
	uint64_t stride = le64toh(vec->stride), stride2 = le64toh(vec->stride2);
	uint32_t count = le32toh(vec->count), count2 = le32toh(vec->count2);
	uint32_t i, k;

	for (k = 0; k < count2 && s->left; k++) {
		for (i = 0; i < count && s->left; i++)
			add_piece(s, off + k * stride2 + i * stride, len);
	}
}

int list_share_expand(const struct wire_list *list, const struct wire_vec *vec,
		      struct store_seg *seg, unsigned int *nseg)
{
	struct list_share s = {
		.dist = { .pcount = le32toh(list->dist.pcount),
			  .ssize = le32toh(list->dist.ssize) },
		.k = le32toh(list->dist.base),
		.skip = le64toh(list->skip),
		.left = le64toh(list->io.total),
		.seg = seg,
	};
	uint32_t i, n = le32toh(list->io.nreg);

	for (i = 0; i < n && s.left; i++)
		add_vector(&s, &vec[i]);
	if (s.left)
		return -EPROTO;
	*nseg = s.nseg;
	return 0;
}
