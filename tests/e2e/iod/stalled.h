/* SPDX-License-Identifier: BSD-2-Clause */
/* stalled.h - a client sends a WRITE and does not move its data. */
#ifndef STALLED_H
#define STALLED_H

#include "tests/e2e/iod/iodc.h"

struct stalled {
	struct iodc c;
	struct rpc_call call;
	uint64_t buf[WIRE_BODY_MAX / 8];
	bool over;
};

/* Sends a WRITE with a deadline after ms, and does nothing more: the iod holds buffers for it. */
void stall(struct stalled *s, const struct addr *addr, uint64_t handle,
	   uint64_t ms);
/* Returns when the iod has received everything that was sent before, and done all due work. */
void catch_up(struct iodc *client);

#endif
