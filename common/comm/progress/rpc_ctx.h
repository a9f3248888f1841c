/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc_ctx.h - a progress context, part of rpc.h.
 *
 * Threads.  All functions on a ctx and what was made on it belong to one
 * thread at a time, except rpc_ctx_wake().
 */
#ifndef RPC_CTX_H
#define RPC_CTX_H

/* Tables, their comments in columns: laid out by hand. */
/* clang-format off */

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/comm/fabric/fabric.h"
#include "common/util/log.h"
#include "common/buffer/rail.h"
#include "common/comm/fabric/sizes.h"
#include "common/transport/transport.h"
#include "common/wire/wire.h"

struct rpc_ctx;

struct rpc_ctx_attr {
	const struct fabric *fabric;	/* outlives the ctx */
	struct tp_dev *dev;		/* fabric NULL: the only device */
	const struct log *log;
	unsigned int poll_us;		/* poll and yield this long before
					 * sleeping, seldom where that is in
					 * vain; 0: sleep at once */
	unsigned int far_us;		/* so long where that pays (spin.h) */
	enum pins_mode pins;		/* of memory with rail_mem.keep; 0: off */
	struct sizes inline_max;	/* of clients: the payload of a write that
					 * goes in its message, and */
	struct sizes fast_max;		/* by Fast RDMA; what is not said is
					 * chosen (call_way_int.h) */
	bool apart;			/* of clients: bulk data over an endpoint of
					 * its own on all devices, for tests; else
					 * where it has a class of its own */
	bool carry;			/* of clients: servers may ask them to move
					 * payload themselves (rendezvous.h), */
	unsigned int carry_parts;	/* so many parts of it at a time; servers are
					 * left what is more.  0: 32 */
};
/* In a child after fork(): see tp_cq_abandon(); peers and servers as well. */
void rpc_ctx_abandon(struct rpc_ctx *ctx);
const struct rails *rpc_ctx_rails(const struct rpc_ctx *ctx);

/*
 * Moves everything once: flushes, polls, runs callbacks and timers.  If there
 * was nothing to do it sleeps until there is, rpc_ctx_wake(), or the
 * deadline.  Returns the number of things handled (0 after a wake or the
 * deadline).  Callbacks run only from here.
 */
int rpc_ctx_progress(struct rpc_ctx *ctx, uint64_t deadline);
/* When that was called last, clock_now(). */
uint64_t rpc_ctx_progressed(const struct rpc_ctx *ctx);
/*
 * Calls started between the two may go out at the release only, which follows
 * without a wait: for those that go to several peers.  Does not nest.
 */
void rpc_ctx_hold(struct rpc_ctx *ctx);
void rpc_ctx_release(struct rpc_ctx *ctx);
/* From any thread or signal handler. */
void rpc_ctx_wake(struct rpc_ctx *ctx);

/* A one-shot timer, caller-owned; fires from rpc_ctx_progress(). */
struct rpc_timer {
	void (*fire)(struct rpc_timer *timer);
	uint64_t at;			/* private below */
	struct rpc_timer *child, *next, *prev;
	bool armed;
};
void rpc_timer_set(struct rpc_ctx *ctx, struct rpc_timer *timer, uint64_t at);
void rpc_timer_clear(struct rpc_ctx *ctx, struct rpc_timer *timer);

/* Part of a call: its deadline, in a list of all. */
struct rpc_due {
	uint64_t at;
	TAILQ_ENTRY(rpc_due) link;
};

#define RPC_CTX_FDS (RAILS_MAX + 1)
/*
 * For a thread that sleeps while nobody calls rpc_ctx_progress(): moves
 * everything once, and never sleeps itself.  Returns the number of things
 * handled, or 1: come again.  0: one of the first *n of fd (room for
 * RPC_CTX_FDS) becomes readable when there is something to do, and *until is
 * when there is without that (CLOCK_NEVER: not).  The descriptors are open until
 * rpc_ctx_close(); what is said of them holds until the next
 * rpc_ctx_progress().
 */
int rpc_ctx_rest(struct rpc_ctx *ctx, struct pollfd *fd, unsigned int *n,
		 uint64_t *until);

/* Who a client is, as it tells its servers. */
struct rpc_cred {
	uint32_t uid, gid;
	uint32_t ngroups;		/* at most WIRE_GROUPS_MAX, or they name a list */
	uint32_t groups[WIRE_GROUPS_MAX];
	char name[64];			/* "host:pid:program", for the server's log */
};

#endif
