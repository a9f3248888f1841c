/* SPDX-License-Identifier: BSD-2-Clause */
/* blocks.c - see blocks.h. */
#include <errno.h>
#include <stdlib.h>

#include "romio-adio/blocks.h"

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
