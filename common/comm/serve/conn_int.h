/* SPDX-License-Identifier: BSD-2-Clause */
/* conn_int.h - a connection and its messages.  Only the thread of its session uses them. */
#ifndef CONN_INT_H
#define CONN_INT_H

#include "common/comm/serve/bulk_int.h"
#include "common/comm/serve/server_int.h"

/* On a rail that pins memory: the most bytes of data that a request message contains. */
#define CONN_PINNED_INLINE 4096u
/* bytes of a reply outside of the slots; there are two buffers for such replies */
#define CONN_CTL_MAX 192u

struct bulk_endpoint;
struct conn_seal;
struct rx;
struct receive_pool;
struct pool_buf;

/*
 *   ACCEPTING --established--> HELLO --HELLO ok--> OPEN
 *        |                       |                  |
 *        |                  error reply        error reply
 *        |                       +----> LINGER <----+
 *        +---------lost----------------> DEAD <---- any
 */
enum conn_state {
	CONN_ACCEPTING,
	CONN_HELLO,
	CONN_OPEN,
	CONN_LINGER, /* sends an error reply, then closes; ignores messages */
	CONN_DEAD, /* closed; freed when its requests are answered */
};

/* RX_SPARE means that the receive has no buffer now; only on connections with shared receives. */
enum rx_state { RX_POSTED, RX_BUSY, RX_PARKED, RX_SPARE };

struct rx {
	struct rpc_req req; /* must be the first member */
	struct conn *conn;
	void *buf;
	uint32_t lkey; /* lkey of buf */
	/* the pool buffer that contains buf, or NULL */
	struct pool_buf *pool_buf;
	SLIST_ENTRY(rx) spare;
	enum rx_state state;
	uint32_t len; /* bytes of the message in buf */
	/* bytes of data after the message, or in a Fast RDMA buffer */
	uint32_t data_len;
	const void *data;
	struct ctx_task retry; /* tries a parked request again */
	struct wire_out out;
	uint32_t reply_len;
	unsigned int
		reply_flags; /* WIRE_F_CAPS in the reply that is being built */
	/* arrival and bytes, for request_stats.c */
	uint64_t arrived, bytes_in, bytes_out;
	struct request_time time;
	uint32_t bulks; /* bulks of the request that are not posted yet */
	bool rerun; /* a replay of the request executes it again */
	/* how the data of the request moves, for request_stats.c */
	bool by_fast, mapped;
	/* called when `bulks` becomes 0: sends the reply; NULL if there is no reply yet */
	void (*when_posted)(struct rx *rx);
	/* RPC_WHOLE was set: the client needs no reply, only the data */
	bool whole;
	struct rpc_bulk *held_bulk; /* a bulk that is posted with the reply */
	bool held_ends_read; /* held_bulk replaces the reply */
	bool put; /* bulk data was written to the client, so the reply must follow it */
	uint64_t put_end; /* end of the data that is written to the client */
};

/* Reports of a connection to its session and requests. */
struct conn_events {
	/* Called for the message in rx, which the callee owns until it calls rx_release(). */
	void (*received)(struct conn *conn, struct rx *rx,
			 const struct tp_wc *wc);
	/* Called in conn_close(), when conn is CONN_DEAD. The session forgets conn. */
	void (*closed)(struct conn *conn);
	/* Called when a closed connection of the session was freed. */
	void (*freed)(struct rpc_session *session);
};

