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
	struct tp_dev *dev;		/* if fabric is NULL: the only device */
	const struct log *log;
	/*
	 * Poll and yield for this long before sleeping, less often where polling found nothing.
	 * 0: sleep at once.
	 */
	unsigned int poll_us;
	/* the same where it pays off (spin.h) */
	unsigned int far_us;
	/* for memory with rail_mem.keep; 0: off */
	enum pins_mode pins;
	/*
	 * Clients: maximum payload of a write that is sent in its message.  A size that is not
	 * set is chosen (payload_int.h).
	 */
	struct sizes inline_max;
	struct sizes fast_max;		/* Clients: the same for Fast RDMA. */
	/*
	 * Clients, for tests: use a separate endpoint for bulk data on all devices.  Otherwise
	 * only devices that have a class of their own for bulk data use one.
	 */
	bool apart;
	/* Clients: servers may ask them to move payload themselves (rendezvous.h). */
	bool carry;
	/* Clients: maximum such parts at a time; the server moves the others.  0: 32. */
	unsigned int carry_parts;
};
/* In a child after fork(): see tp_cq_abandon().  Abandons its peers and servers too. */
void rpc_ctx_abandon(struct rpc_ctx *ctx);
const struct rails *rpc_ctx_rails(const struct rpc_ctx *ctx);

/*
 * One round: flushes, polls, runs callbacks and timers.  If there was nothing to do, sleeps until
 * there is work, rpc_ctx_wake(), or the deadline.  Returns the number of events handled (0 after
 * a wake or the deadline).  Callbacks run only from here.
 */
int rpc_ctx_progress(struct rpc_ctx *ctx, uint64_t deadline);
/* Start of the last round of rpc_ctx_progress(), in clock_now() time. */
uint64_t rpc_ctx_progressed(const struct rpc_ctx *ctx);
/*
 * Calls started between hold and release may be sent only at the release, which must follow
 * without a wait.  For calls to several peers.  Does not nest.
 */
void rpc_ctx_hold(struct rpc_ctx *ctx);
void rpc_ctx_release(struct rpc_ctx *ctx);
/* From any thread or signal handler. */
void rpc_ctx_wake(struct rpc_ctx *ctx);

/* A one-shot timer, owned by the caller.  Fires from rpc_ctx_progress(). */
struct rpc_timer {
	void (*fire)(struct rpc_timer *timer);
	uint64_t at;			/* private from here */
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
 * For a thread that sleeps while nobody calls rpc_ctx_progress().  Runs one round and never
 * sleeps itself.  Returns the number of events handled, or 1: call again.  Returns 0 if there is
 * nothing to do.  Then one of the first *n of fd (room for RPC_CTX_FDS) becomes readable when
 * there is work, and at *until a timer is due (CLOCK_NEVER: none).  The descriptors stay open
 * until rpc_ctx_close().  The result holds until the next rpc_ctx_progress().
 */
int rpc_ctx_rest(struct rpc_ctx *ctx, struct pollfd *fd, unsigned int *n,
		 uint64_t *until);

/* The identity that a client gives its servers. */
struct rpc_cred {
	uint32_t uid, gid;
	/* at most WIRE_GROUPS_MAX; more: see wire.h */
	uint32_t ngroups;
	uint32_t groups[WIRE_GROUPS_MAX];
	/* "host:pid:program", for the server's log */
	char name[64];
};

#endif
