/* SPDX-License-Identifier: BSD-2-Clause */
/* lookup.c - peers that wait for the addresses of their hosts. */
#include "common/comm/call/lookup_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/call/peer_int.h"

struct lookups {
	struct rpc_ctx *ctx;
	struct resolver *resolver;
	struct resolver_watch watch;
	struct ctx_hook hook; /* raised when a look-up has ended */
	TAILQ_HEAD(naming, rpc_peer) waiting;
};

static void look_up_ended(struct resolver_watch *watch)
{
	struct lookups *lookups = container_of(watch, struct lookups, watch);

	ctx_hook_raise(lookups->ctx, &lookups->hook);
}

static void leave(struct rpc_peer *peer)
{
	TAILQ_REMOVE(&peer->link.ctx->lookups->waiting, peer, naming_link);
	peer->naming = false;
}

static void look_again(struct ctx_hook *hook)
{
	struct lookups *lookups = container_of(hook, struct lookups, hook);
	struct rpc_peer *peer, *last = TAILQ_LAST(&lookups->waiting, naming);
	bool end = !last;

	while (!end && (peer = TAILQ_FIRST(&lookups->waiting))) {
		end = peer == last;
		leave(peer);
		lookup_find(peer);
	}
}

int lookup_open(struct rpc_ctx *ctx)
{
	struct lookups *lookups = calloc(1, sizeof(*lookups));
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
	lookups->hook.run = look_again;
	ctx_hook_add(ctx, &lookups->hook);
	lookups->watch.ended = look_up_ended;
	resolver_watch(lookups->resolver, &lookups->watch);
	ctx->lookups = lookups;
	return 0;
}

void lookup_close(struct rpc_ctx *ctx)
{
	struct lookups *lookups = ctx->lookups;

	resolver_unwatch(lookups->resolver, &lookups->watch);
	ctx_hook_remove(ctx, &lookups->hook);
	resolver_close(lookups->resolver);
	free(lookups);
}

static void wait_for(struct rpc_peer *peer)
{
	peer->reason = -EINPROGRESS;
	peer->naming = true;
	TAILQ_INSERT_TAIL(&peer->link.ctx->lookups->waiting, peer, naming_link);
}

/* Logged when the problem begins, not at each attempt. */
static void say_unknown(const struct rpc_peer *peer, const char *why)
{
	if (!peer->down)
		log_error(
			peer->link.ctx->log,
			"%s: host \"%s\": %s; correct the name or the resolver",
			peer->name, peer->addr.host, why);
}

void lookup_find(struct rpc_peer *peer)
{
	const char *why = NULL;
	int rc = resolver_get(peer->link.ctx->lookups->resolver,
			      peer->addr.host, &peer->hosts, &why);

	if (rc == -EINPROGRESS) {
		wait_for(peer);
		return;
	}
	if (rc == -EHOSTUNREACH)
		say_unknown(peer, why);
	peer_named(peer, rc);
}

void lookup_forget(struct rpc_peer *peer)
{
	if (peer->naming)
		leave(peer);
}