struct conn {
	struct rpc_link link;
	const struct conn_events *events;
	enum conn_state state;
	struct server_thread *thread;
	struct rpc_session *session;
	LIST_ENTRY(conn) thread_link;
	bool is_guest; /* is in session->guests */
	TAILQ_ENTRY(conn) guest_link;
	enum wire_role role; /* role that the connect request claims */
	struct ctx_task free_task;
	/* limit for HELLO, time to linger, or check for a stall */
	struct rpc_timer timer;
	uint32_t epoch, reply_max;
	/* references: each rx that is not posted, and a running conn_close() */
	unsigned int refs;
	/* number of posted receives; with shared receives, of all */
	unsigned int nrx;
	/* NULL if the connection has receives of its own */
	struct receive_pool *pool;
	unsigned int npooled; /* number of buffers of the pool that it holds */
	SLIST_HEAD(, rx) spare;
	size_t bytes; /* bytes of the connection, which the thread counts */
	/* one receive more than slots, and those of bulk_loan.c */
	struct rx *rx;
	/* memory for requests, then for two control messages: */
	uint8_t *block;
	uint8_t *ctl;
	size_t request_max; /* bytes of a request buffer */
	struct rail_mem mem;
	uint32_t lkey; /* lkey of block */
	struct fast *fast; /* NULL if the client has not requested it yet */
	/* lkey of the session's replies, once the session is open */
	uint32_t reply_lkey;
	char peer[96];
	struct bulk_queue bulk;
	bool may_lend; /* both ends want adaptive rendezvous */
	uint32_t features; /* features of both ends, except these: */
	bool both_prove; /* both ends authenticate in HELLO */
	bool can_seal; /* the other end can seal, as its hail says */
	bool proved; /* the client has proved its identity: */
	/* end and manager term of its ticket; until is 0 if the kernel proved it */
	uint64_t until, term;
	struct conn_seal *seal; /* NULL if the connection cannot be sealed */
	/* a HELLO with a ticket, until it is answered */
	const struct wire_msg *hello;
	uint8_t nonce[2][WIRE_NONCE_LEN];
	struct bulk_loans *loans; /* NULL if nothing was lent yet */
	struct bulk_endpoint *endpoint; /* NULL if bulk data uses `link`, too */
	bool may_join; /* the server accepts a JOIN with the token */
	uint8_t token[WIRE_NONCE_LEN];
};

/* ---- conn.c ---- */

/*
 * Creates the connection for the connect request in mail, posts its receives, and adds it to the
 * session.  Returns 0 or -errno.
 */
int conn_open(struct server_thread *thread, const struct thread_mail *mail,
	      const struct conn_events *events, struct conn **conn);
/*
 * Closes conn and calls done() of all its bulks with status.  Requests in execution keep their
 * buffers.  When the last of them was answered, conn is freed.
 */
void conn_close(struct conn *conn, int status);
/* Frees conn without callbacks, in rpc_server_close(). */
void conn_free(struct conn *conn);
void conn_set_state(struct conn *conn, enum conn_state state);

static inline const struct rails *conn_rails(const struct conn *conn)
{
	return &conn->link.ctx->rails;
}

static inline const struct log *conn_log(const struct conn *conn)
{
	return conn->thread->server->attr.log;
}

/* Returns whether the server still reads messages of the connection. */
static inline bool conn_accepts_messages(const struct conn *conn)
{
	return !conn->link.failed.queued && conn->state < CONN_LINGER;
}

/* Drops one of conn->refs.  The last one frees a closed connection. */
static inline void conn_put(struct conn *conn)
{
	if (!--conn->refs && conn->state == CONN_DEAD)
		ctx_defer(conn->link.ctx, &conn->free_task);
}

/* ---- conn_messages.c ---- */

/*
 * Returns the bytes of a receive on the rail.  If the rail pins memory, a receive has little room
 * for data, because the data arrives in Fast RDMA buffers (fast.h).
 */
size_t conn_request_max(const struct server_thread *thread, unsigned int rail);
/* Initialises rx and posts a receive into buf.  Returns 0 or -errno. */
int rx_init(struct conn *conn, struct rx *rx, void *buf, uint32_t lkey);
/*
 * Posts WIRE_CARRY_MAX more receives, whose buffers are step bytes apart. Only once per connection.
 */
int rx_more(struct conn *conn, uint8_t *block, size_t step, uint32_t lkey);
/* Ends the use of rx by a request: posts the receive again. */
void rx_release(struct rx *rx);
/*
 * Returns the receives, of size bytes each, that all connections of the thread on one rail share.
 * Returns NULL if the transport has no shared receive queue, or if there is no memory; then each
 * connection posts its own. A request stays in the shared buffer until it is answered. But if its
 * client already holds more than its share, the server copies the message and posts the buffer
 * again immediately.
 */
struct receive_pool *receive_pool_get(struct server_thread *thread,
				      unsigned int rail, size_t size);
void receive_pool_close_all(struct server_thread *thread);
void receive_pool_join(struct receive_pool *pool, struct conn *conn);
void receive_pool_leave(struct conn *conn);
/*
 * conn_send() sends a message that lies in registered memory.  conn_send_over() sends it over link,
 * so that it arrives after the bulk data on that link.
 */
void conn_send(struct conn *conn, const void *msg, uint32_t len, uint32_t lkey);
void conn_send_over(struct conn *conn, struct rpc_link *link, const void *msg,
		    uint32_t len, uint32_t lkey);

#endif
