/* SPDX-License-Identifier: BSD-2-Clause */
/* tiles.c - see tiles.h. */
#include "romio-adio/tiles.h"

#include <errno.h>
#include <stdlib.h>

/* ---- streams ---- */

/* Moves from the end of a block to the start of the next one that is not empty. */
static void skip_empty_blocks(struct cursor *c)
{
	while (c->into == c->tile->len[c->block]) {
		c->into = 0;
		if (++c->block == c->tile->n) {
			c->block = 0;
			c->number++;
		}
	}
}

void cursor_at(struct cursor *c, const struct tile *tile, int64_t base,
	       int64_t pos)
{
	*c = (struct cursor){ .tile = tile, .base = base };
	c->number = pos / tile->size;
	for (pos %= tile->size; pos >= tile->len[c->block]; c->block++)
		pos -= tile->len[c->block];
	c->into = pos;
	skip_empty_blocks(c);
}

void cursor_seek(struct cursor *c, const struct tile *tile, int64_t base,
		 int64_t where)
{
	int64_t skip;

	*c = (struct cursor){ .tile = tile, .base = base };
	skip_empty_blocks(c);
	/* skip whole tiles at once, but one less: blocks of a tile may overlap the next one */
	skip = tile->extent > 0 ? (where - cursor_place(c)) / tile->extent : 0;
	c->number += skip > 1 ? skip - 1 : 0;
	while (cursor_place(c) + cursor_run(c) <= where)
		cursor_advance(c, cursor_run(c));
	if (cursor_place(c) < where)
		cursor_advance(c, where - cursor_place(c));
}

int64_t cursor_place(const struct cursor *c)
{
	return c->base + c->number * c->tile->extent + c->tile->at[c->block] +
	       c->into;
}

int64_t cursor_run(const struct cursor *c)
{
	return c->tile->len[c->block] - c->into;
}

void cursor_advance(struct cursor *c, int64_t n)
{
	c->into += n;
	skip_empty_blocks(c);
}

bool pieces_add(struct pieces *p, int64_t at, int64_t len)
{
	if (p->n && p->at[p->n - 1] + p->len[p->n - 1] == at) {
		p->len[p->n - 1] += len;
		return true;
	}
	if (p->n == p->max)
		return false;
	p->at[p->n] = at;
	p->len[p->n++] = len;
	return true;
}

int64_t pieces_fill(struct pieces *mem, struct cursor *from,
		    struct pieces *file, struct cursor *to, int64_t left)
{
	int64_t done = 0, n;

	while (done < left && mem->n < mem->max && file->n < file->max) {
		n = min_int64(left - done,
			      min_int64(cursor_run(from), cursor_run(to)));
		pieces_add(mem, cursor_place(from), n);
		pieces_add(file, cursor_place(to), n);
		cursor_advance(from, n);
		cursor_advance(to, n);
		done += n;
	}
	return done;
}

/* ---- lists ---- */

static int grow_lists(struct blocks *b)
{
	size_t max = b->max ? 2 * b->max : 8;
	int64_t *at, *len;

	at = reallocarray(b->at, max, sizeof(*at));
	if (!at)
		return -ENOMEM;
	b->at = at;
	len = reallocarray(b->len, max, sizeof(*len));
	if (!len)
		return -ENOMEM;
	b->len = len;
	b->max = max;
	return 0;
}

int blocks_add(struct blocks *b, int64_t at, int64_t len)
{
	if (len == 0)
		return 0;
	if (b->n && b->at[b->n - 1] + b->len[b->n - 1] == at) {
		b->len[b->n - 1] += len;
		return 0;
	}
	if (b->n == b->max && grow_lists(b))
		return -ENOMEM;
	b->at[b->n] = at;
	b->len[b->n++] = len;
	return 0;
}

static int add_all(struct blocks *b, const struct blocks *what, int64_t at)
{
	int err = 0;
	size_t i;

	for (i = 0; i < what->n && !err; i++)
		err = blocks_add(b, at + what->at[i], what->len[i]);
	return err;
}

int blocks_repeat(struct blocks *b, const struct blocks *what, int64_t at,
		  int64_t n, int64_t stride)
{
	int err = 0;

	if (n <= 0 || !what->n)
		return 0;
	if (what->n == 1 && what->len[0] == stride)
		return blocks_add(b, at + what->at[0], n * stride);
	for (; n > 0 && !err; n--, at += stride)
		err = add_all(b, what, at);
	return err;
}

void blocks_free(struct blocks *b)
{
	free(b->at);
	free(b->len);
	*b = (struct blocks){ 0 };
}
