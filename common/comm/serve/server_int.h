/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server_int.h - the server's end, shared by the files of this directory.
 *
 * The listener's context finds or makes the session of a connect request.  It passes the request
 * to the lane of the session, which is the server's part on one context.  From then on, the
 * session belongs to the thread of that context.  The session table is shared, with one lock that
 * is taken when connections open and close.
 *
 * A request occupies a receive buffer (struct rx) of its connection until it is answered.  So a
 * broken connection exists until the last of its requests is answered.
 */
#ifndef SERVER_INT_H
#define SERVER_INT_H

#include <pthread.h>

#include "common/comm/serve/apart_int.h"
#include "common/comm/serve/bulk_int.h"
#include "common/comm/serve/conn_proof_int.h"
#include "common/comm/progress/ctx.h"
#include "common/buffer/fast.h"
#include "common/comm/serve/fence_int.h"
#include "common/util/hash_table.h"
#include "common/comm/serve/labels_int.h"
#include "common/util/log_pace.h"
#include "common/comm/serve/parts_int.h"
#include "common/comm/serve/rpc_serve.h"
#include "common/comm/serve/seats_int.h"
#include "common/comm/serve/tally_int.h"

#define SERVER_STALL_MS 10000u /* default of stall_ms */
#define SERVER_LINGER_MS 1000u /* time to send the last reply */
/* maximum of one session that still hold requests */
#define SERVER_OLD_CONNS 4u
#define SERVER_REPLY_MIN 256u /* a client must accept replies of this size */
/* On a rail that pins memory, more data than this is transferred in another way. */
#define CONN_PINNED_INLINE 4096u
/* a reply outside of the slots; there are two of them */
#define CONN_CTL_MAX 192u

struct rpc_server;
struct rpc_session;

/* ---- a server on one context ---- */

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
	 * bulk.c: bytes of RDMA outstanding, at most rdma_max if that is set, and the connections
	 * that wait for their turn
	 */
	uint64_t rdma_max, rdma_bytes;
	TAILQ_HEAD(conn_turns, conn) turns;
	struct shared *shared[RAILS_MAX]; /* shared.c; NULL: none */
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
	atomic_uint_least64_t message_bytes, apart_bytes,
		aparts_now; /* aparts_now: apart.c */
	atomic_uint_least64_t impostors, bare; /* conn_proof.c, conn_seal.c */
	atomic_uint_least64_t outsiders, unknown; /* unknown: conn_ticket.c */
	struct tallies tallies;
	struct hot hot;
	struct rpc_timer trim; /* returns freed memory to the kernel */
	uint64_t impostor_at, unknown_at; /* time of the last log line */
	struct parts_pace slow;
};

struct server_listener {
	struct ctx_listener base;
	struct rpc_server *server;
	unsigned int rail;
};

struct rpc_server {
	struct rpc_server_attr attr;
	struct lane *lanes;
	unsigned int nlanes;
	struct server_listener listener[RAILS_MAX];
	unsigned int nlisteners;
	struct addr addr; /* in use */
	struct fast_budget fast;
	/* last log line about refused networks, */
	uint64_t outsider_at;
	uint64_t scarce_at; /* last log line about lack of descriptors */
	pthread_mutex_t lock; /* for all that follows */
	uint64_t refused_at; /* last log line that all places are taken */
	struct rpc_session *table; /* by id, until session_close() returned */
	unsigned int nsessions; /* listed ones that have a place */
	atomic_uint ended; /* sessions that ended since the last lane_trim() */
	struct host *hosts; /* seats.c, with the next four */
	TAILQ_HEAD(, rpc_session) guests, tools; /* oldest first */
	unsigned int nguests, nscarce; /* nscarce: part of nguests */
	/* parts of nsessions: disconnected ones that are not in the reserve, and the reserve */
	unsigned int naway, ntools;
	atomic_uint more_guests; /* connections above SEATS_FREE of a session */
	LIST_HEAD(, rpc_session) all; /* also ended ones */
	TAILQ_HEAD(, rpc_session) away; /* without connection, oldest first */
	uint64_t skew; /* clock_boot() minus clock_now() */
	struct labels labels; /* has a lock of its own */
	struct fence *fences, *fences_of_nobody; /* each: oldest first */
	struct claims claims;
};

