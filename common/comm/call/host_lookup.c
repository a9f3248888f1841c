/* SPDX-License-Identifier: BSD-2-Clause */
/* host_lookup.c - the queries of a context that wait for the resolver. */
#include "common/comm/call/host_lookup.h"

#include <errno.h>
#include <stdlib.h>

#include "common/comm/progress/ctx.h"

struct host_lookups {
	struct rpc_ctx *ctx;
	struct resolver *resolver;
	struct resolver_watch watch;
	struct ctx_hook hook; /* raised when a look-up has ended */
	TAILQ_HEAD(host_queries, host_query) waiting;
};

/* Runs in the thread of the resolver. */
static void raise_hook(struct resolver_watch *watch)
{
	struct host_lookups *lookups = container_of(watch, struct host_lookups,
						    watch);

	ctx_hook_raise(lookups->ctx, &lookups->hook);
}

int host_lookup_start(struct rpc_ctx *ctx, struct host_query *query)
{
	struct host_lookups *lookups = ctx->lookups;
	const char *why = NULL;
	int rc = resolver_get(lookups->resolver, query->host, query->hosts,
			      &why);

	if (rc == -EINPROGRESS) {
		query->waiting = true;
		TAILQ_INSERT_TAIL(&lookups->waiting, query, link);
		return rc;
	}
	query->done(query, rc, why);
	return 0;
}

void host_lookup_cancel(struct rpc_ctx *ctx, struct host_query *query)
{
	if (query->waiting)
		TAILQ_REMOVE(&ctx->lookups->waiting, query, link);
	query->waiting = false;
}

/* Asks again for all that wait now.  done() may start and cancel other queries. */
static void retry_waiting(struct ctx_hook *hook)
{
	struct host_lookups *lookups = container_of(hook, struct host_lookups,
						    hook);
	struct host_query *query;
	unsigned int n = 0;

	TAILQ_FOREACH(query, &lookups->waiting, link)
		n++;
	for (; n && (query = TAILQ_FIRST(&lookups->waiting)); n--) {
		host_lookup_cancel(lookups->ctx, query);
		host_lookup_start(lookups->ctx, query);
	}
}

int host_lookup_open(struct rpc_ctx *ctx)
{
	struct host_lookups *lookups = calloc(1, sizeof(*lookups));
	int rc;

	if (!lookups)
		return -ENOMEM;
	rc = resolver_open(&lookups->resolver);
	if (rc) {
		free(lookups);
		return rc;
	}
	lookups->ctx = ctx;
	TAILQ_INIT(&lookups->waiting);
	lookups->hook.run = retry_waiting;
	ctx_hook_add(ctx, &lookups->hook);
	lookups->watch.ended = raise_hook;
	resolver_watch(lookups->resolver, &lookups->watch);
	ctx->lookups = lookups;
	return 0;
}

void host_lookup_close(struct rpc_ctx *ctx)
{
	struct host_lookups *lookups = ctx->lookups;

	resolver_unwatch(lookups->resolver, &lookups->watch);
	ctx_hook_remove(ctx, &lookups->hook);
	resolver_close(lookups->resolver);
	free(lookups);
}
