/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server.c - opens and closes a server.  It listens on the rail that its address names or, for
 * pvfs://, on every rail of its contexts with the same port.
 */
#include "common/comm/serve/conn_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/fabric/fabric.h"

/* ---- listeners ---- */

static void server_unlisten(struct rpc_server *server, struct rpc_ctx *ctx)
{
	while (server->nlisteners > 0) {
		struct server_listener *l =
			&server->listener[--server->nlisteners];

		SLIST_REMOVE(&ctx->listeners, &l->base, ctx_listener, link);
		tp_unlisten(l->base.listener);
		ctx_rail_leave(ctx, l->rail);
	}
}

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

static int server_listen(struct rpc_server *server, struct rpc_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < RAILS_MAX; i++)
		server->listener[i].base.request = connect_requested;
	server->addr = server->attr.addr;
	return fabric_any(&server->addr) ? listen_on_all(server, ctx)
					 : listen_on_named(server, ctx);
}

/* ---- mails ---- */

static void server_handle_mail(struct server_thread *thread,
			       struct thread_mail *mail)
{
	struct rpc_session *s = mail->session;

	if (mail == &s->expel_mail) {
		session_end(s, false);
	} else {
		connect_continue(thread, mail);
		free(mail);
	}
	session_mail_handled(s);
}

static void server_handle_mails(struct ctx_hook *hook)
{
	struct server_thread *thread = container_of(hook, struct server_thread,
						    hook);
	struct thread_mail *mail;

	while ((mail = server_thread_next_mail(thread)))
		server_handle_mail(thread, mail);
}

/* ---- public ---- */

int rpc_server_open(const struct rpc_server_attr *attr, struct rpc_server **out)
{
	struct rpc_server *server = calloc(1, sizeof(*server));
	struct rpc_ctx *ctx = attr->ctx[0];
	unsigned int i;
	int rc;

	if (!server)
		return -ENOMEM;
	server->attr = *attr;
	server->attr.features |= WIRE_FT_JOB | WIRE_FT_EVICT | WIRE_FT_GROUPS |
				 WIRE_FT_WAITS | WIRE_FT_TOOL | WIRE_FT_ROOM;
	if (attr->service && attr->service->find_leader)
		server->attr.features |= WIRE_FT_LEADER;
	server->skew = clock_boot() - clock_now();
	if (!attr->stall_ms)
		server->attr.stall_ms = SERVER_STALL_MS;
	if (!attr->carry_ms)
		server->attr.carry_ms = server->attr.stall_ms / 2;
	server->attr.ctx = NULL;
	server->fast.max = attr->fast_bytes;
	server->threads = calloc(attr->nctx, sizeof(*server->threads));
	rc = server->threads ? labels_init(&server->labels, attr->nctx)
			     : -ENOMEM;
	if (rc)
		goto free_lanes;
	rc = server_listen(server, ctx);
	if (rc)
		goto fini_labels;
	server->attr.ctx = attr->ctx;
	for (i = 0; i < attr->nctx; i++)
		server_thread_init(&server->threads[i], server, i,
				   server_handle_mails);
	server->attr.ctx = NULL;
	server->nthreads = attr->nctx;
	pthread_mutex_init(&server->lock, NULL);
	TAILQ_INIT(&server->disconnected);
	TAILQ_INIT(&server->guests);
	TAILQ_INIT(&server->tools);
	LIST_INIT(&server->all);
	*out = server;
	return 0;
fini_labels:
	labels_fini(&server->labels);
free_lanes:
	free(server->threads);
	free(server);
	return rc;
}

void rpc_server_close(struct rpc_server *server)
{
	struct rpc_ctx *ctx = server->threads[0].ctx;
	struct rpc_session *s;
	unsigned int i;

	server_unlisten(server, ctx);
	for (i = 0; i < server->nthreads; i++)
		server_thread_fini(&server->threads[i]);
	while ((s = LIST_FIRST(&server->all)))
		session_free(s);
	fence_free(server);
	labels_fini(&server->labels);
	pthread_mutex_destroy(&server->lock);
	free(server->threads);
	free(server);
}

void rpc_server_addr(const struct rpc_server *server, struct addr *addr)
{
	*addr = server->addr;
}