/* ---- sessions ---- */

/* One slot: the last reply, and the request in execution. */
struct slot {
	uint64_t seq; /* of the kept reply; 0: none yet */
	uint32_t len; /* of the kept reply */
	uint32_t epoch; /* connection that it was sent on */
	bool rerun; /* on replay, execute again instead of sending the reply */
	uint8_t *reply; /* reply_max bytes */
	struct rx *exec;
	struct rx *parked; /* on a newer connection, until exec is done */
};

enum session_state {
	SESSION_NEW, /* connected, no HELLO yet */
	SESSION_OPEN,
	SESSION_ENDED, /* closed; removed and freed when unused */
};

struct rpc_session {
	struct rpc_session_info info;
	struct lane *lane;
	/* under the server's lock */
	UT_hash_handle hh;
	LIST_ENTRY(rpc_session) all_link;
	TAILQ_ENTRY(rpc_session) away_link;
	bool away;
	bool listed; /* accepts connections; if so: */
	struct host *host; /* the host that it connects from */
	bool is_guest; /* seats.c, with the next ones */
	bool scarce; /* it connected when descriptors were scarce */
	/* in the reserve because of this -WIRE_E*; 0: not in the reserve */
	int shortage;
	TAILQ_ENTRY(rpc_session) guest_link, tool_link;
	uint64_t seated; /* in the reserve since, clock_now() */
	unsigned int pending; /* mails that name it */
	struct mail end_mail;
	/* the lane's thread */
	enum session_state state;
	/* opened: the service knows it; clean: for session_close() */
	bool opened, clean;
	bool late; /* did not move lent data in time: carry.c */
	struct label_hold labels;
	struct conn *conn;
	struct guests guests; /* connections before HELLO, or refused */
	unsigned int nguests;
	uint32_t epoch; /* of conn, the last one; 0: none yet */
	unsigned int nconns; /* with broken ones that hold requests */
	unsigned int nexec, credits; /* credits: sent with each reply */
	struct rpc_timer ttl;
	/* ttl has expired once, and a connection before HELLO got more time */
	bool spared;
	struct ctx_task end;
	struct slot *slots;
	uint8_t *block;
	struct rail_mem mem;
	size_t bytes; /* memory of the session, counted by the lane */
};

/*
 * listen.c: on the rail that the address names, or on all for pvfs://.  Connect requests go to
 * request().  Returns 0 or -errno.
 */
int server_listen(struct rpc_server *server, struct rpc_ctx *ctx,
		  void (*request)(struct ctx_listener *l,
				  struct tp_conn_req *req));
void server_unlisten(struct rpc_server *server, struct rpc_ctx *ctx);

void lane_post(struct lane *lane, struct mail *mail);
void lane_session_ended(struct lane *lane);

/*
 * session.c.  session_lookup() is for the listener.  Returns 0.  -EBUSY: too many of its connects
 * wait, or the session of that id has not ended yet.  As fence_known().  -WIRE_ENOFILES:
 * descriptors are scarce, and it is not in the reserve.  -ENOMEM.  A new session is a guest.
 * Increments pending.
 */
int session_lookup(struct rpc_server *server, const struct wire_connect *wc,
		   const struct tp_conn_req *req, struct rpc_session **session);
/* The same for a JOIN; -ESTALE: there is no such session. */
int session_known(struct rpc_server *server, uint64_t id,
		  const struct tp_conn_req *req, struct rpc_session **session);
/* A mail that named the session was handled. */
void session_unpend(struct rpc_session *session);
int session_alloc_slots(struct rpc_session *session);
/*
 * The HELLO of conn is accepted: conn replaces the current connection, which is closed.  Returns
 * 0, or -ESTALE if conn is not newer.
 */
int session_attach(struct rpc_session *session, struct conn *conn);
void session_leave(struct rpc_session *session, struct conn *conn);
/* Ends the session; in the lane's thread.  session_close() follows when it is unused. */
void session_end(struct rpc_session *session, bool clean);
/* A user of the session is gone. */
void session_unused(struct rpc_session *session);
void session_free(struct rpc_session *session);

