/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server_thread_int.h - the server's part on one context.  The sessions of a lane, and their
 * connections, belong to the thread of that context.  Other threads reach them with mails.
 */
#ifndef SERVER_THREAD_INT_H
#define SERVER_THREAD_INT_H

#include <pthread.h>

#include "common/comm/progress/ctx.h"
#include "common/comm/serve/request_stats_int.h"
#include "common/comm/serve/rpc_serve.h"

struct conn;
struct rpc_server;
struct rpc_session;

/* Work for a lane.  req NULL: the session was ended from outside. */
struct mail {
	STAILQ_ENTRY(mail) link;
	struct rpc_session *session;
	struct tp_conn_req *req;
	unsigned int rail; /* of req */
	enum wire_role role; /* claimed by req */
	uint32_t epoch, reply_max;
	struct wire_hail hail; /* of req; zeros: none */
	uint8_t heard[HEARD_LEN]; /* hash of the contents of req */
};
STAILQ_HEAD(mails, mail);

struct lane {
	struct ctx_hook hook;
	struct rpc_server *server;
	struct rpc_ctx *ctx;
	unsigned int index;
	pthread_mutex_t lock; /* for mails only */
	struct mails mails;
	unsigned int nsessions; /* under the server's lock */
	LIST_HEAD(, conn) conns;
	/*
	 * bulk_queue.c: bytes of RDMA outstanding, at most rdma_max if that is set, and the connections
	 * that wait for their turn
	 */
	uint64_t rdma_max, rdma_bytes;
	TAILQ_HEAD(conn_turns, conn) turns;
	struct shared *shared[RAILS_MAX]; /* NULL: none */
	/* written only by the lane's thread */
	atomic_uint_least64_t requests, protocol_errors, replays, fast, placed;
	atomic_uint_least64_t whole, running; /* running: in execution now */
	atomic_uint_least64_t rdma_waits, rdma_most, rdma_cut;
	/* bytes outstanding above which clients move data */
	uint64_t carry_above;
	atomic_uint_least64_t carried, carried_bytes;
	atomic_uint_least64_t carry_declined, carry_late;
	atomic_uint_least64_t shared_receives, shared_bytes, shared_copies;
	atomic_uint_least64_t conns_now, conn_bytes, session_bytes;
	atomic_uint_least64_t message_bytes, apart_bytes, aparts_now;
	atomic_uint_least64_t impostors, bare, outsiders, unknown;
	struct tallies tallies;
	struct hot hot;
	struct rpc_timer trim; /* returns freed memory to the kernel */
	uint64_t impostor_at, unknown_at; /* time of the last log line */
	struct parts_pace slow;
};

/* Also adds the hook of the lane; run() takes the mails. */
void lane_init(struct lane *lane, struct rpc_server *server, unsigned int index,
	       void (*run)(struct ctx_hook *hook));
/* Rejects the connect requests that wait, and frees the connections. */
void lane_fini(struct lane *lane);
/* From any thread.  The mail belongs to the lane until it is handled. */
void lane_post(struct lane *lane, struct mail *mail);
/* The next mail, which belongs to the caller now; NULL: there is none. */
struct mail *lane_next_mail(struct lane *lane);
/* A session was freed.  After many of them, returns memory to the kernel. */
void lane_session_ended(struct lane *lane);

#endif
