/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_threads.c - a server with two contexts and a thread for each, over tcp.  Clients in
 * their own threads connect, work, disconnect, and are fenced.  For ThreadSanitizer.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/comm/rpc.h"
#include "tests/run_suite.h"

#define NCTX 2
#define NCLIENTS 6
#define ROUNDS 8
#define CALLS 60

static struct {
	struct tp_dev *dev;
	struct rpc_ctx *ctx[NCTX];
	struct rpc_server *server;
	struct addr addr;
	atomic_bool stop;
	atomic_uint_least64_t counter;
	atomic_uint opened, closed, freed;
	atomic_uint on_ctx[NCTX];
} srv;

static int service_open(void *arg, struct rpc_session *session)
{
	struct rpc_session_info *info = rpc_session_info(session);

	atomic_fetch_add(&srv.opened, 1);
	atomic_fetch_add(&srv.on_ctx[info->ctx_index], 1);
	info->priv = calloc(1, sizeof(uint64_t));
	return 0;
}

static void service_close(void *arg, struct rpc_session *session, bool clean)
{
	atomic_fetch_add(&srv.closed, 1);
}

static void service_free(void *arg, struct rpc_session *session)
{
	free(rpc_session_info(session)->priv);
	atomic_fetch_add(&srv.freed, 1);
}

/* priv is not atomic, because one thread serves a session. */
static void service_request(void *arg, struct rpc_req *req)
{
	uint64_t *seen = rpc_session_info(req->session)->priv;
	struct wire_append_rep rep = { htole64((*seen)++) };

	atomic_fetch_add(&srv.counter, 1);
	wire_put(rpc_reply_begin(req), &rep, sizeof(rep));
	rpc_reply_end(req, 0, 0);
	rpc_reply_send(req);
}

static const struct rpc_service service = {
	.session_open = service_open,
	.session_close = service_close,
	.session_free = service_free,
	.request = service_request,
};

static void *serve(void *arg)
{
	struct rpc_ctx *ctx = arg;

	while (!atomic_load(&srv.stop))
		rpc_ctx_progress(ctx, clock_after_ms(1000));
	return NULL;
}

/* ---- a client ---- */

struct client {
	pthread_t thread;
	unsigned int number;
	struct rpc_ctx *ctx;
	struct rpc_peer *peer;
	unsigned int left;
	int status;
};

struct one {
	struct rpc_call call;
	uint64_t msg[16];
	struct client *client;
};

static void one_done(struct rpc_call *call)
{
	struct one *one = call->arg;

	one->client->left--;
	if (call->status)
		one->client->status = call->status;
}

static void one_start(struct client *c, struct one *one)
{
	struct wire_append append = { .handle = htole64(1), .len = htole64(1) };
	struct wire_out out;

	wire_begin(&out, one->msg, sizeof(one->msg));
	wire_put(&out, &append, sizeof(append));
	one->client = c;
	one->call = (struct rpc_call){
		.msg = one->msg,
		.msg_len = (size_t)wire_end(&out, WIRE_APPEND, 0, 0),
		.deadline = clock_after_ms(20000),
		.done = one_done,
		.arg = one,
	};
	rpc_call_start(c->peer, &one->call);
}

static void client_calls(struct client *c)
{
	struct one one[CALLS];
	unsigned int i;

	c->left = CALLS;
	for (i = 0; i < CALLS; i++)
		one_start(c, &one[i]);
	while (c->left)
		rpc_ctx_progress(c->ctx, clock_after_ms(1000));
}

static int client_round(struct client *c, uint64_t session, bool bye)
{
	struct rpc_cred cred = { .uid = 1, .name = "thread" };
	struct rpc_peer_attr attr = {
		.addr = srv.addr,
		.name = "server",
		.role = WIRE_ROLE_CLIENT,
		.session = session,
		.cred = &cred,
	};

	c->status = rpc_peer_open(c->ctx, &attr, &c->peer);
	ck_assert_int_eq(c->status, 0);
	client_calls(c);
	rpc_peer_close(c->peer, bye);
	return c->status;
}

/* Sends BYE, disconnects without it, or is fenced, in turn. */
static void *client_run(void *arg)
{
	struct client *c = arg;
	struct rpc_ctx_attr attr = { .dev = srv.dev, .poll_us = 20 };
	unsigned int i;

	ck_assert_int_eq(rpc_ctx_open(&attr, &c->ctx), 0);
	for (i = 0; i < ROUNDS; i++) {
		uint64_t session = c->number * 1000 + i + 1;

		ck_assert_int_eq(client_round(c, session, i % 3 == 0), 0);
		if (i % 3 == 2) {
			rpc_server_fence(srv.server, session);
			ck_assert_int_eq(client_round(c, session, false),
					 -ESTALE);
		}
	}
	rpc_ctx_close(c->ctx);
	return NULL;
}

static void server_open(void)
{
	struct tp_dev_attr dattr = { 0 };
	struct rpc_ctx_attr cattr = { 0 };
	struct rpc_server_attr attr = {
		.ctx = srv.ctx,
		.nctx = NCTX,
		.addr = { "tcp", "127.0.0.1", 0 },
		.fsid = 1,
		.boot = 1,
		.slots = 16,
		.request_max = 16384,
		.reply_max = 4096,
		.max_sessions = NCLIENTS + 4,
		.session_ttl_ms = 100,
		.service = &service,
	};
	int i;

	ck_assert_int_eq(tp_dev_open("tcp", &dattr, &srv.dev), 0);
	cattr.dev = srv.dev;
	for (i = 0; i < NCTX; i++)
		ck_assert_int_eq(rpc_ctx_open(&cattr, &srv.ctx[i]), 0);
	ck_assert_int_eq(rpc_server_open(&attr, &srv.server), 0);
	rpc_server_addr(srv.server, &srv.addr);
}

static void server_close(void)
{
	int i;

	rpc_server_close(srv.server);
	for (i = 0; i < NCTX; i++)
		rpc_ctx_close(srv.ctx[i]);
	tp_dev_close(srv.dev);
}

START_TEST(sessions_over_threads)
{
	struct client client[NCLIENTS] = { 0 };
	struct rpc_server_stats stats;
	pthread_t thread[NCTX];
	unsigned int i;

	server_open();
	for (i = 0; i < NCTX; i++)
		pthread_create(&thread[i], NULL, serve, srv.ctx[i]);
	for (i = 0; i < NCLIENTS; i++) {
		client[i].number = i;
		pthread_create(&client[i].thread, NULL, client_run, &client[i]);
	}
	for (i = 0; i < NCLIENTS; i++)
		pthread_join(client[i].thread, NULL);
	atomic_store(&srv.stop, true);
	for (i = 0; i < NCTX; i++) {
		rpc_ctx_wake(srv.ctx[i]);
		pthread_join(thread[i], NULL);
	}
	rpc_server_stats(srv.server, &stats);
	ck_assert_uint_eq(stats.requests, NCLIENTS * ROUNDS * CALLS);
	ck_assert_uint_eq(stats.protocol_errors, 0);
	ck_assert_uint_eq(srv.counter, NCLIENTS * ROUNDS * CALLS);
	ck_assert_uint_eq(srv.opened, NCLIENTS * ROUNDS);
	ck_assert_uint_gt(srv.on_ctx[0], 0);
	ck_assert_uint_gt(srv.on_ctx[1], 0);
	server_close();
	ck_assert_uint_eq(srv.freed, srv.opened);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_threads");
	TCase *tc = tcase_create("threads");

	tcase_set_timeout(tc, 100);
	tcase_add_test(tc, sessions_over_threads);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
