/* SPDX-License-Identifier: BSD-2-Clause */
/* sieve.c - small pieces, sorted and merged in batches. */
#include <stdlib.h>
#include <string.h>

#include "server/store/sieve.h"

struct piece {
	uint64_t off;
	uint32_t len;
	uint32_t pos; /* in the buffer, from the first byte of the batch */
};

struct sieve_batch {
	unsigned int n;
	bool overlap;
	const struct store_seg *seg; /* where the next batch begins */
	uint64_t skip;
	size_t len; /* bytes of the batch in the buffer */
	struct piece piece[SIEVE_BATCH];
};

static int by_off(const void *a, const void *b)
{
	const struct piece *p = a, *q = b;

	if (p->off != q->off)
		return p->off < q->off ? -1 : 1;
	return p->pos < q->pos ? -1 : p->pos > q->pos;
}

static void sort_pieces(struct sieve_batch *b)
{
	bool sorted = true;
	unsigned int i;

	for (i = 1; i < b->n && sorted; i++)
		sorted = b->piece[i - 1].off <= b->piece[i].off;
	if (!sorted)
		qsort(b->piece, b->n, sizeof(b->piece[0]), by_off);
	b->overlap = false;
	for (i = 1; i < b->n && !b->overlap; i++)
		b->overlap = b->piece[i - 1].off + b->piece[i - 1].len >
			     b->piece[i].off;
}

/* Fills the batch with the next pieces, of at most left bytes, from seg and skip on. */
static void collect_pieces(struct sieve_batch *b, const struct store_seg *seg,
			   uint64_t skip, size_t left)
{
	b->n = 0;
	b->len = 0;
	while (left && b->n < SIEVE_BATCH) {
		size_t n = store_piece_len(seg, skip, left);

		b->piece[b->n++] = (struct piece){ seg->off + skip, (uint32_t)n,
						   (uint32_t)b->len };
		b->len += n;
		left -= n;
		skip += n;
		if (skip == seg->len) {
			seg++;
			skip = 0;
		}
	}
	b->seg = seg;
	b->skip = skip;
}

bool sieve_pays(const struct store_io *io, size_t left)
{
	const struct store_seg *seg = io->seg;
	uint64_t first = seg->len - io->skip;

	return first < left && left <= UINT32_MAX &&
	       (first <= SIEVE_COST || seg[1].len <= SIEVE_COST);
}

/* ---- reading ---- */

/* The number of pieces from p on that are read as one extent; *end is the extent's end. */
static unsigned int pieces_of_extent(const struct piece *p, unsigned int n,
				     uint64_t *end)
{
	uint64_t stop = p->off + p->len, next;
	unsigned int i;

	for (i = 1; i < n && p->len <= SIEVE_EXTENT; i++) {
		next = p[i].off + p[i].len;
		if (next > stop + SIEVE_COST || next - p->off > SIEVE_EXTENT)
			break;
		if (next > stop)
			stop = next;
	}
	*end = stop;
	return i;
}

static int read_alone(const struct store_io *io, sieve_read_fn read,
		      const struct piece *p, char *buf)
{
	size_t got;
	int rc = read(io->obj, buf + p->pos, p->len, p->off, &got);

	if (!rc)
		memset(buf + p->pos + got, 0, p->len - got);
	return rc;
}

static int read_extent(const struct store_io *io, sieve_read_fn read,
		       const struct piece *p, unsigned int n, uint64_t end,
		       char *buf)
{
	char whole[SIEVE_EXTENT];
	size_t len = (size_t)(end - p->off), got;
	unsigned int i;
	int rc = read(io->obj, whole, len, p->off, &got);

	if (rc)
		return rc;
	memset(whole + got, 0, len - got);
	for (i = 0; i < n; i++)
		memcpy(buf + p[i].pos, whole + (p[i].off - p->off), p[i].len);
	return 0;
}

static int read_batch(const struct store_io *io, sieve_read_fn read,
		      const struct sieve_batch *b)
{
	char *buf = (char *)io->buf + io->pos;
	unsigned int i, n;
	uint64_t end;
	int rc = 0;

	for (i = 0; i < b->n && !rc; i += n) {
		const struct piece *p = &b->piece[i];

		n = pieces_of_extent(p, b->n - i, &end);
		if (n == 1)
			rc = read_alone(io, read, p, buf);
		else
			rc = read_extent(io, read, p, n, end, buf);
	}
	return rc;
}

int sieve_read(struct store_io *io, sieve_read_fn read)
{
	struct sieve_batch b;
	int rc;

	while (io->pos < io->len) {
		collect_pieces(&b, io->seg, io->skip, io->len - io->pos);
		sort_pieces(&b);
		rc = read_batch(io, read, &b);
		if (rc)
			return rc;
		io->pos += b.len;
		io->seg = b.seg;
		io->skip = b.skip;
	}
	return 0;
}

/* ---- writing ---- */

/* The number of pieces from p on that are adjacent in the object and fit into the buffer. */
static unsigned int adjacent_pieces(const struct piece *p, unsigned int n)
{
	uint64_t stop = p->off + p->len;
	unsigned int i;

	for (i = 1; i < n; i++) {
		if (p[i].off != stop || stop + p[i].len - p->off > SIEVE_EXTENT)
			break;
		stop += p[i].len;
	}
	return i;
}

static int write_together(const struct store_io *io, const struct piece *p,
			  unsigned int n, const char *buf)
{
	char whole[SIEVE_EXTENT];
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		memcpy(whole + len, buf + p[i].pos, p[i].len);
		len += p[i].len;
	}
	return store_obj_write(io->obj, whole, len, p->off);
}

static int write_batch(const struct store_io *io, const struct sieve_batch *b,
		       const char *buf)
{
	unsigned int i, n;
	int rc = 0;

	for (i = 0; i < b->n && !rc; i += n) {
		const struct piece *p = &b->piece[i];

		n = adjacent_pieces(p, b->n - i);
		if (n == 1)
			rc = store_obj_write(io->obj, buf + p->pos, p->len,
					     p->off);
		else
			rc = write_together(io, p, n, buf);
	}
	return rc;
}

/* Overlapping pieces are written in the order given, so the last one wins. */
int sieve_write(const struct store_io *io)
{
	const struct store_seg *seg = io->seg;
	uint64_t skip = io->skip;
	struct sieve_batch b;
	size_t pos;
	int rc;

	for (pos = 0; pos < io->len; pos += b.len) {
		collect_pieces(&b, seg, skip, io->len - pos);
		sort_pieces(&b);
		if (b.overlap)
			collect_pieces(&b, seg, skip, io->len - pos);
		rc = write_batch(io, &b, (const char *)io->buf + pos);
		if (rc)
			return rc;
		seg = b.seg;
		skip = b.skip;
	}
	return 0;
}
