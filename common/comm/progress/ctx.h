/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctx.h - the inside of a progress context, for both ends of rpc.
 *
 * One round: hooks (work from other threads), completions, connection
 * events, timers, tasks.  What must not happen in the middle of a caller's
 * stack (callbacks, freeing what is still in use there) becomes a task.
 */
#ifndef CTX_H
#define CTX_H

#include <stdatomic.h>
#include <stddef.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "common/trust/handshake.h"
#include "common/comm/progress/rpc_ctx.h"
#include "common/util/spin.h"

#define CTX_WAYS 4 /* values of enum way, call_way_int.h */
#define CTX_CARRY_PARTS 32u /* 8 MiB of units of 256 KiB */
#define CTX_BATCH 64 /* completions taken at once */
#define CTX_CQ_DEPTH (1u << 30) /* all that max_sessions may ask for */
#define CTX_WR_MAX 320u /* of one bulk transfer */
#define CTX_SLEEPS_ON_ALL (RAILS_MAX + 1)
#define CTX_LITTLE (64u << 10) /* bytes of bulk */
#define CTX_MUCH (256u << 10)
#define CTX_SGE_MAX 2048u /* gather entries of one bulk transfer */

/* Runs once, in the next round. */
struct ctx_task {
	void (*run)(struct ctx_task *task);
	TAILQ_ENTRY(ctx_task) link;
	bool queued;
};

/* Runs in every round that finds pending set (by any thread). */
struct ctx_hook {
	void (*run)(struct ctx_hook *hook);
	atomic_bool pending;
	SLIST_ENTRY(ctx_hook) link;
};

/* Where the connect requests of a listener go. */
struct ctx_listener {
	struct tp_listener *listener;
	void (*request)(struct ctx_listener *l, struct tp_conn_req *req);
	SLIST_ENTRY(ctx_listener) link;
};

/* One end of a connection: part of a struct rpc_peer or a struct conn. */
struct link;
struct sealer; /* sealer.h */
struct link_ops {
	void (*completion)(struct link *link, const struct tp_wc *wc);
	void (*event)(struct link *link, const struct tp_event *ev);
	/* link_fail() was called; has to link_close(). */
	void (*lost)(struct link *link, int status);
};
struct link {
	const struct link_ops *ops;
	struct rpc_ctx *ctx;
	bool group, bulk; /* see tp_ep_attr */
	struct tp_srq *srq; /* likewise, or NULL */
	unsigned int rail; /* of ep */
	struct tp_ep *ep; /* NULL: closed */
	struct ctx_task failed;
	int status;
	unsigned int quiet; /* unsignaled sends in a row */
	/* what was said, where the connection may be sealed by that (handshake.h): */
	const struct prover *hears; /* or NULL */
	enum handshake_side side; /* ours */
	struct heard heard;
};

/*
 * What a shared receive queue has as its context: its completions go there, with
 * the link that they came over, or NULL: it is closed.
 */
struct ctx_shared {
	void (*received)(struct ctx_shared *shared, struct link *link,
			 const struct tp_wc *wc);
	void (*low)(struct ctx_shared *shared); /* TP_EV_SRQ_LIMIT */
};

/*
 * A rail's completion queue.  One that nobody uses is not looked at, and one
 * that long had nothing only now and then: looking may be a system call.
 */
struct ctx_rail {
	struct tp_cq *cq;
	unsigned int users; /* connections, listeners, shared receives */
	unsigned int dull; /* rounds without anything */
	uint32_t inline_max, fast_max; /* bytes: call_way_int.h */
	atomic_uint_least64_t ways[CTX_WAYS]; /* calls, by enum way: ways.c */
	atomic_uint_least64_t whole; /* reads that ended without a reply */
};

/* What calls, which this floor knows nothing of, have done for them. */
struct ctx_calls {
	/* A deadline passed; it is taken off the list. */
	void (*passed)(struct rpc_due *due);
	/* Before a sleep: says whose answers have to come before it ends. */
	void (*join)(struct rpc_ctx *ctx);
};

struct lookups;

