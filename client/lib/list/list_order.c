/* SPDX-License-Identifier: BSD-2-Clause */
/* list_order.c - building lists from the caller's arrays, and checking their order. */
#include "client/lib/list/list.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "common/util/extent.h"

int list_init(struct list *list, bool write, size_t nmem, size_t nfile,
	      bool hints)
{
	*list = (struct list){ .write = write };
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

void list_free(struct list *list)
{
	free(list->iov);
	free(list->span);
	free(list->parent);
	*list = (struct list){ 0 };
}

int list_add_memory(struct list *list, void *addr, uint64_t len)
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

int list_add_parent(struct list *list, const struct iovec *piece, void *addr,
		    uint64_t len)
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

int list_add_span(struct list *list, int64_t pos, uint64_t len)
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

bool list_rises(const struct list *list)
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

int list_distinct(const struct list *list)
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
