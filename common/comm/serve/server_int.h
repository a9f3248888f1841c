/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server_int.h - the server's end, shared by the files of this room.
 *
 * The listener's context finds or makes the session of a connect request and
 * hands the request to the session's lane: its context's part of the server.
 * From there on a session belongs to that context's thread.  The session
 * table is shared: one lock, taken when connections come and go.
 *
 * A request lives in a receive buffer (struct rx) of its connection and holds
 * it until it is answered; so a broken connection lives on until the last of
 * its requests is.
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
#define SERVER_LINGER_MS 1000u /* for the last reply to leave */
#define SERVER_OLD_CONNS 4u /* of one session, still holding requests */
#define SERVER_REPLY_MIN 256u /* a client has to take replies so long */
/* On a rail that pins memory more data than so much goes another way. */
#define CONN_PINNED_INLINE 4096u
#define CONN_CTL_MAX 192u /* a reply outside of the slots; two of them */

struct rpc_server;
struct rpc_session;

/* ---- a server on one context ---- */

/* Work for a lane.  req NULL: the session was ended from outside. */
struct mail {
	STAILQ_ENTRY(mail) link;
	struct rpc_session *session;
	struct tp_conn_req *req;
	unsigned int rail; /* of req */
	enum wire_role role; /* as it says */
	uint32_t epoch, reply_max;
	struct wire_hail hail; /* of req; zeros: none */
	uint8_t heard[HEARD_LEN]; /* of what req says */
};
STAILQ_HEAD(mails, mail);

struct lane {
	struct ctx_hook hook;
	struct rpc_server *server;
	struct rpc_ctx *ctx;
	unsigned int index;
	pthread_mutex_t lock; /* of mails, nothing else */
	struct mails mails;
	unsigned int nsessions; /* under the server's lock */
	LIST_HEAD(, conn) conns;
	/* bulk.c: bytes of RDMA outstanding, at most rdma_max if that is set,
	 * and the connections that wait for their turn */
	uint64_t rdma_max, rdma_bytes;
	TAILQ_HEAD(conn_turns, conn) turns;
	struct shared *shared[RAILS_MAX]; /* shared.c; NULL: none */
	/* written by the lane's thread alone */
	atomic_uint_least64_t requests, protocol_errors, replays, fast, placed;
	atomic_uint_least64_t whole, running; /* running: in execution now */
	atomic_uint_least64_t rdma_waits, rdma_most, rdma_cut;
	uint64_t carry_above; /* bytes outstanding: clients move more */
	atomic_uint_least64_t carried, carried_bytes;
	atomic_uint_least64_t carry_declined, carry_late;
	atomic_uint_least64_t shared_receives, shared_bytes, shared_copies;
	atomic_uint_least64_t conns_now, conn_bytes, session_bytes;
	atomic_uint_least64_t message_bytes, apart_bytes,
		aparts_now; /* apart.c */
	atomic_uint_least64_t impostors, bare; /* conn_proof.c, conn_seal.c */
	atomic_uint_least64_t outsiders, unknown; /* unknown: conn_ticket.c */
	struct tallies tallies;
	struct hot hot;
	struct rpc_timer trim; /* returns freed memory to the kernel */
	uint64_t impostor_at, unknown_at; /* when one was last logged */
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
	uint64_t outsider_at; /* when it was last logged who may not connect, */
	uint64_t scarce_at; /* ... and who may not for want of descriptors */
	pthread_mutex_t lock; /* of the rest */
	uint64_t refused_at; /* ... that all places are taken */
	struct rpc_session *table; /* by id, until session_close() returned */
	unsigned int nsessions; /* listed ones that have a place */
	atomic_uint ended; /* sessions since the last lane_trim() */
	struct host *hosts; /* seats.c, with the next four */
	TAILQ_HEAD(, rpc_session) guests, tools; /* oldest first */
	unsigned int nguests, nscarce; /* nscarce: of nguests */
	unsigned int naway, ntools; /* of nsessions */
	atomic_uint more_guests; /* connections, beyond SEATS_FREE of a session */
	LIST_HEAD(, rpc_session) all; /* also ended ones */
	TAILQ_HEAD(, rpc_session) away; /* without connection, oldest first */
	uint64_t skew; /* clock_boot() is so far before clock_now() */
	struct labels labels; /* with a lock of its own */
	struct fence *fences, *fences_of_nobody; /* each: oldest first */
	struct claims claims;
};

