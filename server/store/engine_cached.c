/* SPDX-License-Identifier: BSD-2-Clause */
/* engine_cached.c - I/O through the page cache. */
#include <errno.h>
#include <string.h>

#include "common/util/container.h"
#include "server/store/pieces.h"

/* Each piece may be a system call, and the progress thread serves other clients, too. */
#define PIECES_AT_ONCE 1024u

static bool too_many(const struct store_io *io)
{
	const struct store_seg *seg = io->seg;
	uint64_t skip = io->skip;
	size_t left = io->len;
	unsigned int n;

	for (n = 0; left && n < PIECES_AT_ONCE; n++, seg++, skip = 0)
		left -= piece_len(seg, skip, left);
	return left;
}

int pieces_read(struct store_io *io, sieve_read_fn read)
{
	char *buf = io->buf;
	size_t n, got;
	int rc = 0;

	if (sieve_pays(io, io->len - io->pos))
		return sieve_read(io, read);
	while (!rc && io->pos < io->len) {
		n = piece_len(io->seg, io->skip, io->len - io->pos);
		rc = read(io->obj, buf + io->pos, n, io->seg->off + io->skip,
			  &got);
		if (rc) {
			io->pos += got;
			io->skip += got;
			break;
		}
		memset(buf + io->pos + got, 0, n - got);
		io->pos += n;
		io->seg++;
		io->skip = 0;
	}
	return rc;
}

static void read_from_disk(struct sync_work *work)
{
	struct store_io *io = container_of(work, struct store_io, work);

	io->done(io, pieces_read(io, store_obj_read));
}

static int cached_read(struct store_io *io)
{
	int rc;

	io->pos = 0;
	rc = too_many(io) ? -EAGAIN : pieces_read(io, store_obj_read_cached);
	if (rc != -EAGAIN)
		return rc;
	io->work.run = read_from_disk;
	sync_pool_run(io->pool, io->client, SYNC_READ, &io->work);
	return -EINPROGRESS;
}

static int write_all(const struct store_io *io, pieces_write_fn write)
{
	const struct store_seg *seg = io->seg;
	uint64_t skip = io->skip;
	const char *buf = io->buf;
	size_t pos, n;
	int rc;

	if (sieve_pays(io, io->len))
		return sieve_write(io);
	for (pos = 0; pos < io->len; pos += n, seg++, skip = 0) {
		n = piece_len(seg, skip, io->len - pos);
		rc = write(io->obj, buf + pos, n, seg->off + skip);
		if (rc)
			return rc;
	}
	return 0;
}

int pieces_write(struct store_io *io, pieces_write_fn write)
{
	int rc = store_obj_enter(io->obj, io->expiry, &io->entry);

	if (rc)
		return rc;
	rc = write_all(io, write);
	store_obj_leave(io->obj, &io->entry);
	return rc;
}

static void write_to_disk(struct sync_work *work)
{
	struct store_io *io = container_of(work, struct store_io, work);

	io->done(io, pieces_write(io, store_obj_write));
}

/* The kernel blocks writers to a disk while too many pages of the page cache are dirty. */
static int cached_write(struct store_io *io)
{
	if (store_obj_in_memory(io->obj) && !io->held && !too_many(io))
		return pieces_write(io, store_obj_write);
	io->work.run = write_to_disk;
	sync_pool_run(io->pool, io->client, SYNC_WRITE, &io->work);
	return -EINPROGRESS;
}

static void *cached_map(struct store_obj *obj, uint64_t off, size_t len)
{
	return store_obj_map(obj, off, len);
}

const struct store_engine store_engine_cached = {
	.name = "cached",
	.read = cached_read,
	.write = cached_write,
	.map = cached_map,
};
