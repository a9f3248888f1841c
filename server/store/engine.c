/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine.c - the engine "cached", which goes through the page cache, and the engine "direct",
 * which moves large transfers past it, from and to the buffers that the network uses.  While one
 * chunk goes to the disk, the next one moves over the network (PVFS over InfiniBand, ICPP 2003,
 * section 3.3).
 */
#include <errno.h>
#include <string.h>

#include "common/util/container.h"
#include "server/store/sieve.h"
#include "server/store/store_engine.h"

/* ---- pieces ---- */

/*
 * Continues from io->pos, seg and skip, and advances them.  Fills with zeros the part beyond the
 * end of the object.  0, or the error of read().
 */
static int pieces_read(struct store_io *io, sieve_read_fn read)
{
	char *buf = io->buf;
	size_t n, got;
	int rc = 0;

	if (sieve_pays(io, io->len - io->pos))
		return sieve_read(io, read);
	while (!rc && io->pos < io->len) {
		n = store_piece_len(io->seg, io->skip, io->len - io->pos);
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

typedef int (*pieces_write_fn)(struct store_obj *obj, const void *buf,
			       size_t len, uint64_t off);

static int write_pieces(const struct store_io *io, pieces_write_fn write)
{
	const struct store_seg *seg = io->seg;
	uint64_t skip = io->skip;
	const char *buf = io->buf;
	size_t pos, n;
	int rc;

	if (sieve_pays(io, io->len))
		return sieve_write(io);
	for (pos = 0; pos < io->len; pos += n, seg++, skip = 0) {
		n = store_piece_len(seg, skip, io->len - pos);
		rc = write(io->obj, buf + pos, n, seg->off + skip);
		if (rc)
			return rc;
	}
	return 0;
}

static int enter_gate(struct store_io *io)
{
	return io->in_gate ? 0
			   : store_obj_enter(io->obj, io->expiry, &io->entry);
}

static void leave_gate(struct store_io *io)
{
	if (!io->in_gate)
		store_obj_leave(io->obj, &io->entry);
}

/*
 * Writes all bytes.  -ETIMEDOUT: the expiry has passed and nothing was written.  Or the error of
 * write(); then a part may be written.
 */
static int pieces_write(struct store_io *io, pieces_write_fn write)
{
	int rc = enter_gate(io);

	if (rc)
		return rc;
	rc = write_pieces(io, write);
	leave_gate(io);
	return rc;
}

/* ---- through the page cache ---- */

/* Each piece may be a system call, and the progress thread serves other clients, too. */
#define PIECES_AT_ONCE 1024u

static bool has_too_many_pieces(const struct store_io *io)
{
	const struct store_seg *seg = io->seg;
	uint64_t skip = io->skip;
	size_t left = io->len;
	unsigned int n;

	for (n = 0; left && n < PIECES_AT_ONCE; n++, seg++, skip = 0)
		left -= store_piece_len(seg, skip, left);
	return left;
}

static void read_from_disk(struct disk_work *work)
{
	struct store_io *io = container_of(work, struct store_io, work);

	io->done(io, pieces_read(io, store_obj_read));
}

static int cached_read(struct store_io *io)
{
	int rc;

	io->pos = 0;
	rc = has_too_many_pieces(io) ? -EAGAIN
				     : pieces_read(io, store_obj_read_cached);
	if (rc != -EAGAIN)
		return rc;
	io->work.run = read_from_disk;
	disk_pool_run(io->pool, io->client, DISK_READ, &io->work);
	return -EINPROGRESS;
}

static void write_to_disk(struct disk_work *work)
{
	struct store_io *io = container_of(work, struct store_io, work);

	io->done(io, pieces_write(io, store_obj_write));
}

/* The kernel blocks writers to a disk while too many pages of the page cache are dirty. */
static int cached_write(struct store_io *io)
{
	if (store_obj_in_memory(io->obj) && !io->has_direct_writer &&
	    !has_too_many_pieces(io))
		return pieces_write(io, store_obj_write);
	io->work.run = write_to_disk;
	disk_pool_run(io->pool, io->client, io->write_kind, &io->work);
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

/*
 * ---- past the page cache ----
 *
 * Whole blocks inside the object go by libaio, in any number at a time.  A thread of the pool
 * does what would block at its start: unaligned edges, which go through the page cache, and
 * writes that extend the object or fill a hole.  ext4 does those inside io_submit(2).  Small
 * requests and small pieces go through the page cache.
 */

#define DIRECT_LEAST (64u << 10)

static struct store_io *io_of(struct disk_work *work)
{
	return container_of(work, struct store_io, work);
}

static struct store_io *io_of_aio(struct aio_op *op)
{
	return container_of(op, struct store_io, op);
}

static bool is_worth_direct(const struct store_io *io)
{
	return io->len >= DIRECT_LEAST && !sieve_pays(io, io->len);
}

static void read_in_pool(struct disk_work *work)
{
	struct store_io *io = io_of(work);

	io->done(io, pieces_read(io, store_obj_read_direct));
}

static void write_in_pool(struct disk_work *work)
{
	struct store_io *io = io_of(work);

	io->done(io, pieces_write(io, store_obj_write_direct));
}

static int start_in_pool(struct store_io *io, bool write)
{
	io->pos = 0;
	io->work.run = write ? write_in_pool : read_in_pool;
	disk_pool_run(io->pool, io->client, write ? io->write_kind : DISK_READ,
		      &io->work);
	return -EINPROGRESS;
}

static bool is_in_blocks(const void *buf, uint64_t len, uint64_t off)
{
	return !(((uintptr_t)buf | len | off) % STORE_BLOCK);
}

/*
 * Fills io->op.  Returns the end of the last piece.  0: a piece is not in whole blocks, the
 * pieces overlap or are not in order, or there are too many.
 */
static uint64_t fill_aio_op(struct store_io *io, bool write)
{
	const struct store_seg *seg = io->seg;
	uint64_t skip = io->skip, end = 0, off, len;
	int fd = store_obj_direct_fd(io->obj);
	size_t pos;

	aio_begin(&io->op);
	for (pos = 0; pos < io->len; pos += len, seg++, skip = 0) {
		char *at = (char *)io->buf + pos;

		len = store_piece_len(seg, skip, io->len - pos);
		off = seg->off + skip;
		if (fd < 0 || off < end || !is_in_blocks(at, len, off) ||
		    !aio_add(&io->op, fd, write, at, len, off))
			return 0;
		end = off + len;
	}
	return end;
}

static void aio_read_complete(struct aio_op *op, bool whole)
{
	struct store_io *io = io_of_aio(op);

	if (whole)
		io->done(io, 0);
	else
		start_in_pool(io, false);
}

static void aio_write_complete(struct aio_op *op, bool whole)
{
	struct store_io *io = io_of_aio(op);

	leave_gate(io);
	if (whole)
		io->done(io, 0);
	else
		start_in_pool(io, true);
}

/* If the write is late, the pool reports that. */
static bool start_aio_write(struct store_io *io)
{
	if (enter_gate(io))
		return false;
	if (aio_start(io->aio, &io->op))
		return true;
	leave_gate(io);
	return false;
}

/* Moves the data by libaio.  If not every byte was moved, a thread of the pool does all of it
 * again. */
static bool start_aio(struct store_io *io, bool write)
{
	struct store_stat st;
	uint64_t end;

	if (!io->aio)
		return false;
	end = fill_aio_op(io, write);
	if (!end || store_obj_stat(io->obj, &st) || end > st.size)
		return false;
	io->op.done = write ? aio_write_complete : aio_read_complete;
	return write ? start_aio_write(io) : aio_start(io->aio, &io->op);
}

static int direct_read(struct store_io *io)
{
	if (!is_worth_direct(io))
		return cached_read(io);
	return start_aio(io, false) ? -EINPROGRESS : start_in_pool(io, false);
}

static int direct_write(struct store_io *io)
{
	if (!is_worth_direct(io))
		return cached_write(io);
	return start_aio(io, true) ? -EINPROGRESS : start_in_pool(io, true);
}

const struct store_engine store_engine_direct = {
	.name = "direct",
	.read = direct_read,
	.write = direct_write,
};