/* ---- connections ---- */

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
	CONN_LINGER, /* sends a last reply, ignores messages */
	CONN_DEAD, /* closed; freed when its requests are answered */
};

/* RX_SPARE: of a connection with shared receives, without a buffer. */
enum rx_state { RX_POSTED, RX_BUSY, RX_PARKED, RX_SPARE };

struct rx {
	struct rpc_req req; /* first */
	struct conn *conn;
	void *buf;
	uint32_t lkey; /* of buf */
	struct shared_buf *shared; /* contains buf, or NULL */
	SLIST_ENTRY(rx) spare;
	enum rx_state state;
	uint32_t len; /* of the message in buf */
	uint32_t data_len; /* bytes after it, or in a Fast RDMA buffer */
	const void *data;
	struct ctx_task retry; /* tries a parked one again */
	struct wire_out out;
	uint32_t reply_len;
	unsigned int
		reply_flags; /* WIRE_F_CAPS: of the reply that is being built */
	uint64_t arrived, bytes_in, bytes_out; /* for tally.c */
	struct parts parts;
	uint32_t bulks; /* not yet posted */
	/* rerun: of the reply; else for tally.c: how its data goes */
	bool rerun, by_fast, mapped;
	bool answered; /* the reply waits for bulks */
	bool whole; /* the reply says only that the data is there */
	struct rpc_bulk *held; /* place.c: posted with the reply */
	bool held_bare; /* ... or replaces the reply */
	bool put; /* data was written: the reply follows it */
	uint64_t put_end; /* end of the data that is written to the client */
};

struct conn {
	struct link link;
	enum conn_state state;
	struct lane *lane;
	struct rpc_session *session;
	LIST_ENTRY(conn) lane_link;
	bool is_guest; /* seats.c, as for its session: */
	TAILQ_ENTRY(conn) guest_link;
	enum wire_role role; /* claimed by its connect */
	struct ctx_task gone;
	struct rpc_timer timer; /* HELLO, linger, stall */
	uint32_t epoch, reply_max;
	unsigned int held; /* rx not posted, and a running conn_close() */
	unsigned int nrx; /* posted ones; with shared receives, all */
	struct shared *shared; /* NULL: it has receives of its own */
	unsigned int nshared; /* number of buffers of shared that it holds */
	SLIST_HEAD(, rx) spare;
	size_t bytes; /* memory of the connection, counted by the lane */
	struct rx *rx; /* one more than slots, and those of carry.c */
	uint8_t *block; /* requests, then two control messages: */
	uint8_t *ctl;
	size_t request_max; /* bytes of each */
	struct rail_mem mem;
	uint32_t lkey; /* of block */
	struct fast *fast; /* NULL: not requested yet */
	uint32_t reply_lkey; /* of the session's replies, once it is open */
	char peer[96];
	/* bulk.c */
	TAILQ_HEAD(bulks, rpc_bulk) posted;
	struct bulks waiting;
	unsigned int bulk_wrs;
	uint64_t bulk_bytes;
	TAILQ_ENTRY(conn) turn;
	bool in_turns;
	unsigned long moved, moved_seen;
	bool may_carry; /* both ends want it */
	uint32_t features; /* of both ends, except: */
	bool agreed; /* both ends prove themselves in HELLO: conn_proof.c */
	bool can_seal; /* the other end can, as it hailed */
	bool known; /* conn_ticket.c: the identity was proved: */
	uint64_t until, term; /* by a ticket; until 0: by the kernel */
	struct conn_seal *seal; /* conn_seal.c; NULL: it cannot be sealed */
	/* HELLO with a ticket, until it is answered */
	const struct wire_msg *hello;
	uint8_t nonce[2][WIRE_NONCE_LEN];
	struct carries *carries; /* carry.c; NULL: nothing was lent yet */
	struct apart *apart; /* apart.c; NULL: all goes over link */
	bool may_join; /* a JOIN with the token is accepted */
	uint8_t token[WIRE_NONCE_LEN];
};

/* conn.c.  conn_accept() consumes mail->req. */
void conn_accept(struct lane *lane, const struct mail *mail);
unsigned int conn_accept_data(const struct rpc_server *server, int status,
			      size_t request_max, struct wire_accept *acc);
