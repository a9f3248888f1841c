/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_hear.c - after a sleep, receives what the servers sent meanwhile.  Nothing is then
 * sent to a server that has closed its connection because the session ended, so that the
 * write can run in the next session.
 */
#include <poll.h>

#include "client/lib/io/io_int.h"
#include "common/comm/rpc.h"

#define SLEPT_MS 500u
#define HEAR_MAX 16u /* maximum of rounds */

void io_hear(const struct io *io)
{
	uint64_t began = io->deadline - io->s->timeout_ms * CLOCK_NS_PER_MS;
	uint64_t last = atomic_load_explicit(&io->s->iod_heard,
					     memory_order_relaxed);
	struct rpc_ctx *ctx = io->s->drive.ctx;
	struct pollfd fd[RPC_CTX_FDS];
	unsigned int i, n;
	uint64_t until;

	if (!io->write || began < last + SLEPT_MS * CLOCK_NS_PER_MS)
		return;
	for (i = 0; i < HEAR_MAX; i++)
		if (!rpc_ctx_rest(ctx, fd, &n, &until) && poll(fd, n, 0) <= 0)
			return;
}
