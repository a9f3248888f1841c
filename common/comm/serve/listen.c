/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen.c - where a server listens: on the rail that its address names, or,
 * for pvfs://, on every rail of its contexts under one port.
 */
#include <errno.h>
#include <string.h>

#include "fabric.h"
#include "server_int.h"

static int listen_on(struct rpc_server *server, struct rpc_ctx *ctx,
		     unsigned int rail, struct addr *addr)
{
	struct server_listener *l = &server->listener[server->nlisteners];
	int rc = tp_listen(ctx->rail[rail].cq, addr, 1024, &l->base.listener);

	if (rc)
		return rc;
	tp_listener_addr(l->base.listener, addr);
	l->server = server;
	l->rail = rail;
	ctx_rail_use(ctx, rail);
	SLIST_INSERT_HEAD(&ctx->listeners, &l->base, link);
	server->nlisteners++;
	return 0;
}

/*
 * The last rail is the one that every client can use: it has to do, and
 * chooses the port.  Without another one, clients of that rail use the last.
 */
static int listen_on_all(struct rpc_server *server, struct rpc_ctx *ctx)
{
	const struct rails *rails = &ctx->rails;
	unsigned int i = rails->n - 1;
	struct addr addr = server->attr.addr;
	int rc;

	fabric_addr(&server->attr.addr, rails, i, &addr);
	rc = listen_on(server, ctx, i, &addr);
	server->addr.port = addr.port;
	while (!rc && i-- > 0) {
		fabric_addr(&server->addr, rails, i, &addr);
		if (listen_on(server, ctx, i, &addr))
			log_warn(server->attr.log,
				 "no clients over %s at port %u; they use %s",
				 tp_dev_name(rails->dev[i]), server->addr.port,
				 tp_dev_name(rails->dev[rails->n - 1]));
	}
	return rc;
}

/* On each device of the transport, under one port; one of them has to do. */
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
