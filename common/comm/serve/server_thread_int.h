/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server_thread_int.h - a thread of the server, which runs one context.  Only this thread uses its
 * sessions and their connections.  Other threads send it mails.
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

/* Work for a thread. If req is NULL, another thread has ended the session. */
struct thread_mail {
	STAILQ_ENTRY(thread_mail) link;
	struct rpc_session *session;
	struct tp_conn_req *req;
	unsigned int rail; /* rail of req */
	enum wire_role role; /* role that req claims */
	uint32_t epoch, reply_max;
	struct wire_hail hail; /* hail of req; zeros if it has none */
	uint8_t transcript[TRANSCRIPT_LEN]; /* hash of the contents of req */
};
STAILQ_HEAD(thread_mails, thread_mail);

struct server_thread {
	struct ctx_hook hook;
	struct rpc_server *server;
	struct rpc_ctx *ctx;
	unsigned int index;
	pthread_mutex_t lock; /* protects the mails only */
	struct thread_mails mails;
	unsigned int nsessions; /* protected by the server's lock */
	LIST_HEAD(, conn) conns;
	/*
	 * bulk_queue.c: bytes of RDMA outstanding, at most rdma_max if that is set, and the
	 * connections that wait for their turn
	 */
	uint64_t rdma_max, rdma_bytes;
	TAILQ_HEAD(conn_turns, conn) turns;
	struct receive_pool *pool[RAILS_MAX]; /* NULL if there is none */
	/* only this thread writes the following counters */
	atomic_uint_least64_t requests, protocol_errors, replays, fast, placed;
	/* running counts the requests in execution now */
	atomic_uint_least64_t whole, running;
	atomic_uint_least64_t rdma_waits, rdma_most, rdma_cut;
	/* bytes outstanding above which clients move data */
	uint64_t carry_above;
	atomic_uint_least64_t carried, carried_bytes;
	atomic_uint_least64_t carry_declined, carry_late;
	atomic_uint_least64_t shared_receives, shared_bytes, shared_copies;
	atomic_uint_least64_t conns_now, conn_bytes, session_bytes;
	atomic_uint_least64_t message_bytes, apart_bytes, aparts_now;
	atomic_uint_least64_t impostors, bare, outsiders, unknown;
	struct request_tallies tallies;
	struct busy_objects busy;
	struct rpc_timer trim; /* returns freed memory to the kernel */
	/* times of the last log lines */
	uint64_t impostor_at, unknown_at, misdirected_at;
	struct slow_pace slow;
};

/* Initialises thread, and adds a hook to its context: run() handles the mails. */
void server_thread_init(struct server_thread *thread, struct rpc_server *server,
			unsigned int index, void (*run)(struct ctx_hook *hook));
/* Rejects the connect requests that wait, and frees the connections. */
void server_thread_fini(struct server_thread *thread);
/* Sends a mail to thread, which owns it until it is handled.  Any thread may call it. */
void server_thread_post(struct server_thread *thread, struct thread_mail *mail);
/* Returns the next mail, which the caller now owns, or NULL. */
struct thread_mail *server_thread_next_mail(struct server_thread *thread);
/* Called when a session was freed.  After many of them, returns memory to the kernel. */
void server_thread_session_ended(struct server_thread *thread);

#endif
