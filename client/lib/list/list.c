/* SPDX-License-Identifier: BSD-2-Clause */
/* list.c - lists: built from the caller's arrays, sorted, united and distributed. */
#include "client/lib/list/list_transfer.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/extent.h"

int list_init(struct transfer_list *list, bool write, size_t nmem, size_t nfile,
	      bool hints)
{
	*list = (struct transfer_list){ .write = write };
	if (nmem >= INT_MAX || nfile >= INT_MAX)
		return -EINVAL;
	list->iov = malloc((nmem + 1) * sizeof(*list->iov));
	list->span = malloc((nfile + 1) * sizeof(*list->span));
	if (hints)
		list->parent = malloc((nmem + 1) * sizeof(*list->parent));
	if (list->iov && list->span && (!hints || list->parent))
		return 0;
	list_free(list);
	return -ENOMEM;
}

void list_free(struct transfer_list *list)
{
	free(list->iov);
	free(list->span);
	free(list->parent);
	*list = (struct transfer_list){ 0 };
}

int list_add_memory(struct transfer_list *list, void *addr, uint64_t len)
{
	struct iovec *v = &list->iov[list->niov];

	if (len > SSIZE_MAX || (uintptr_t)addr + len < (uintptr_t)addr)
		return -EINVAL;
	if (!len)
		return 0;
	if (list->niov &&
	    (char *)v[-1].iov_base + v[-1].iov_len == (char *)addr) {
		v[-1].iov_len += len;
		return v[-1].iov_len > SSIZE_MAX ? -EINVAL : 0;
	}
	*v = (struct iovec){ addr, (size_t)len };
	list->niov++;
	return 0;
}

int list_add_parent(struct transfer_list *list, const struct iovec *piece,
		    void *addr, uint64_t len)
{
	struct iovec *v = &list->parent[list->nparent];
	uintptr_t from = (uintptr_t)addr, at = (uintptr_t)piece->iov_base;

	if (!piece->iov_len)
		return 0;
	if (len > SSIZE_MAX || from + len < from || at < from ||
	    at - from > len || piece->iov_len > len - (at - from))
		return -EINVAL;
	if (list->nparent && v[-1].iov_base == addr && v[-1].iov_len == len)
		return 0;
	*v = (struct iovec){ addr, (size_t)len };
	list->nparent++;
	return 0;
}

int list_add_span(struct transfer_list *list, int64_t pos, uint64_t len)
{
	struct plan_span *s = &list->span[list->nspan];
	uint64_t end;

	if (pos < 0 || len > INT64_MAX ||
	    !extent_end(list->total, len, &list->total))
		return -EINVAL;
	if (!len)
		return 0;
	if (!extent_end((uint64_t)pos, len, &end))
		return list->write ? -EFBIG : -EOVERFLOW;
	if (list->nspan && s[-1].pos + s[-1].len == (uint64_t)pos) {
		s[-1].len += len;
		return 0;
	}
	*s = (struct plan_span){ (uint64_t)pos, len };
	list->nspan++;
	return 0;
}

bool list_rises(const struct transfer_list *list)
{
	const struct plan_span *s = list->span;
	unsigned int i;

	for (i = 1; i < list->nspan; i++) {
		if (s[i].pos < s[i - 1].pos + s[i - 1].len)
			return false;
	}
	return true;
}

/* ---- memory ---- */

static int by_addr(const void *a, const void *b)
{
	const struct iovec *x = a, *y = b;
	const char *p = x->iov_base, *q = y->iov_base;

	return p < q ? -1 : p > q;
}

static bool is_disjoint(const struct iovec *v, unsigned int n)
{
	unsigned int i;

	for (i = 1; i < n; i++) {
		if ((char *)v[i - 1].iov_base + v[i - 1].iov_len >
		    (char *)v[i].iov_base)
			return false;
	}
	return true;
}

int list_distinct(const struct transfer_list *list)
{
	struct iovec *v;
	unsigned int i;
	bool distinct;

	if (is_disjoint(list->iov, list->niov))
		return 1;
	v = malloc(list->niov * sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (i = 0; i < list->niov; i++)
		v[i] = list->iov[i];
	qsort(v, list->niov, sizeof(*v), by_addr);
	distinct = is_disjoint(v, list->niov);
	free(v);
	return distinct;
}

struct list_piece *list_cut(const struct transfer_list *list, size_t *n)
{
	struct list_piece *piece, *p;
	uint64_t in = 0, off = 0, len;
	unsigned int i = 0, k = 0;

	piece = malloc(((size_t)list->niov + list->nspan) * sizeof(*piece));
	for (p = piece; p && i < list->nspan; p++) {
		const struct plan_span *s = &list->span[i];
		const struct iovec *v = &list->iov[k];

		len = s->len - off < v->iov_len - in ? s->len - off
						     : v->iov_len - in;
		*p = (struct list_piece){ s->pos + off, len,
					  (char *)v->iov_base + in,
					  (unsigned int)(p - piece) };
		off += len;
		in += len;
		if (off == s->len) {
			i++;
			off = 0;
		}
		if (in == v->iov_len) {
			k++;
			in = 0;
		}
	}
	*n = piece ? (size_t)(p - piece) : 0;
	return piece;
}

static int by_pos(const void *a, const void *b)
{
	const struct list_piece *p = a, *q = b;

	if (p->pos != q->pos)
		return p->pos < q->pos ? -1 : 1;
	return p->at < q->at ? -1 : p->at > q->at;
}

static bool pieces_overlap(const struct list_piece *piece, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++) {
		if (piece[i - 1].pos + piece[i - 1].len > piece[i].pos)
			return true;
	}
	return false;
}