/* ---- sessions ---- */

/* One slot: the last reply, and the request in execution. */
struct slot {
	uint64_t seq; /* of the kept reply; 0: none yet */
	uint32_t len; /* of the kept reply */
	uint32_t epoch; /* connection it was sent on */
	bool rerun; /* do not repeat the reply: execute again */
	uint8_t *reply; /* reply_max bytes */
	struct rx *exec;
	struct rx *parked; /* on a newer connection, until exec is done */
};

enum session_state {
	SESSION_NEW, /* connected, no HELLO yet */
	SESSION_OPEN,
	SESSION_ENDED, /* closed, forgotten and freed when unused */
};

struct rpc_session {
	struct rpc_session_info info;
	struct lane *lane;
	/* under the server's lock */
	UT_hash_handle hh;
	LIST_ENTRY(rpc_session) all_link;
	TAILQ_ENTRY(rpc_session) away_link;
	bool away;
	bool listed; /* it may be connected to; then: */
	struct host *host; /* where it is from */
	bool is_guest; /* of seats.c, with the next ones */
	bool scarce; /* it came when descriptors were */
	int shortage; /* it is in the reserve, for that -WIRE_E*; 0: it is not */
	TAILQ_ENTRY(rpc_session) guest_link, tool_link;
	uint64_t seated; /* in the reserve since, clock_now() */
	unsigned int pending; /* mails that name it */
	struct mail end_mail;
	/* the lane's thread */
	enum session_state state;
	bool opened, clean; /* what the service was and will be told */
	bool late; /* did not move what it was lent in time: carry.c */
	struct label_hold labels;
	struct conn *conn;
	struct guests guests; /* whose HELLO is to come, or was refused */
	unsigned int nguests;
	uint32_t epoch; /* of conn, the last one; 0: none yet */
	unsigned int nconns; /* also broken ones that hold requests */
	unsigned int nexec, credits; /* credits: as each reply says */
	struct rpc_timer ttl;
	bool spared; /* ttl was over, and somebody without a HELLO was given time, once */
	struct ctx_task end;
	struct slot *slots;
	uint8_t *block;
	struct rail_mem mem;
	size_t bytes; /* of its memory: counted by the lane */
};

/* listen.c: on the rail that the address names, or on all for pvfs://; what arrives
 * goes to request(). */
int server_listen(struct rpc_server *server, struct rpc_ctx *ctx,
		  void (*request)(struct ctx_listener *l,
				  struct tp_conn_req *req));
void server_unlisten(struct rpc_server *server, struct rpc_ctx *ctx);

void lane_post(struct lane *lane, struct mail *mail);
void lane_session_ended(struct lane *lane);

/*
 * session.c; lookup for the listener: -EBUSY (too many of its connects wait, or its
 * last life is not over), as fence_known(), -WIRE_ENOFILES (descriptors are scarce, and it is not
 * in the reserve), -ENOMEM.  A new one is a guest; pending is raised.
 */
int session_lookup(struct rpc_server *server, const struct wire_connect *wc,
		   const struct tp_conn_req *req, struct rpc_session **session);
/* The same for a JOIN: -ESTALE, there is no such session. */
int session_known(struct rpc_server *server, uint64_t id,
		  const struct tp_conn_req *req, struct rpc_session **session);
/* A mail that named it was handled. */
void session_unpend(struct rpc_session *session);
int session_alloc_slots(struct rpc_session *session);
/*
 * Its guest has said a HELLO that is to be believed: it takes the place of the
 * connection that there is, or -ESTALE.  A connection is closed.
 */
