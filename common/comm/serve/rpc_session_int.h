/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc_session_int.h - sessions: the table, places, fences, and the life of a session.
 *
 * Places.  A session is a guest until its HELLO, and until its proof if a proof is required.
 * Guests use places that are free, or whose session is disconnected.  If there is none, the host
 * with the most guests loses its oldest guest.  So a client that only connects ends nobody's
 * session, however often it does that.  A session takes a place with its HELLO, or with its
 * proof.
 *
 * If all places are taken, a disconnected session gives its place up.  It does not do so for a
 * host that has more places than its own host.  One host cannot get all places
 * (rpc_server_attr.host_sessions).
 *
 * A full server keeps a reserve for administrators: SEATS_TOOLS places, and half of the
 * descriptors that it keeps free (tp_req_scarce()).  A manager that has proved its role may use
 * these descriptors.  So may the tools of users whom the service names (rpc_service.may_reserve),
 * as many as there are descriptors for.  If one more tool comes, the oldest one ends.  But if the
 * oldest one came less than half of stall_ms ago, the new one has to come again.  A manager ends
 * only for another manager.  The end of a session of the reserve frees no other place.  A
 * connection that names itself a tool or the manager is a guest of the reserve until it has
 * proved that.  There may be twice as many such guests as tools.
 *
 * A single session may also have several connections before HELLO.  A stranger who knows the
 * number of the session may be among them, and must not hinder its owner.
 *
 * Places are under the server's lock, except the connections before HELLO.
 */
#ifndef RPC_SESSION_INT_H
#define RPC_SESSION_INT_H

#include "common/buffer/rail.h"
#include "common/comm/serve/server_thread_int.h"
#include "common/comm/serve/usage_labels_int.h"
#include "common/util/hash_table.h"

struct host;
struct rx;

TAILQ_HEAD(guests, conn); /* oldest first */

/*
 * Sessions that a user proved to own, and in which a stranger was found; the oldest first.
 */
#define CLAIMS 64u
struct claims {
	struct claim {
		uint64_t session;
		uint32_t uid; /* the owner */
	} claim[CLAIMS];
	unsigned int n;
};

/* One slot: the last reply, and the request in execution. */
struct reply_slot {
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
	struct server_thread *thread;
	/* under the server's lock */
	UT_hash_handle hh;
	LIST_ENTRY(rpc_session) all_link;
	TAILQ_ENTRY(rpc_session) disconnected_link;
	bool disconnected;
	bool listed; /* accepts connections; if so: */
	struct host *host; /* the host that it connects from */
	bool is_guest; /* session_seats.c, with the next ones */
	bool scarce; /* it connected when descriptors were scarce */
	/* in the reserve because of this -WIRE_E*; 0: not in the reserve */
	int shortage;
	TAILQ_ENTRY(rpc_session) guest_link, tool_link;
	uint64_t reserved_at; /* in the reserve since, clock_now() */
	unsigned int pending_mails; /* mails that name it */
	struct thread_mail expel_mail;
	/* in its thread */
	enum session_state state;
	/* opened: the service knows it; clean: for session_close() */
	bool opened, clean;
	bool loan_expired; /* did not move lent data in time */
	struct label_hold labels;
	struct conn *conn;
	struct guests guests; /* connections before HELLO, or refused */
	unsigned int nguests;
	uint32_t epoch; /* of conn, the last one; 0: none yet */
	unsigned int nconns; /* with broken ones that hold requests */
	unsigned int nexec, credits; /* credits: sent with each reply */
	struct rpc_timer ttl;
	/* ttl has expired once, and a connection before HELLO got more time */
	bool ttl_extended;
	struct ctx_task end;
	struct reply_slot *slots;
	uint8_t *block;
	struct rail_mem mem;
	size_t bytes; /* memory of the session, counted by the thread */
};

/* ---- session.c ---- */

/* maximum of one session that still hold requests */
#define SERVER_OLD_CONNS 4u

/*
 * Finds the session of that id for a connect; wc: of the connect, which may make a new session, a
 * guest; NULL: the session must exist.  Increments pending_mails.  Returns 0.  -EBUSY: too many
 * of its connects wait, or the session of that id has not ended yet.  As fence_check(); -ESTALE
 * also if there is no session.  -WIRE_ENOFILES: descriptors are scarce, and it is not in the
 * reserve. -ENOMEM.
 */
int session_lookup(struct rpc_server *server, uint64_t id,
		   const struct wire_connect *wc, const struct tp_conn_req *req,
		   struct rpc_session **session);
