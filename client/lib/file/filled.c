/* SPDX-License-Identifier: BSD-2-Clause */
/* filled.c - see filled.h. */
#include "client/lib/file/filled.h"

#include <string.h>

static void remove_pieces(struct filled *f, unsigned int at, unsigned int n)
{
	f->n -= n;
	memmove(&f->piece[at], &f->piece[at + n],
		(f->n - at) * sizeof(f->piece[0]));
}

/* Moves the end over the pieces that it has reached. */
static void end_advance(struct filled *f, uint64_t to)
{
	unsigned int n = 0;

	if (to > f->end)
		f->end = to;
	for (; n < f->n && f->piece[n].from <= f->end; n++)
		if (f->piece[n].to > f->end)
			f->end = f->piece[n].to;
	remove_pieces(f, 0, n);
}

static void piece_insert(struct filled *f, unsigned int at, uint64_t from,
			 uint64_t to)
{
	if (f->n == FILLED_PIECES) {
		f->lost = true;
		return;
	}
	memmove(&f->piece[at + 1], &f->piece[at],
		(f->n - at) * sizeof(f->piece[0]));
	f->piece[at].from = from;
	f->piece[at].to = to;
	f->n++;
}

/* Merges the range with all pieces that it touches. */
static void piece_merge(struct filled *f, uint64_t from, uint64_t to)
{
	unsigned int at = 0, last;

	while (at < f->n && f->piece[at].to < from)
		at++;
	for (last = at; last < f->n && f->piece[last].from <= to; last++) {
		if (f->piece[last].from < from)
			from = f->piece[last].from;
		if (f->piece[last].to > to)
			to = f->piece[last].to;
	}
	remove_pieces(f, at, last - at);
	piece_insert(f, at, from, to);
}

void filled_add(struct filled *f, uint64_t from, uint64_t to)
{
	if (from <= f->end)
		end_advance(f, to);
	else
		piece_merge(f, from, to);
}