void conn_reject(struct rpc_server *server, struct tp_conn_req *req,
		 int status);
/* server.c: the status for a client with those features. */
int server_told(int status, uint32_t features);
void conn_close(struct conn *conn, int status);
void conn_set_state(struct conn *conn, enum conn_state state);
static inline const struct rails *conn_rails(const struct conn *conn)
{
	return &conn->link.ctx->rails;
}
/* reply.c.  Sends a message in registered memory.  _over: after bulk data on that link. */
void conn_send(struct conn *conn, const void *msg, uint32_t len, uint32_t lkey);
void conn_send_over(struct conn *conn, struct link *link, const void *msg,
		    uint32_t len, uint32_t lkey);
/* At rpc_server_close(): no callbacks. */
void conn_free(struct conn *conn);
/* A user of the connection is gone. */
void conn_put(struct conn *conn);

/*
 * shared.c: receives that the connections of a lane on one rail share, if the transport has a
 * shared receive queue.  A message stays in its buffer until it is answered, as with receives of
 * its own.  Exception: if a client holds more than its share, the message is copied, and the
 * buffer is posted again immediately.
 */
struct shared *shared_of(struct lane *lane, unsigned int rail);
void shared_close(struct lane *lane);
void shared_join(struct shared *s, struct conn *conn);
void shared_leave(struct conn *conn);
/* Gives back the buffer of rx, shared or copied. */
void shared_release(struct rx *rx);

/*
 * conn.c.  conn_received(): a message is in rx->buf; checks and executes it, or refuses it with
 * the reason.  conn_request_max(): bytes of a receive.  conn_hears(): whether messages are still
 * read.
 */
size_t conn_request_max(const struct lane *lane, unsigned int rail);
bool conn_hears(const struct conn *conn);
void conn_received(struct conn *conn, struct rx *rx, const struct tp_wc *wc);

/* rx.c: a receive, posted into buf. */
void rx_prepare(struct conn *conn, struct rx *rx);
int rx_init(struct conn *conn, struct rx *rx, void *buf, uint32_t lkey);
/* Posts WIRE_CARRY_MAX more receives, step bytes apart; once. */
int rx_more(struct conn *conn, uint8_t *block, size_t step, uint32_t lkey);
/* The request no longer holds its buffer, which is posted again. */
void rx_release(struct rx *rx);

/* greet.c: HELLO, BYE and protocol errors, on the server */
void greet_hello(struct conn *conn, struct rx *rx);
void greet_bye(struct conn *conn, const struct wire_hdr *hdr);
/*
 * Logs the error, and reports it to the client if possible.  Then closes this connection only.
 */
void greet_error(struct conn *conn, struct rx *rx, int status, const char *why);

/* req.c: takes a checked request of an open session. */
void req_take(struct rx *rx);
/* Ends its execution.  done: the reply in the slot is kept. */
void req_finish(struct rx *rx, bool done);
/* The connection is closed: forgets a parked request. */
void req_forget(struct rx *rx);

/*
 * rx.c.  fast_req_split(): separates message and data in the buffer of rx.  fast_req_copy():
 * copies the message from a Fast RDMA buffer.  It returns 0, or -EPROTO if there is no valid
 * message.
 */
void fast_req_split(struct rx *rx);
int fast_req_copy(struct rx *rx, uint32_t buffer, uint32_t len);
/* Returns 0 if a checked message has the data that it announces, else -EPROTO. */
int fast_req_check(struct rx *rx);
/* Answers FAST. */
void fast_req_run(struct rpc_req *req);

/*
 * place.c.  place_hold(): takes a planned PUT; true: it is posted with the reply.  place_reply():
 * posts it with this reply; false: the reply is still to be sent.
 */
bool place_hold(struct rx *rx, struct rpc_bulk *bulk);
bool place_reply(struct rx *rx, const void *reply, uint32_t len);

/* reply.c: posts the reply of rx once its bulks are posted. */
void reply_post(struct rx *rx);

static inline const struct log *conn_log(const struct conn *conn)
{
	return conn->lane->server->attr.log;
}

/* The distance between buffers of that size: whole cache lines. */
static inline size_t server_step(size_t size)
{
	return (size + 63) & ~(size_t)63;
}

#endif