static int list_from_pieces(const struct transfer_list *list,
			    const struct list_piece *piece, size_t n,
			    struct transfer_list *out)
{
	size_t i;
	int rc = list_init(out, list->write, n, n, false);

	for (i = 0; i < n && !rc; i++) {
		rc = list_add_memory(out, piece[i].addr, piece[i].len);
		if (!rc)
			rc = list_add_span(out, (int64_t)piece[i].pos,
					   piece[i].len);
	}
	if (rc)
		list_free(out);
	return rc;
}

int list_sorted(const struct transfer_list *list, struct transfer_list *out)
{
	size_t n;
	struct list_piece *piece = list_cut(list, &n);
	int rc = piece ? 0 : -ENOMEM;

	if (!rc) {
		qsort(piece, n, sizeof(*piece), by_pos);
		rc = pieces_overlap(piece, n)
			     ? -EEXIST
			     : list_from_pieces(list, piece, n, out);
	}
	free(piece);
	return rc;
}

static int span_by_pos(const void *a, const void *b)
{
	const struct plan_span *p = a, *q = b;

	return p->pos < q->pos ? -1 : p->pos > q->pos;
}

int list_union(const struct transfer_list *list, struct transfer_list *out)
{
	struct plan_span *s;
	unsigned int i, n = 0;
	int rc = list_init(out, list->write, 1, list->nspan, false);

	if (rc)
		return rc;
	s = out->span;
	for (i = 0; i < list->nspan; i++)
		s[i] = list->span[i];
	qsort(s, list->nspan, sizeof(*s), span_by_pos);
	for (i = 0; i < list->nspan; i++) {
		uint64_t end = s[i].pos + s[i].len;

		if (!n || s[i].pos > s[n - 1].pos + s[n - 1].len)
			s[n++] = s[i];
		else if (end > s[n - 1].pos + s[n - 1].len)
			s[n - 1].len = end - s[n - 1].pos;
	}
	out->nspan = n;
	for (i = 0; i < n; i++)
		out->total += s[i].len;
	return 0;
}

/* ---- reading overlapping pieces ---- */

/* The offset of each span in the data of the union. */
static uint64_t *union_offsets(const struct transfer_list *all)
{
	uint64_t *at = malloc((all->nspan + 1) * sizeof(*at)), sum = 0;
	unsigned int i;

	for (i = 0; at && i < all->nspan; i++) {
		at[i] = sum;
		sum += all->span[i].len;
	}
	return at;
}

static unsigned int span_of(const struct transfer_list *all, uint64_t pos)
{
	unsigned int lo = 0, hi = all->nspan, mid;

	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (all->span[mid].pos <= pos)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

int list_deal(const struct transfer_list *list, const struct transfer_list *all,
	      const char *data, uint64_t pos)
{
	size_t n, i;
	struct list_piece *piece = list_cut(list, &n);
	uint64_t *at = union_offsets(all), len;
	int rc = piece && at ? 0 : -ENOMEM;

	for (i = 0; i < n && !rc; i++) {
		const struct list_piece *p = &piece[i];
		unsigned int k = span_of(all, p->pos);

		if (p->pos >= pos)
			continue;
		len = p->len < pos - p->pos ? p->len : pos - p->pos;
		memcpy(p->addr, data + at[k] + (p->pos - all->span[k].pos),
		       (size_t)len);
	}
	free(piece);
	free(at);
	return rc;
}

/* ---- the end of the file ---- */

uint64_t list_pos(const struct transfer_list *list, uint64_t n)
{
	unsigned int i;

	for (i = 0; i < list->nspan; i++) {
		if (n < list->span[i].len)
			return list->span[i].pos + n;
		n -= list->span[i].len;
	}
	return UINT64_MAX;
}

uint64_t list_before(const struct transfer_list *list, uint64_t pos)
{
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < list->nspan; i++) {
		const struct plan_span *s = &list->span[i];

		if (s->pos + s->len > pos)
			return n + (pos > s->pos ? pos - s->pos : 0);
		n += s->len;
	}
	return n;
}