struct rpc_ctx {
	const struct fabric *fabric; /* NULL: one device alone */
	struct rails rails;
	struct ctx_rail rail[RAILS_MAX];
	unsigned int users; /* of all rails */
	int wakefd; /* with several rails */
	const struct log *log;
	bool apart; /* see struct rpc_ctx_attr */
	bool carry; /* likewise */
	unsigned int carry_parts; /* at most, at a time */
	unsigned int parts; /* that we move for servers now */
	atomic_uint_least64_t impostors; /* peer_proof.c */
	struct spin spin;
	const struct link *lone; /* whose completion was the last */
	uint64_t moved; /* bytes of bulk since the last wait */
	uint64_t moving; /* bytes that servers move for calls under way */
	uint64_t now; /* at the start of the round */
	struct rpc_timer *timers; /* the next to fire; timer.c */
	TAILQ_HEAD(rpc_dues, rpc_due) dues; /* of calls, by time */
	const struct ctx_calls *calls;
	struct lookups *lookups; /* theirs, too */
	TAILQ_HEAD(ctx_tasks, ctx_task) tasks;
	SLIST_HEAD(, ctx_hook) hooks;
	SLIST_HEAD(, ctx_listener) listeners;
	atomic_bool woken;
	atomic_uint sleeping; /* 0: no; 1 + rail; or CTX_SLEEPS_ON_ALL */
	int wc_at, wc_n; /* the part of wc still to handle */
	struct tp_wc wc[CTX_BATCH];
	/* scratch of bulk transfers */
	struct tp_send_wr *wr;
	struct tp_sge *sge;
};

/* rails.c: the completion queues of a context */
int ctx_rails_open(struct rpc_ctx *ctx, const struct rails *rails);
void ctx_rails_close(struct rpc_ctx *ctx);
/* The rail gets a user, or loses one. */
void ctx_rail_use(struct rpc_ctx *ctx, unsigned int rail);
void ctx_rail_leave(struct rpc_ctx *ctx, unsigned int rail);
/* Whether the context sleeps on the rail, and so has to look at it. */
bool ctx_rail_used(const struct rpc_ctx *ctx, unsigned int rail);
/* Whether to poll the rail in this round. */
bool ctx_rail_due(struct rpc_ctx *ctx, unsigned int rail);
/* Sleeps until one of them has work, a wake, or the deadline. */
void ctx_rails_wait(struct rpc_ctx *ctx, uint64_t deadline);
/* For a sleep elsewhere: flushes, arms, and fills in what to poll.  False: there is
 * work already. */
struct pollfd;
bool ctx_rails_rest(struct rpc_ctx *ctx, struct pollfd *fd, unsigned int *n);
/* Flushes and looks at all of them again. */
void ctx_rails_arm(struct rpc_ctx *ctx);

void ctx_defer(struct rpc_ctx *ctx, struct ctx_task *task);
void ctx_undefer(struct rpc_ctx *ctx, struct ctx_task *task);
void ctx_hook_add(struct rpc_ctx *ctx, struct ctx_hook *hook);
void ctx_hook_remove(struct rpc_ctx *ctx, struct ctx_hook *hook);
/* From any thread. */
void ctx_hook_raise(struct rpc_ctx *ctx, struct ctx_hook *hook);

/* timer.c */
int timer_run(struct rpc_ctx *ctx);
/* Inserts by time; O(1) for the usual, growing ones. */
void timer_add_due(struct rpc_ctx *ctx, struct rpc_due *due, uint64_t at);
uint64_t timer_next(const struct rpc_ctx *ctx);

/* A context without calls (call.h). */
int ctx_open(const struct rpc_ctx_attr *attr, struct rpc_ctx **ctx);
/* Runs what was deferred, until there is nothing. */
void ctx_settle(struct rpc_ctx *ctx);
void ctx_close(struct rpc_ctx *ctx);

/* link.c */
void link_init(struct link *link, const struct link_ops *ops,
	       struct rpc_ctx *ctx);
int link_open(struct link *link, unsigned int rail, unsigned int max_send,
	      unsigned int max_recv);
/* tp_post_send(); its completions are looked for. */
int link_post(struct link *link, const struct tp_send_wr *wr);
/* The connection is no use any more: lost() comes in this or the next round. */
void link_fail(struct link *link, int status);
void link_close(struct link *link);
/* tp_ep_seal(); what this context holds of it already came bare. */
int link_seal(struct link *link, struct sealer *sealer);
/* From a new connection on until it is sealed, or there is something that is no message. */
void link_hear_begin(struct link *link, const struct prover *prover,
		     enum handshake_side side);
static inline void link_hear(struct link *link, enum handshake_side side,
			     const void *msg, size_t len)
{
	if (link->hears)
		link->hears->hear(link->heard.sum[side], msg, len);
}
/* A receive that is complete; buf: where it is. */
void link_heard(struct link *link, const struct tp_wc *wc, const void *buf);
/* The same for one message.  wr_id 0: as below. */
int link_post_one(struct link *link, struct tp_send_wr *wr);
/*
 * Posts one message.  wr_id 0: its completion interests nobody, and only
 * every 16th is asked for, so that the send queue drains.
 */
int link_send(struct link *link, const struct tp_sge *sgl, unsigned int nsge,
	      uint64_t wr_id);

#endif
