/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctx.h - the internals of a progress context, for both ends of rpc.
 *
 * One round runs hooks (work from other threads), then completions, connection events, timers and
 * tasks.  A task is work that must not run inside the function that causes it: a callback, or
 * freeing memory that the caller still uses.
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

#define CTX_PAYLOAD_PATHS 4 /* values of enum payload_path, payload_int.h */
#define CTX_CARRY_PARTS 32u /* 8 MiB in units of 256 KiB */
#define CTX_BATCH 64 /* completions taken from a queue at a time */
#define CTX_CQ_DEPTH (1u << 30) /* enough for any max_sessions */
#define CTX_WR_MAX 320u /* work requests of one bulk transfer */
#define CTX_SLEEPS_ON_ALL (RAILS_MAX + 1)
#define CTX_LITTLE (64u << 10) /* bytes of bulk data */
#define CTX_MUCH (256u << 10)
#define CTX_SGE_MAX 2048u /* gather entries of one bulk transfer */

/* Runs once, in the next round. */
struct ctx_task {
	void (*run)(struct ctx_task *task);
	TAILQ_ENTRY(ctx_task) link;
	bool queued;
};

/* Runs in every round that finds pending set.  Any thread may set pending. */
struct ctx_hook {
	void (*run)(struct ctx_hook *hook);
	atomic_bool pending;
	SLIST_ENTRY(ctx_hook) link;
};

/* Receives the connect requests of a listener. */
struct ctx_listener {
	struct tp_listener *listener;
	void (*request)(struct ctx_listener *l, struct tp_conn_req *req);
	SLIST_ENTRY(ctx_listener) link;
};

/* One end of a connection: part of a struct rpc_peer or a struct conn. */
struct rpc_link;
struct sealer; /* sealer.h */
struct link_ops {
	void (*completion)(struct rpc_link *link, const struct tp_wc *wc);
	void (*event)(struct rpc_link *link, const struct tp_event *ev);
	/* The link failed (link_fail()).  Must call link_close(). */
	void (*lost)(struct rpc_link *link, int status);
};
struct rpc_link {
	const struct link_ops *ops;
	struct rpc_ctx *ctx;
	bool group, bulk; /* see tp_ep_attr */
	struct tp_srq *srq; /* see tp_ep_attr; may be NULL */
	unsigned int rail; /* the rail of ep */
	struct tp_ep *ep; /* NULL if the link is closed */
	struct ctx_task failed;
	int status;
	unsigned int quiet; /* consecutive unsignaled sends */
	/* a hash of all messages so far, if the connection may be sealed later (handshake.h) */
	const struct prover *hasher; /* NULL if nothing is hashed */
	enum handshake_side side; /* our side */
	struct transcript transcript;
};

/*
 * A shared receive queue.  received() gets its completions, with the link on which the message
 * arrived; link is NULL if that link is closed.
 */
struct ctx_shared {
	void (*received)(struct ctx_shared *shared, struct rpc_link *link,
			 const struct tp_wc *wc);
	void (*low)(struct ctx_shared *shared); /* called at TP_EV_SRQ_LIMIT */
};

/*
 * The completion queue of a rail.  The context does not poll a queue without users.  It polls a
 * queue that was empty for long only in some rounds, because polling may be a system call.
 */
struct ctx_rail {
	struct tp_cq *cq;
	unsigned int users; /* connections, listeners, shared receives */
	unsigned int dull; /* consecutive rounds without a completion */
	uint32_t inline_max, fast_max; /* sizes in bytes: payload_int.h */
	atomic_uint_least64_t
		payloads[CTX_PAYLOAD_PATHS]; /* calls, by enum payload_path */
	atomic_uint_least64_t whole; /* reads that ended without a reply */
};

/* Callbacks into the call layer (common/comm/call), which this layer does not include. */
struct ctx_calls {
	/* A deadline passed.  The callback takes due off the list. */
	void (*passed)(struct rpc_due *due);
	/* called before a sleep: marks the connections that must all answer before it ends */
	void (*join)(struct rpc_ctx *ctx);
};

struct host_lookups;

struct rpc_ctx {
	/* NULL if the context has only one device */
	const struct fabric *fabric;
	struct rails rails;
	struct ctx_rail rail[RAILS_MAX];
	unsigned int users; /* sum of the users of all rails */
	int wakefd; /* an eventfd if there are several rails; otherwise -1 */
	const struct log *log;
	bool apart; /* see rpc_ctx_attr.apart */
	bool carry; /* see rpc_ctx_attr.carry */
	unsigned int carry_parts; /* maximum of parts that we move at a time */
	unsigned int parts; /* number of parts that we move for servers now */
	atomic_uint_least64_t
		impostors; /* number of servers that did not prove themselves */
	struct spin spin;
	const struct rpc_link *lone; /* link of the last completion */
	uint64_t moved; /* bytes of bulk data since the last wait */
	uint64_t moving; /* bytes that servers move for calls in flight */
	uint64_t now; /* time at the start of the round */
	struct rpc_timer *timers; /* the timer that fires next; timer.c */
	/* deadlines of calls, in order of time */
	TAILQ_HEAD(rpc_dues, rpc_due) dues;
	const struct ctx_calls *calls;
	struct host_lookups *lookups; /* look-ups for calls: host_lookup.h */
	TAILQ_HEAD(ctx_tasks, ctx_task) tasks;
	SLIST_HEAD(, ctx_hook) hooks;
	SLIST_HEAD(, ctx_listener) listeners;
	atomic_bool woken;
	/* 0 if no thread sleeps; 1 + the rail on which it sleeps; or CTX_SLEEPS_ON_ALL */
	atomic_uint sleeping;
	/* the part of wc that is not handled yet: index and number */
	int wc_at, wc_n;
	struct tp_wc wc[CTX_BATCH];
	/* scratch space for bulk transfers */
	struct tp_send_wr *wr;
	struct tp_sge *sge;
};

