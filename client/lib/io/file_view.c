/* SPDX-License-Identifier: BSD-2-Clause */
/* file_view.c - partition arithmetic. */
#include "client/lib/io/file_view.h"

#include <errno.h>

#include "common/util/extent.h"

int view_from_part(const struct fpart *part, struct file_view *view)
{
	if (part->offset < 0 || part->gsize < 0 || part->stride < 0)
		return -EINVAL;
	if (part->gsize && part->stride < part->gsize)
		return -EINVAL;
	*view = (struct file_view){
		.off = (uint64_t)part->offset,
		.gsize = (uint64_t)part->gsize,
		.stride = (uint64_t)part->stride,
	};
	return 0;
}

void view_to_part(const struct file_view *view, struct fpart *part)
{
	*part = (struct fpart){
		.offset = (int64_t)view->off,
		.gsize = (int64_t)view->gsize,
		.stride = (int64_t)view->stride,
	};
}

bool view_map(const struct file_view *view, uint64_t pos, uint64_t *off)
{
	uint64_t rel = pos;

	if (view->gsize) {
		if (__builtin_mul_overflow(pos / view->gsize, view->stride,
					   &rel))
			return false;
		if (__builtin_add_overflow(rel, pos % view->gsize, &rel))
			return false;
	}
	return extent_end(view->off, rel, off);
}

bool view_end(const struct file_view *view, uint64_t pos, uint64_t len,
	      uint64_t *end)
{
	uint64_t sum, last;

	if (!extent_end(pos, len, &sum))
		return false;
	if (len == 0)
		return view_map(view, pos, end);
	return view_map(view, sum - 1, &last) && extent_end(last, 1, end);
}

uint64_t view_before(const struct file_view *view, uint64_t size)
{
	uint64_t rel, rest;

	if (size <= view->off)
		return 0;
	rel = size - view->off;
	if (!view->gsize)
		return rel;
	rest = rel % view->stride;
	return rel / view->stride * view->gsize +
	       (rest < view->gsize ? rest : view->gsize);
}

void view_iter_init(struct view_iter *it, const struct file_view *view,
		    uint64_t pos, uint64_t len)
{
	it->view = view;
	it->pos = pos;
	it->end = pos + len;
}

int view_iter_next(struct view_iter *it, uint64_t *off, uint64_t *n)
{
	const struct file_view *v = it->view;
	uint64_t left = it->end - it->pos;

	if (!left)
		return 0;
	view_map(v, it->pos, off);
	if (v->gsize && v->gsize != v->stride &&
	    v->gsize - it->pos % v->gsize < left)
		left = v->gsize - it->pos % v->gsize;
	*n = left;
	it->pos += left;
	return 1;
}
