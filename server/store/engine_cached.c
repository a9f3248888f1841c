/* SPDX-License-Identifier: BSD-2-Clause */
/* engine_cached.c - I/O through the page cache, done at once. */
#include <string.h>

#include "store_engine.h"

static size_t piece_len(const struct store_seg *seg, uint64_t skip, size_t left)
{
	return seg->len - skip < left ? (size_t)(seg->len - skip) : left;
}

static int cached_read(struct store_io *io)
{
	const struct store_seg *seg = io->seg;
	uint64_t skip = io->skip;
	size_t pos, n, got;
	char *buf = io->buf;
	int rc;

	for (pos = 0; pos < io->len; pos += n, seg++, skip = 0) {
		n = piece_len(seg, skip, io->len - pos);
		rc = store_obj_read(io->obj, buf + pos, n, seg->off + skip,
				    &got);
		if (rc)
			return rc;
		if (got < n)
			memset(buf + pos + got, 0, n - got);
	}
	return 0;
}

static int cached_write(struct store_io *io)
{
	const struct store_seg *seg = io->seg;
	uint64_t skip = io->skip;
	const char *buf = io->buf;
	size_t pos, n;
	int rc;

	for (pos = 0; pos < io->len; pos += n, seg++, skip = 0) {
		n = piece_len(seg, skip, io->len - pos);
		rc = store_obj_write(io->obj, buf + pos, n, seg->off + skip);
		if (rc)
			return rc;
	}
	return 0;
}

const struct store_engine store_engine_cached = {
	.name = "cached",
	.read = cached_read,
	.write = cached_write,
};