/* rails.c: the completion queues of a context */
int ctx_rails_open(struct rpc_ctx *ctx, const struct rails *rails);
void ctx_rails_close(struct rpc_ctx *ctx);
/* Called when the rail gains or loses a user. */
void ctx_rail_use(struct rpc_ctx *ctx, unsigned int rail);
void ctx_rail_leave(struct rpc_ctx *ctx, unsigned int rail);
/* Returns whether the rail has users, so that the context polls it and sleeps on it. */
bool ctx_rail_used(const struct rpc_ctx *ctx, unsigned int rail);
/* Returns whether to poll the rail in this round. */
bool ctx_rail_due(struct rpc_ctx *ctx, unsigned int rail);
/* Sleeps until a rail has work, the context is woken, or the deadline. */
void ctx_rails_wait(struct rpc_ctx *ctx, uint64_t deadline);
/*
 * Prepares the caller's own poll(2): flushes and arms the rails, and fills fd with *n descriptors.
 * Returns false if there is work already.
 */
struct pollfd;
bool ctx_rails_rest(struct rpc_ctx *ctx, struct pollfd *fd, unsigned int *n);
/* Flushes all rails, and makes the next round poll all of them. */
void ctx_rails_arm(struct rpc_ctx *ctx);

void ctx_defer(struct rpc_ctx *ctx, struct ctx_task *task);
void ctx_undefer(struct rpc_ctx *ctx, struct ctx_task *task);
void ctx_hook_add(struct rpc_ctx *ctx, struct ctx_hook *hook);
void ctx_hook_remove(struct rpc_ctx *ctx, struct ctx_hook *hook);
/* Sets pending of the hook, and wakes the context. Any thread may call it. */
void ctx_hook_raise(struct rpc_ctx *ctx, struct ctx_hook *hook);

/* timer.c */
int timer_run(struct rpc_ctx *ctx);
/* Inserts due in order of time. O(1) in the usual case, where times increase. */
void timer_add_due(struct rpc_ctx *ctx, struct rpc_due *due, uint64_t at);
uint64_t timer_next(const struct rpc_ctx *ctx);

/* A context without calls (call.h).  Returns 0 or -errno. */
int ctx_open(const struct rpc_ctx_attr *attr, struct rpc_ctx **ctx);
/* Runs deferred tasks until none is left. */
void ctx_settle(struct rpc_ctx *ctx);
void ctx_close(struct rpc_ctx *ctx);

/* link.c */
void link_init(struct rpc_link *link, const struct link_ops *ops,
	       struct rpc_ctx *ctx);
int link_open(struct rpc_link *link, unsigned int rail, unsigned int max_send,
	      unsigned int max_recv);
/* Calls tp_post_send(), and makes the next rounds poll for the completion. */
int link_post(struct rpc_link *link, const struct tp_send_wr *wr);
/* Fails the link with status: lost() runs in this round or the next. */
void link_fail(struct rpc_link *link, int status);
/* link_fail(), but calls lost() before it returns. */
void link_fail_now(struct rpc_link *link, int status);
void link_close(struct rpc_link *link);
/* Calls tp_ep_seal().  Messages that the context has already received were not sealed. */
int link_seal(struct rpc_link *link, struct sealer *sealer);
/*
 * Starts the hash of the messages of a new connection.  The hash ends when the connection is
 * sealed, or with the first transfer that is not a Send of one message (RDMA, a chain).
 */
void link_hear_begin(struct rpc_link *link, const struct prover *prover,
		     enum handshake_side side);
static inline void link_hear(struct rpc_link *link, enum handshake_side side,
			     const void *msg, size_t len)
{
	if (link->hasher)
		link->hasher->extend_transcript(link->transcript.sum[side], msg,
						len);
}
/* Called when a receive is complete; buf is its data. */
void link_heard(struct rpc_link *link, const struct tp_wc *wc, const void *buf);
/*
 * link_post() of a single request.  If wr_id is 0, no completion is needed, and only every 16th
 * request is signaled, so that the send queue drains.
 */
int link_post_one(struct rpc_link *link, struct tp_send_wr *wr);
/* link_post_one() of a Send of one message. */
int link_send(struct rpc_link *link, const struct tp_sge *sgl,
	      unsigned int nsge, uint64_t wr_id);

#endif
