/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen.c - where a server listens: on the rail that its address names or, for pvfs://, on every
 * rail of its contexts with the same port.
 */
#include <errno.h>
#include <string.h>

#include "common/comm/fabric/fabric.h"
#include "common/comm/serve/server_int.h"

static int listen_on(struct rpc_server *server, struct rpc_ctx *ctx,
		     unsigned int rail, struct addr *addr)
{
	struct server_listener *l = &server->listener[server->nlisteners];
	int rc = tp_listen(ctx->rail[rail].cq, addr, 1024, &l->base.listener);

	if (rc)
		return rc;
	tp_listener_addr(l->base.listener, addr);
	log_debug(server->attr.log, "listens on %s, port %u",
		  tp_dev_name(ctx->rails.dev[rail]), addr->port);
	if (fabric_is_local(tp_dev_name(ctx->rails.dev[rail])))
		server->attr.features |= WIRE_FT_LOCAL;
	l->server = server;
	l->rail = rail;
	ctx_rail_use(ctx, rail);
	SLIST_INSERT_HEAD(&ctx->listeners, &l->base, link);
	server->nlisteners++;
	return 0;
}

/* The last rail is the one that every client can use. */
static int listen_on_last(struct rpc_server *server, struct rpc_ctx *ctx)
{
	unsigned int last = ctx->rails.n - 1;
	struct addr addr;
	int rc;

	fabric_addr(&server->attr.addr, &ctx->rails, last, &addr);
	rc = listen_on(server, ctx, last, &addr);
	server->addr.port = addr.port;
	return rc;
}

/* If one of them fails, its clients use the last. */
static void listen_on_others(struct rpc_server *server, struct rpc_ctx *ctx)
{
	const struct rails *rails = &ctx->rails;
	struct addr addr;
	unsigned int i;

	for (i = 0; i + 1 < rails->n; i++) {
		fabric_addr(&server->addr, rails, i, &addr);
		if (listen_on(server, ctx, i, &addr))
			log_warn(server->attr.log,
				 "no clients over %s at port %u; they use %s",
				 tp_dev_name(rails->dev[i]), server->addr.port,
				 tp_dev_name(rails->dev[rails->n - 1]));
	}
}

/*
 * Listening on the last rail must succeed.  It chooses the port if none is given.  Otherwise it
 * comes last, so that a client that finds it also finds the better ones.
 */
static int listen_on_all(struct rpc_server *server, struct rpc_ctx *ctx)
{
	bool chooses = !server->attr.addr.port;
	int rc = chooses ? listen_on_last(server, ctx) : 0;

	if (rc)
		return rc;
	listen_on_others(server, ctx);
	if (!chooses)
		rc = listen_on_last(server, ctx);
	if (rc)
		server_unlisten(server, ctx);
	return rc;
}

/* Listens on each device of the transport with the same port; one of them must succeed. */
static int listen_on_named(struct rpc_server *server, struct rpc_ctx *ctx)
{
	const struct rails *rails = &ctx->rails;
	int rc = -EPROTONOSUPPORT, one;
	unsigned int i;

	for (i = 0; i < rails->n; i++) {
		if (strcmp(tp_dev_name(rails->dev[i]), server->addr.scheme))
			continue;
		one = listen_on(server, ctx, i, &server->addr);
		if (rc)
			rc = one;
	}
	return rc;
}

int server_listen(struct rpc_server *server, struct rpc_ctx *ctx,
		  void (*request)(struct ctx_listener *l,
				  struct tp_conn_req *req))
{
	unsigned int i;

	for (i = 0; i < RAILS_MAX; i++)
		server->listener[i].base.request = request;
	server->addr = server->attr.addr;
	return fabric_any(&server->addr) ? listen_on_all(server, ctx)
					 : listen_on_named(server, ctx);
}

void server_unlisten(struct rpc_server *server, struct rpc_ctx *ctx)
{
	while (server->nlisteners > 0) {
		struct server_listener *l =
			&server->listener[--server->nlisteners];

		SLIST_REMOVE(&ctx->listeners, &l->base, ctx_listener, link);
		tp_unlisten(l->base.listener);
		ctx_rail_leave(ctx, l->rail);
	}
}
