/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_direct.c - I/O past the page cache, from and to the buffers that the network uses.
 * While one chunk goes to the disk, the next one moves over the network (PVFS over InfiniBand,
 * ICPP 2003, section 3.3).  Small requests and small pieces go through the page cache.
 *
 * Whole blocks inside the object go by libaio, in any number at a time.  A thread of the pool
 * does what would block at its start: unaligned edges, which go through the page cache, and
 * writes that extend the object or fill a hole.  ext4 does those inside io_submit(2).
 */
#include <errno.h>

#include "common/util/container.h"
#include "server/store/pieces.h"

#define DIRECT_LEAST (64u << 10)

static struct store_io *io_of(struct sync_work *work)
{
	return container_of(work, struct store_io, work);
}

static struct store_io *io_of_op(struct aio_op *op)
{
	return container_of(op, struct store_io, op);
}

static bool pays(const struct store_io *io)
{
	return io->len >= DIRECT_LEAST && !sieve_pays(io, io->len);
}

static void read_run(struct sync_work *work)
{
	struct store_io *io = io_of(work);

	io->done(io, pieces_read(io, store_obj_read_direct));
}

static void write_run(struct sync_work *work)
{
	struct store_io *io = io_of(work);

	io->done(io, pieces_write(io, store_obj_write_direct));
}

static int start(struct store_io *io, bool write)
{
	io->pos = 0;
	io->work.run = write ? write_run : read_run;
	sync_pool_run(io->pool, io->client, write ? SYNC_WRITE : SYNC_READ,
		      &io->work);
	return -EINPROGRESS;
}

static bool in_blocks(const void *buf, uint64_t len, uint64_t off)
{
	return !(((uintptr_t)buf | len | off) % STORE_BLOCK);
}

/*
 * Fills io->op.  Returns the end of the last piece.  0: a piece is not in whole blocks, the
 * pieces overlap or are not in order, or there are too many.
 */
static uint64_t plan(struct store_io *io, bool write)
{
	const struct store_seg *seg = io->seg;
	uint64_t skip = io->skip, end = 0, off, len;
	int fd = store_obj_direct_fd(io->obj);
	size_t pos;

	aio_begin(&io->op);
	for (pos = 0; pos < io->len; pos += len, seg++, skip = 0) {
		char *at = (char *)io->buf + pos;

		len = piece_len(seg, skip, io->len - pos);
		off = seg->off + skip;
		if (fd < 0 || off < end || !in_blocks(at, len, off) ||
		    !aio_add(&io->op, fd, write, at, len, off))
			return 0;
		end = off + len;
	}
	return end;
}

static void read_over(struct aio_op *op, bool whole)
{
	struct store_io *io = io_of_op(op);

	if (whole)
		io->done(io, 0);
	else
		start(io, false);
}

static void write_over(struct aio_op *op, bool whole)
{
	struct store_io *io = io_of_op(op);

	store_obj_leave(io->obj, &io->entry);
	if (whole)
		io->done(io, 0);
	else
		start(io, true);
}

/* If the write is late, the pool reports that. */
static bool begin_write(struct store_io *io)
{
	if (store_obj_enter(io->obj, io->expiry, &io->entry))
		return false;
	if (aio_start(io->aio, &io->op))
		return true;
	store_obj_leave(io->obj, &io->entry);
	return false;
}

/* Moves the data by libaio.  If not every byte was moved, a thread of the pool does all of it
 * again. */
static bool by_itself(struct store_io *io, bool write)
{
	struct store_stat st;
	uint64_t end;

	if (!io->aio)
		return false;
	end = plan(io, write);
	if (!end || store_obj_stat(io->obj, &st) || end > st.size)
		return false;
	io->op.done = write ? write_over : read_over;
	return write ? begin_write(io) : aio_start(io->aio, &io->op);
}

static int direct_read(struct store_io *io)
{
	if (!pays(io))
		return store_engine_cached.read(io);
	return by_itself(io, false) ? -EINPROGRESS : start(io, false);
}

static int direct_write(struct store_io *io)
{
	if (!pays(io))
		return store_engine_cached.write(io);
	return by_itself(io, true) ? -EINPROGRESS : start(io, true);
}

const struct store_engine store_engine_direct = {
	.name = "direct",
	.read = direct_read,
	.write = direct_write,
};
