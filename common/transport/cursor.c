/* SPDX-License-Identifier: BSD-2-Clause */
/* cursor.c - progress through a list of memory pieces. */
#include "common/transport/cursor.h"

void tp_cursor_set(struct tp_cursor *c, const struct tp_sge *sge,
		   unsigned int n, uint64_t len)
{
	*c = (struct tp_cursor){ .sge = sge, .n = n, .left = len };
}

unsigned int tp_cursor_iov(const struct tp_cursor *c, struct iovec *iov,
			   unsigned int max, uint64_t *bytes)
{
	uint64_t want = *bytes < c->left ? *bytes : c->left, got = 0;
	uint32_t off = c->off;
	unsigned int i;

	for (i = 0; i < c->n && i < max && got < want; i++) {
		uint64_t len = c->sge[i].len - off;

		if (len > want - got)
			len = want - got;
		iov[i].iov_base = (char *)c->sge[i].addr + off;
		iov[i].iov_len = len;
		got += len;
		off = 0;
	}
	*bytes = got;
	return i;
}

void tp_cursor_move(struct tp_cursor *c, uint64_t n)
{
	c->left -= n;
	while (n && n >= c->sge->len - c->off) {
		n -= c->sge->len - c->off;
		c->off = 0;
		c->sge++;
		c->n--;
	}
	c->off += (uint32_t)n;
}

unsigned int tp_sge_add(struct tp_sge *sge, unsigned int n,
			const struct tp_sge *piece)
{
	struct tp_sge *last = n ? &sge[n - 1] : NULL;

	if (last && last->lkey == piece->lkey &&
	    (char *)last->addr + last->len == (char *)piece->addr &&
	    last->len <= UINT32_MAX - piece->len) {
		last->len += piece->len;
		return n;
	}
	sge[n] = *piece;
	return n + 1;
}