/* A mail that named the session was handled. */
void session_mail_handled(struct rpc_session *session);
/* Allocates the replies of all slots.  Returns 0 or -ENOMEM. */
int session_alloc_slots(struct rpc_session *session);
/*
 * A connection before its HELLO, in its thread.  If the session, or the server, has too many of
 * them, the host with most of them in the session loses its oldest one.
 */
void session_add_guest(struct conn *conn);
/*
 * The HELLO of conn is accepted: conn replaces the current connection, which is closed.  Returns
 * 0, or -ESTALE if conn is not newer.
 */
int session_attach(struct rpc_session *session, struct conn *conn);
/* conn, a current connection or a guest, is closed. */
void session_conn_closed(struct conn *conn);
/* Ends the session; in its thread.  session_close() follows when it is unused. */
void session_end(struct rpc_session *session, bool clean);
/* A request or a connection of the session is gone: frees an ended session if it was the last. */
void session_check_unused(struct rpc_session *session);
void session_free(struct rpc_session *session);

/* ---- session_seats.c: the caller holds the server's lock, unless stated otherwise ---- */

/* guests that are always allowed, even if no place is free */
#define SEATS_GUESTS 64u
#define SEATS_OF_ONE 4u /* maximum connections of one session before HELLO */
#define SEATS_FREE 2u /* of these, not counted against SEATS_GUESTS */
#define SEATS_TOOLS 16u /* maximum in the reserve */
#define SEATS_NO_FILES                                                         \
	"few descriptors are left, which are kept for the manager, for "       \
	"administrators' tools and for files; raise LimitNOFILE of this "      \
	"daemon's unit (ulimit -n)"

/* The result of a guest's proof. */
enum seat_rank {
	SEAT_ANY,
	SEAT_TOOL, /* it may use the reserve */
	SEAT_SERVER, /* it is a server; servers always get a place */
};

/* For a new session that connects from peer: makes it a guest.  Returns 0 or -ENOMEM. */
int seat_add_guest(struct rpc_session *s, const char *peer);
/* s connected when descriptors were scarce, so only a place in the reserve admits it. */
void seat_mark_scarce(struct rpc_session *s);
/* Whether the session may reconnect when descriptors are scarce. */
bool seat_is_reserved(const struct rpc_session *s);
/*
 * Gives a place to a guest; does nothing for a session that has one.  Call it without the lock.
 * Returns 0.  -WIRE_ENOSEATS, -WIRE_ENOFILES: there is no place, which is logged.  -EBUSY: no
 * place in the reserve now either.  -EAGAIN: the session was ended meanwhile.
 */
int seat_assign(struct rpc_session *s, enum seat_rank rank);
/*
 * The WIRE_H_* flag of a session that is, or will be, in the reserve; 0: it is not.  Call it
 * without the lock.
 */
uint32_t seat_shortage_flag(struct rpc_session *s);
/*
 * The session belongs to the host that sends HELLO now, whoever first used its number.  Call it
 * without the lock.  Returns 0, -ENOMEM or -EAGAIN.
 */
int seat_set_host(struct rpc_session *s, const char *peer);
/*
 * seat_set_disconnected(): the session has no connection now, and may return.
 * seat_set_connected(): it returned, or ends.
 */
void seat_set_disconnected(struct rpc_session *s);
void seat_set_connected(struct rpc_session *s);
/*
 * seat_unlist(): the session accepts no more connections, and its place is free.  Its id stays
 * in use until session_close().  seat_expel(): also ends it; from any thread.
 */
void seat_unlist(struct rpc_session *s);
void seat_expel(struct rpc_session *s);

/* ---- session_fences.c: the caller holds the server's lock, unless stated otherwise ---- */

/*
 * Returns 0 if the session may connect, -ESTALE, or -EKEYREVOKED if it was evicted.
 */
int fence_check(struct rpc_server *server, uint64_t session);
void fence_free(struct rpc_server *server);
/*
 * From now on, strangers cannot use that number.  If all claims are in use, the user with the
 * most claims loses his oldest.
 */
void claim_add(struct rpc_server *server, uint64_t session, uint32_t uid);
bool claim_exists(const struct rpc_server *server, uint64_t session);
/* A proof is required, and nobody has proved to own the session.  Needs no lock. */
bool session_is_unproved(const struct rpc_session *s);
/*
 * Called if a user proved that he owns the id of s, while a client that proved nothing uses it.
 * Ends s, and returns -EAGAIN, for the user to connect again.  The caller is the thread of s, and
 * does not hold the server's lock.
 */
int session_claim_id(struct rpc_session *s, uint32_t uid);

#endif