int session_attach(struct rpc_session *session, struct conn *conn);
void session_leave(struct rpc_session *session, struct conn *conn);
/* The end, in the lane's thread: session_close() comes when it is unused. */
void session_end(struct rpc_session *session, bool clean);
/* Something that used it is gone. */
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
	CONN_LINGER, /* a last reply is on its way, nothing more is heard */
	CONN_DEAD, /* closed; freed when its requests are answered */
};

/* RX_SPARE: of a connection with shared receives, it has no buffer. */
enum rx_state { RX_POSTED, RX_BUSY, RX_PARKED, RX_SPARE };

struct rx {
	struct rpc_req req; /* first */
	struct conn *conn;
	void *buf;
	uint32_t lkey; /* of buf */
	struct shared_buf *shared; /* that buf is in, or NULL */
	SLIST_ENTRY(rx) spare;
	enum rx_state state;
	uint32_t len; /* of the message in buf */
	uint32_t data_len; /* bytes behind it, or in a Fast RDMA buffer */
	const void *data;
	struct ctx_task retry; /* a parked one is looked at again */
	struct wire_out out;
	uint32_t reply_len;
	unsigned int
		reply_flags; /* WIRE_F_CAPS: of the one that is being built */
	uint64_t arrived, bytes_in, bytes_out; /* for tally.c */
	struct parts parts;
	uint32_t bulks; /* not yet posted */
	bool rerun, by_fast, mapped; /* for tally.c: how its data goes */
	bool answered; /* reply waits for bulks */
	bool whole; /* the reply says no more than that the data is there */
	struct rpc_bulk *held; /* place.c: goes out with the reply */
	bool held_bare; /* ... or ends it, without one */
	bool put; /* data was written: the reply goes behind it */
	uint64_t put_end; /* of the data that is on its way back */
};

struct conn {
	struct link link;
	enum conn_state state;
	struct lane *lane;
	struct rpc_session *session;
	LIST_ENTRY(conn) lane_link;
	bool is_guest; /* of seats.c, as its session: */
	TAILQ_ENTRY(conn) guest_link;
	enum wire_role role; /* as its connect said */
	struct ctx_task gone;
	struct rpc_timer timer; /* HELLO, linger, stall */
	uint32_t epoch, reply_max;
	unsigned int held; /* rx not posted, and conn_close() */
	unsigned int nrx; /* posted ones, or with shared receives all */
	struct shared *shared; /* NULL: it has receives of its own */
	unsigned int nshared; /* of shared that it holds */
	SLIST_HEAD(, rx) spare;
	size_t bytes; /* of its memory: counted by the lane */
	struct rx *rx; /* one more than slots, and for carry.c */
	uint8_t *block; /* requests, then two control messages: */
	uint8_t *ctl;
	size_t request_max; /* bytes of each */
	struct rail_mem mem;
	uint32_t lkey; /* of block */
	struct fast *fast; /* NULL: not asked for yet */
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
	uint32_t features; /* of both ends, but for: */
	bool agreed; /* both ends prove themselves in HELLO: conn_proof.c */
	bool can_seal; /* the other end, as it hailed */
	bool known; /* conn_ticket.c: who it is was proved: */
	uint64_t until, term; /* by a ticket; until 0: by the kernel */
	struct conn_seal *seal; /* conn_seal.c; NULL: it cannot be sealed */
	const struct wire_msg *hello; /* with a ticket, while it is answered */
	uint8_t nonce[2][WIRE_NONCE_LEN];
	struct carries *carries; /* carry.c; NULL: nothing was lent yet */
	struct apart *apart; /* apart.c; NULL: all goes over link */
	bool may_join; /* who shows the token may */
	uint8_t token[WIRE_NONCE_LEN];
};

/* conn.c.  conn_accept() consumes mail->req. */
void conn_accept(struct lane *lane, const struct mail *mail);
unsigned int conn_accept_data(const struct rpc_server *server, int status,
			      size_t request_max, struct wire_accept *acc);
