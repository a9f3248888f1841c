/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc_ctx.h - a progress context, part of rpc.h.
 *
 * Threads.  All functions on a ctx, and on objects made with it, belong to one thread at a time,
 * except rpc_ctx_wake().
 */
#ifndef RPC_CTX_H
#define RPC_CTX_H

/* Tables with their comments in columns: laid out by hand. */
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
	/* used if fabric is NULL: the only device */
	struct tp_dev *dev;
	const struct log *log;
	/*
	 * Microseconds for which the context polls before it sleeps; 0 means that it does not poll.
	 * It polls less often if polling has found nothing before.
	 */
	unsigned int poll_us;
	/* poll_us for waits in which longer polling has found something before (spin.h) */
	unsigned int far_us;
	/* mode for memory with rail_mem.keep; 0 means that nothing is kept */
	enum pins_mode pins;
	/*
	 * For clients: the maximum payload of a request in its message, and by Fast RDMA. If a size
	 * is not set, the client chooses it (payload_int.h).
	 */
	struct sizes inline_max, fast_max;
	/*
	 * For clients in tests: they use a separate endpoint for bulk data on all devices, not only
	 * on those with a separate network class for bulk data.
	 */
	bool apart;
	/* For clients: servers may ask them to move payload themselves (rendezvous.h). */
	bool carry;
	/*
	 * For clients: the maximum of parts that they move at a time; the server moves further
	 * ones. 0 means 32.
	 */
	unsigned int carry_parts;
};
/* In a child after fork(): closes the descriptors of ctx, peers and servers: tp_cq_abandon(). */
void rpc_ctx_abandon(struct rpc_ctx *ctx);
const struct rails *rpc_ctx_rails(const struct rpc_ctx *ctx);

/*
 * Runs one round: flushes, polls, and runs callbacks and timers. If there was nothing to do, sleeps
 * until there is work, until rpc_ctx_wake(), or until the deadline. Returns the number of events
 * handled; 0 means that it was woken, or that the deadline passed. Callbacks run only in this
 * function.
 */
int rpc_ctx_progress(struct rpc_ctx *ctx, uint64_t deadline);
/* Returns the start of the last round of rpc_ctx_progress(), in clock_now() time. */
uint64_t rpc_ctx_progressed(const struct rpc_ctx *ctx);
/*
 * For calls to several peers: calls that start after rpc_ctx_hold() may be sent together at
 * rpc_ctx_release(), which must follow without a wait.  The pairs do not nest.
 */
void rpc_ctx_hold(struct rpc_ctx *ctx);
void rpc_ctx_release(struct rpc_ctx *ctx);
/* Any thread or signal handler may call it. */
void rpc_ctx_wake(struct rpc_ctx *ctx);

/* A one-shot timer, owned by the caller.  Fires from rpc_ctx_progress(). */
struct rpc_timer {
	void (*fire)(struct rpc_timer *timer);
	uint64_t at;			/* private from here on */
	struct rpc_timer *child, *next, *prev;
	bool armed;
};
void rpc_timer_set(struct rpc_ctx *ctx, struct rpc_timer *timer, uint64_t at);
void rpc_timer_clear(struct rpc_ctx *ctx, struct rpc_timer *timer);

/* Part of a call: its deadline, in a list of all deadlines. */
struct rpc_due {
	uint64_t at;
	TAILQ_ENTRY(rpc_due) link;
};

#define RPC_CTX_FDS (RAILS_MAX + 1)
/*
 * For a thread that sleeps in its own poll(2), not in rpc_ctx_progress(). Runs one round without
 * sleeping. If it returns more than 0, the caller must call it again. If it returns 0, there is
 * nothing to do, and one of the first *n descriptors of fd (room for RPC_CTX_FDS) becomes readable
 * when there is work. At *until a timer is due, unless it is CLOCK_NEVER. This is valid until the
 * next rpc_ctx_progress(); the descriptors stay open until rpc_ctx_close().
 */
int rpc_ctx_rest(struct rpc_ctx *ctx, struct pollfd *fd, unsigned int *n,
		 uint64_t *until);

/* The identity that a client gives its servers. */
struct rpc_cred {
	uint32_t uid, gid;
	/* at most WIRE_GROUPS_MAX; wire.h explains larger values */
	uint32_t ngroups;
	uint32_t groups[WIRE_GROUPS_MAX];
	/* "host:pid:program", for the server's log */
	char name[64];
};

#endif
