/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_direct.c - I/O past the page cache, from and to the buffers that the
 * network uses, on the threads of the pool: while one chunk meets the disk, the
 * next one moves over the network (PVFS over InfiniBand, ICPP 2003, section
 * 3.3).  Small requests and small pieces are the page cache's.
 *
 * Threads and not libaio: a write that makes a file of ext4 longer, as most do,
 * is carried out in io_submit(2) before that returns.
 */
#include <errno.h>
#include <stddef.h>

#include "pieces.h"

#define DIRECT_LEAST (64u << 10)

static struct store_io *io_of(struct sync_work *work)
{
	return (struct store_io *)(void *)((char *)work -
					   offsetof(struct store_io, work));
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

static int start(struct store_io *io, void (*run)(struct sync_work *work))
{
	io->pos = 0;
	io->work.run = run;
	sync_pool_run(io->pool, &io->work);
	return -EINPROGRESS;
}

static int direct_read(struct store_io *io)
{
	return pays(io) ? start(io, read_run) : store_engine_cached.read(io);
}

static int direct_write(struct store_io *io)
{
	return pays(io) ? start(io, write_run) : store_engine_cached.write(io);
}

const struct store_engine store_engine_direct = {
	.name = "direct",
	.read = direct_read,
	.write = direct_write,
};