void conn_reject(struct rpc_server *server, struct tp_conn_req *req,
		 int status);
/* server.c: the status that is told to who named those features. */
int server_told(int status, uint32_t features);
void conn_close(struct conn *conn, int status);
void conn_set_state(struct conn *conn, enum conn_state state);
static inline const struct rails *conn_rails(const struct conn *conn)
{
	return &conn->link.ctx->rails;
}
/* reply.c.  Sends a message that lies in registered memory; _over: behind bulk data there. */
void conn_send(struct conn *conn, const void *msg, uint32_t len, uint32_t lkey);
void conn_send_over(struct conn *conn, struct link *link, const void *msg,
		    uint32_t len, uint32_t lkey);
/* At rpc_server_close(): no callbacks. */
void conn_free(struct conn *conn);
/* Something that held it is gone. */
void conn_put(struct conn *conn);

/*
 * shared.c: receives that the connections of a lane on one rail share, where a
 * transport has a shared receive queue.  What came stays in its buffer until it is
 * answered, as with receives of one's own, but for a client that has more than its
 * share so: that is copied, and the buffer posted again at once.
 */
struct shared *shared_of(struct lane *lane, unsigned int rail);
void shared_close(struct lane *lane);
void shared_join(struct shared *s, struct conn *conn);
void shared_leave(struct conn *conn);
/* The buffer of rx, whole or copied, is given back. */
void shared_release(struct rx *rx);

/* conn.c: a message for an open connection is in rx->buf, or says why not. */
size_t conn_request_max(const struct lane *lane, unsigned int rail);
bool conn_hears(const struct conn *conn);
void conn_received(struct conn *conn, struct rx *rx, const struct tp_wc *wc);

/* rx.c: a receive, posted into buf. */
void rx_prepare(struct conn *conn, struct rx *rx);
int rx_init(struct conn *conn, struct rx *rx, void *buf, uint32_t lkey);
/* WIRE_CARRY_MAX more, step bytes apart; once. */
int rx_more(struct conn *conn, uint8_t *block, size_t step, uint32_t lkey);
/* The request is no longer held: its buffer receives again. */
void rx_release(struct rx *rx);

/* greet.c: HELLO, BYE and protocol errors, on the server */
void greet_hello(struct conn *conn, struct rx *rx);
void greet_bye(struct conn *conn, const struct wire_hdr *hdr);
/* Says what is wrong, to the log and if possible to the client; then only
 * this connection closes. */
void greet_error(struct conn *conn, struct rx *rx, int status, const char *why);

/* req.c: a checked request of an open session. */
void req_take(struct rx *rx);
/* Out of execution; done: the reply in the slot is kept. */
void req_finish(struct rx *rx, bool done);
/* The connection is gone: parked requests are forgotten. */
void req_forget(struct rx *rx);

/*
 * rx.c: the message and its data, as received in the buffer of rx, or
 * written to a Fast RDMA buffer: -EPROTO, there is no such message.
 */
void fast_req_split(struct rx *rx);
int fast_req_copy(struct rx *rx, uint32_t buffer, uint32_t len);
/* A checked message has the data that it says, or -EPROTO. */
int fast_req_check(struct rx *rx);
/* Answers FAST. */
void fast_req_run(struct rpc_req *req);

/*
 * place.c: a PUT that was planned; true: it goes out with the reply.
 * place_reply(): with this one; false: the reply is still to be sent.
 */
bool place_hold(struct rx *rx, struct rpc_bulk *bulk);
bool place_reply(struct rx *rx, const void *reply, uint32_t len);

/* reply.c: posts the reply of rx once its bulks are posted. */
void reply_post(struct rx *rx);

static inline const struct log *conn_log(const struct conn *conn)
{
	return conn->lane->server->attr.log;
}

/* From one buffer of so many bytes to the next: whole cache lines. */
static inline size_t server_step(size_t size)
{
	return (size + 63) & ~(size_t)63;
}

#endif
