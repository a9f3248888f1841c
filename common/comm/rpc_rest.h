/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_rest.h - a progress context that sleeps by other means than its own. */
#ifndef RPC_REST_H
#define RPC_REST_H

#include <poll.h>

#include "rpc.h"

#define RPC_CTX_FDS (RAILS_MAX + 1)

/*
 * For a thread that sleeps while nobody calls rpc_ctx_progress(): moves
 * everything once, and never sleeps itself.  Returns the number of things
 * handled, or 1: come again.  0: one of the first *n of fd (room for
 * RPC_CTX_FDS) becomes readable when there is something to do, and *until is
 * when there is without that (CLOCK_NEVER: not).  The descriptors are open until
 * rpc_ctx_close(); what is said of them holds until the next
 * rpc_ctx_progress().
 */
int rpc_ctx_rest(struct rpc_ctx *ctx, struct pollfd *fd, unsigned int *n,
		 uint64_t *until);

#endif
