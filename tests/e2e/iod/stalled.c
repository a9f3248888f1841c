/* SPDX-License-Identifier: BSD-2-Clause */
/* stalled.c - see stalled.h. */
#include "tests/e2e/iod/stalled.h"

#include <string.h>

#include "common/util/clock.h"

static void stalled_done(struct rpc_call *call)
{
	((struct stalled *)call->arg)->over = true;
}

void stall(struct stalled *s, const struct addr *addr, uint64_t handle,
	   uint64_t ms)
{
	struct wire_io body = { .handle = htole64(handle),
				.total = htole64(1 << 20),
				.nreg = htole32(1),
				.nmem = htole32(1) };
	struct wire_region reg = { 0, htole64(1 << 20) };
	struct wire_mem mem = { .len = htole32(1 << 20) };
	struct wire_out out;

	memset(s, 0, sizeof(*s));
	iodc_open(&s->c, addr, WIRE_ROLE_CLIENT, 0);
	must(!iodc_call(&s->c, WIRE_PING, NULL, 0, NULL, 0));
	mem.addr = htole64((uintptr_t)s->c.arena);
	mem.rkey = htole32(s->c.mr->rkey);
	wire_begin(&out, s->buf, sizeof(s->buf));
	wire_put(&out, &body, sizeof(body));
	wire_put(&out, &reg, sizeof(reg));
	wire_put(&out, &mem, sizeof(mem));
	must(wire_end(&out, WIRE_WRITE, 0, 0) > 0);
	s->call = (struct rpc_call){ .msg = s->buf,
				     .msg_len = out.len,
				     .deadline = clock_after_ms(ms),
				     .done = stalled_done,
				     .arg = s };
	rpc_call_start(s->c.peer, &s->call);
	rpc_ctx_progress(s->c.ctx, 0);
}

void catch_up(struct iodc *client)
{
	for (int i = 0; i < 2; i++)
		must(!iodc_call(client, WIRE_PING, NULL, 0, NULL, 0));
}
