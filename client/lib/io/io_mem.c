/* SPDX-License-Identifier: BSD-2-Clause */
/* io_mem.c - the memory of an operation, and releasing the caller's memory. */
#include <errno.h>
#include <stdlib.h>

#include "client/lib/io/io_int.h"
#include "client/lib/session/coroutine.h"

int io_alloc(struct io *io)
{
	unsigned int nmem = regs_max(io->plan);

	io->server = io->few_server;
	io->slot = io->few_slot;
	io->mem = io->few_mem;
	io->area = io->few_area;
	io->gap = io->few_gap;
	io->maxgap = IO_GAPS;
	if (io->nserver > IO_SERVERS) {
		io->server = calloc(io->nserver, sizeof(*io->server));
		io->slot = calloc(io->nserver * IO_DEPTH, sizeof(*io->slot));
	}
	if (nmem > IO_IOVS) {
		io->mem = calloc(nmem, sizeof(*io->mem));
		io->area = calloc(nmem, sizeof(*io->area));
	}
	if (!io->server || !io->slot || !io->mem || !io->area)
		return -ENOMEM;
	return 0;
}

/*
 * Deregisters memory that a server may still access before it returns to the caller,
 * however long that takes.  Other calls with the same registration end by their
 * deadlines.
 */
static int io_take_back(void *arg)
{
	const struct io *io = arg;
	unsigned int i;

	for (i = 0; i < io->nmem; i++)
		rail_mem_drop(&io->mem[i]);
	return rails_settle(rpc_ctx_rails(io->s->drive.ctx), CLOCK_NEVER);
}

static void io_unpin(struct io *io)
{
	unsigned int i;

	if (io->doubt) {
		/* without a thread, wait here: the memory must be released */
		if (strand_aside(io_take_back, io) == -EAGAIN)
			io_take_back(io);
		return;
	}
	for (i = 0; i < io->nmem; i++)
		rail_mem_fini(&io->mem[i]);
}

void io_free(struct io *io)
{
	io_unpin(io);
	if (io->server != io->few_server)
		free(io->server);
	if (io->slot != io->few_slot)
		free(io->slot);
	if (io->mem != io->few_mem)
		free(io->mem);
	if (io->area != io->few_area)
		free(io->area);
	if (io->gap != io->few_gap)
		free(io->gap);
	io->nmem = 0;
}
