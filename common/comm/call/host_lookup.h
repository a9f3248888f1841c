/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host_lookup.h - looks up the addresses of hosts for the peers of a context.  Another thread
 * waits for the system's resolver (resolver.h).
 */
#ifndef HOST_LOOKUP_H
#define HOST_LOOKUP_H

#include <stdbool.h>
#include <sys/queue.h>

#include "common/util/resolver.h"

struct rpc_ctx;

/* The owner keeps it, with host and hosts, until done() or host_lookup_cancel(). */
struct host_query {
	const char *host;
	struct host_addrs *hosts; /* the result of the look-up */
	/*
	 * Called in the thread of the context. status is 0; -EHOSTUNREACH if the resolver found no
	 * address, and `why` is its reason; or another -errno.
	 */
	void (*done)(struct host_query *query, int status, const char *why);
	bool waiting; /* private from here on */
	TAILQ_ENTRY(host_query) link;
};

/* For a context.  Returns 0 or -ENOMEM. */
int host_lookup_open(struct rpc_ctx *ctx);
/* Closes without waiting for look-ups in progress.  The caller has cancelled all queries. */
void host_lookup_close(struct rpc_ctx *ctx);

/* Calls done() and returns 0, or returns -EINPROGRESS and calls done() later. */
int host_lookup_start(struct rpc_ctx *ctx, struct host_query *query);
/* Prevents the call of done(). */
void host_lookup_cancel(struct rpc_ctx *ctx, struct host_query *query);

#endif
