/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server_int.h - the server's end, shared by the files of this directory.
 *
 * The thread of the listeners finds or creates the session of a connect request, and passes the
 * request to the thread that owns the session.  All threads share the session table.  Its lock is
 * taken when a connection opens or closes.
 *
 * A request occupies a receive buffer (struct rx) of its connection until it is answered.  So a
 * broken connection exists until the last of its requests is answered.
 */
#ifndef SERVER_INT_H
#define SERVER_INT_H

#include "common/buffer/fast.h"
#include "common/comm/serve/server_thread_int.h"
#include "common/comm/serve/rpc_session_int.h"
#include "common/comm/serve/usage_labels_int.h"
#include "common/util/hash_table.h"
#include "common/util/log.h"

#define SERVER_STALL_MS 10000u /* default of stall_ms */
#define SERVER_LINGER_MS 1000u /* time for sending the last reply */
/* size of a reply that every client must accept */
#define SERVER_REPLY_MIN 256u

struct server_listener {
	struct ctx_listener base;
	struct rpc_server *server;
	unsigned int rail;
};

struct rpc_server {
	struct rpc_server_attr attr;
	struct server_thread *threads;
	unsigned int nthreads;
	struct server_listener listener[RAILS_MAX];
	unsigned int nlisteners;
	struct addr addr; /* the address in use */
	struct fast_budget fast;
	/* time of the last log line about refused networks */
	uint64_t outsider_at;
	/* time of the last log line about lack of descriptors */
	uint64_t scarce_at;
	pthread_mutex_t lock; /* protects all fields that follow */
	/* time of the last log line that all places are taken */
	uint64_t refused_at;
	/* sessions by id, until session_close() returned */
	struct rpc_session *table;
	/* number of listed sessions that have a place */
	unsigned int nsessions;
	/* number of sessions that ended since the last server_thread_trim_heap() */
	atomic_uint ended;
	/* for session_seats.c, as are the next four fields */
	struct host *hosts;
	TAILQ_HEAD(, rpc_session) guests, tools; /* the oldest first */
	unsigned int nguests, nscarce; /* nscarce is a part of nguests */
	/*
	 * parts of nsessions: the disconnected sessions that are not in the reserve, and the
	 * sessions in the reserve
	 */
	unsigned int ndisconnected, ntools;
	atomic_uint extra_guests; /* connections above SEATS_FREE of a session */
	LIST_HEAD(, rpc_session) all; /* all sessions, also ended ones */
	TAILQ_HEAD(, rpc_session)
	disconnected; /* sessions without a connection, the oldest first */
	uint64_t skew; /* clock_boot() minus clock_now() */
	struct labels labels; /* has a lock of its own */
	struct fence *fences, *unowned_fences; /* in each, the oldest first */
	struct claims claims;
};

/* The distance between buffers of that size: whole cache lines. */
static inline size_t server_step(size_t size)
{
	return (size + 63) & ~(size_t)63;
}

/* connect.c: called in the thread of the listeners; takes over req. */
void connect_requested(struct ctx_listener *l, struct tp_conn_req *req);
/* Called in the thread of the session; takes over mail->req. */
void connect_continue(struct server_thread *thread,
		      const struct thread_mail *mail);

#endif
