/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crowd.c - many clients of one server in one process.
 *
 *   crowd URI CLIENTS
 *
 * Connects CLIENTS sessions over URI's transport.  Each session sends as many PINGs at once as it
 * has slots, ROUNDS times.  Then the program prints "CLIENTS clients, N answers", and keeps the
 * idle sessions until the end of its input.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/comm/rpc.h"

#define CALLS 8u /* PINGs in flight of each client */
#define ROUNDS 4u
#define PATIENCE_MS 120000u

struct crowd {
	struct tp_dev *dev;
	struct rpc_ctx *ctx;
	struct rpc_peer **peer;
	struct rpc_call *call;
	unsigned int clients, answers, failed;
	uint64_t ping[32];
	size_t ping_len;
};

static void sink(void *arg, enum log_level level, const char *msg)
{
	fprintf(stderr, "%s\n", msg);
}

static void done(struct rpc_call *call)
{
	struct crowd *c = call->arg;

	if (call->status)
		c->failed++;
	else
		c->answers++;
}

static void round_start(struct crowd *c)
{
	unsigned int i;

	for (i = 0; i < c->clients * CALLS; i++) {
		c->call[i] = (struct rpc_call){
			.msg = c->ping,
			.msg_len = c->ping_len,
			.deadline = clock_after_ms(PATIENCE_MS),
			.done = done,
			.arg = c,
		};
		rpc_call_start(c->peer[i / CALLS], &c->call[i]);
	}
}

static void rounds(struct crowd *c)
{
	unsigned int i, all = 0;

	for (i = 0; i < ROUNDS; i++) {
		round_start(c);
		all += c->clients * CALLS;
		while (c->answers + c->failed < all)
			rpc_ctx_progress(c->ctx, clock_after_ms(1000));
	}
}

static int join(struct crowd *c, const struct addr *addr)
{
	struct rpc_cred cred = { .name = "crowd" };
	struct rpc_peer_attr attr = { .addr = *addr,
				      .name = "server",
				      .role = WIRE_ROLE_CLIENT,
				      .cred = &cred };
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < c->clients; i++) {
		attr.session = (uint64_t)getpid() << 32 | (i + 1);
		rc = rpc_peer_open(c->ctx, &attr, &c->peer[i]);
	}
	return rc;
}

/* Keeps the connections until the end of the input. */
static void stay(struct crowd *c)
{
	struct pollfd in = { STDIN_FILENO, POLLIN, 0 };

	while (poll(&in, 1, 0) == 0)
		rpc_ctx_progress(c->ctx, clock_after_ms(100));
}

static int open_all(struct crowd *c, const struct addr *addr,
		    const struct log *log)
{
	struct tp_dev_attr attr = { .log = log };
	struct rpc_ctx_attr cattr = { .log = log };
	struct wire_out out;

	c->peer = calloc(c->clients, sizeof(*c->peer));
	c->call = calloc((size_t)c->clients * CALLS, sizeof(*c->call));
	if (!c->peer || !c->call || tp_dev_open(addr->scheme, &attr, &c->dev))
		return -1;
	cattr.dev = c->dev;
	wire_begin(&out, c->ping, sizeof(c->ping));
	c->ping_len = (size_t)wire_end(&out, WIRE_PING, 0, 0);
	return rpc_ctx_open(&cattr, &c->ctx) ? -1 : join(c, addr);
}

static void close_all(struct crowd *c)
{
	unsigned int i;

	for (i = 0; i < c->clients; i++)
		rpc_peer_close(c->peer[i], true);
	rpc_ctx_close(c->ctx);
	tp_dev_close(c->dev);
	free(c->peer);
	free(c->call);
}

int main(int argc, char **argv)
{
	struct log log = { .level = LOG_LV_WARN, .sink = sink };
	struct crowd c = { 0 };
	struct addr addr;

	if (argc != 3 || addr_parse(argv[1], 0, &addr)) {
		fprintf(stderr, "usage: crowd URI CLIENTS\n");
		return 2;
	}
	c.clients = (unsigned int)atoi(argv[2]);
	if (open_all(&c, &addr, &log))
		return 1;
	rounds(&c);
	printf("%u clients, %u answers\n", c.clients, c.answers);
	fflush(stdout);
	stay(&c);
	close_all(&c);
	return c.failed > 0;
}
