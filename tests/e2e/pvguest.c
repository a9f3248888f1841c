/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvguest.c - a client without a ticket, over any transport.
 *
 * 	pvguest URI FSID SESSION OP
 *
 * Connects with the session number SESSION (hexadecimal; 0: a number of its own), sends the request
 * OP (a number of wire.h) without a body, and prints the status of the reply: 0 or an errno.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/comm/call/peer_int.h"
#include "common/comm/rpc.h"

#define PATIENCE_MS 20000u
/* an epoch greater than that of any earlier connection of a session */
#define LATER 0x7fffff00u

static void sink(void *arg, enum log_level level, const char *msg)
{
	fprintf(stderr, "%s\n", msg);
}

static void done(struct rpc_call *call)
{
	*(int *)call->arg = -call->status;
}

static int ask(struct rpc_ctx *ctx, struct rpc_peer *peer, enum wire_op op)
{
	uint64_t msg[32];
	struct wire_out out;
	int status = -1;
	struct rpc_call call = { .msg = msg,
				 .deadline = clock_after_ms(PATIENCE_MS),
				 .done = done,
				 .arg = &status };

	wire_begin(&out, msg, sizeof(msg));
	call.msg_len = (size_t)wire_end(&out, op, 0, 0);
	rpc_call_start(peer, &call);
	while (status < 0)
		rpc_ctx_progress(ctx, clock_after_ms(1000));
	return status;
}

static int come(struct rpc_ctx *ctx, char **argv, const struct addr *addr)
{
	struct rpc_cred cred = { .uid = getuid(), .name = "guest" };
	struct rpc_peer_attr attr = { .addr = *addr,
				      .name = "server",
				      .role = WIRE_ROLE_CLIENT,
				      .fsid = strtoull(argv[2], NULL, 16),
				      .session = strtoull(argv[3], NULL, 16),
				      .cred = &cred };
	struct rpc_peer *peer;
	int rc;

	if (!attr.session)
		attr.session = clock_now() << 20 | (uint32_t)getpid();
	rc = rpc_peer_open(ctx, &attr, &peer);
	if (rc)
		return -rc;
	peer->epoch = LATER;
	rc = ask(ctx, peer, (enum wire_op)atoi(argv[4]));
	rpc_peer_close(peer, false);
	return rc;
}

int main(int argc, char **argv)
{
	struct log log = { .level = LOG_LV_WARN, .sink = sink };
	struct tp_dev_attr attr = { .log = &log };
	struct rpc_ctx_attr cattr = { .log = &log };
	struct rpc_ctx *ctx;
	struct addr addr;

	if (argc != 5 || addr_parse(argv[1], 0, &addr)) {
		fprintf(stderr, "usage: pvguest URI FSID SESSION OP\n");
		return 2;
	}
	if (tp_dev_open(addr.scheme, &attr, &cattr.dev) ||
	    rpc_ctx_open(&cattr, &ctx))
		return 1;
	printf("%d\n", come(ctx, argv, &addr));
	rpc_ctx_close(ctx);
	tp_dev_close(cattr.dev);
	return 0;
}
