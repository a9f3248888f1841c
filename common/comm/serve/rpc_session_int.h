/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc_session_int.h - sessions: the table, places, fences, and the life of a session.
 *
 * Places.  A server has max_sessions places, and an open session occupies one.  Before that, a
 * session is a guest: until its HELLO, or until the client has authenticated if the server
 * requires that.  A guest uses a free place, or the place of a disconnected session, but does not
 * end that session.  If there are too many guests, the server ends the oldest guest of the host
 * that has most guests.  So a client that only connects cannot end a session of another client.
 *
 * If all places are occupied, a session that opens takes the place of a disconnected session, which
 * ends.  Exception: the new session's host already has more places than the host of the other.
 * One host cannot occupy all places (rpc_server_attr.host_sessions).
 *
 * A full server has a reserve for administrators: SEATS_TOOLS places, and half of the descriptors
 * that it keeps free (tp_req_scarce()).  Only these may use it: a manager that has proved its role,
 * and tools of users whom rpc_service.may_reserve() accepts.  Without keys, a manager whose address
 * may_reserve() accepts may use it, too.  If one more tool connects than there is room for, the
 * oldest tool's session ends.  But if that tool connected less than half of stall_ms ago, the
 * server rejects the new one instead.  A manager's session ends only for another manager.  When a
 * session of the reserve ends, only the reserve has more room.  A connection that claims to be a
 * tool or the manager is a guest of the reserve until the server has checked this claim
 * (identity_seat_rank()).  There may be twice as many such guests as tools.
 *
 * A session may have several connections before HELLO.  One of them may be of an unauthorised
 * client that knows the id of the session.  It must not hinder the owner of the session.
 *
 * The server's lock protects the places, but not the list of connections before HELLO.
 */
#ifndef RPC_SESSION_INT_H
#define RPC_SESSION_INT_H

#include "common/buffer/rail.h"
#include "common/comm/serve/server_thread_int.h"
#include "common/comm/serve/usage_labels_int.h"
#include "common/util/hash_table.h"

struct host;
struct rx;

TAILQ_HEAD(guests, conn); /* connections; the oldest first */

/*
 * Session ids that an unauthenticated client used, although a user has proved to own them; the
 * oldest first.
 */
#define CLAIMS 64u
struct claims {
	struct claim {
		uint64_t session;
		uint32_t uid; /* the user who owns the id */
	} claim[CLAIMS];
	unsigned int n;
};

/* One slot: the last reply, and the request in execution. */
struct reply_slot {
	/* number of the request of the kept reply; 0 if there is none yet */
	uint64_t seq;
	uint32_t len; /* bytes of the kept reply */
	/* number of the connection on which the reply was sent */
	uint32_t epoch;
	/* a replay executes the request again, instead of sending the reply */
	bool rerun;
	uint8_t *reply; /* the kept reply, in a buffer of reply_max bytes */
	struct rx *exec;
	/* the request on a newer connection, which waits until exec is done */
	struct rx *parked;
};

enum session_state {
	SESSION_NEW, /* connected, but HELLO has not arrived yet */
	SESSION_OPEN,
	SESSION_ENDED, /* closed; removed and freed when unused */
};

struct rpc_session {
	struct rpc_session_info info;
	struct server_thread *thread;
	/* the following fields are protected by the server's lock */
	UT_hash_handle hh;
	LIST_ENTRY(rpc_session) all_link;
	TAILQ_ENTRY(rpc_session) disconnected_link;
	bool disconnected;
	bool listed; /* the session accepts connections, and then has: */
	struct host *host; /* the host from which it connects */
	bool is_guest; /* for session_seats.c, as are the next fields */
	bool scarce; /* it connected when descriptors were scarce */
	/* the -WIRE_E* because of which it uses the reserve; 0 if it does not use it */
	int shortage;
	TAILQ_ENTRY(rpc_session) guest_link, tool_link;
	/* the time since which it uses the reserve, clock_now() */
	uint64_t reserved_at;
	unsigned int pending_mails; /* number of mails that name the session */
	struct thread_mail expel_mail;
	/* only the thread of the session uses the following fields */
	enum session_state state;
	/* the service knows the session; argument for session_close() */
	bool opened, clean;
	bool loan_expired; /* the client did not move lent data in time */
	struct label_hold labels;
	struct conn *conn;
	/* connections that have not sent HELLO, or were refused */
	struct guests guests;
	unsigned int nguests;
	/* number of conn, the last connection; 0 if there was none yet */
	uint32_t epoch;
	/* number of connections, including broken ones that hold requests */
	unsigned int nconns;
	/* requests in execution; the credits that each reply contains */
	unsigned int nexec, credits;
	struct rpc_timer ttl;
	/* ttl has expired once, and a connection before HELLO got more time */
	bool ttl_extended;
	struct ctx_task end;
	struct reply_slot *slots;
	uint8_t *block;
	struct rail_mem mem;
	size_t bytes; /* bytes of the session, which the thread counts */
};

/* ---- session.c ---- */

/* the maximum of broken connections of one session that still hold requests */
#define SERVER_OLD_CONNS 4u

/*
 * Sets *session to the session id for the connect request req, and increments its pending_mails.
 * If there is none, creates one as a guest from wc, the content of the request; with wc NULL,
 * returns -ESTALE.  Returns 0, or:
 * - -EBUSY: too many connects of the session are waiting, or the session has not ended yet.
 * - -WIRE_ENOFILES: descriptors are scarce, and the session may not use the reserve.
 * - -ESTALE, -EKEYREVOKED: see fence_check().
 * - -ENOMEM.
 */
int session_lookup(struct rpc_server *server, uint64_t id,
		   const struct wire_connect *wc, const struct tp_conn_req *req,
		   struct rpc_session **session);
/* Called when a mail that names the session was handled: decrements pending_mails. */
void session_mail_handled(struct rpc_session *session);
/* Allocates the replies of all slots.  Returns 0 or -ENOMEM. */
int session_alloc_slots(struct rpc_session *session);
/*
 * Adds conn to the connections of its session that have not sent HELLO.  If the session or the
 * server has too many of them, closes the oldest one of the host that has most of them in this
 * session.  Called in the thread of the session.
 */
void session_add_guest(struct conn *conn);
/*
 * Called when the HELLO of conn was accepted: closes the session's present connection and replaces
 * it with conn.  Returns 0, or -ESTALE: conn is not newer than the present connection.
 */
int session_attach(struct rpc_session *session, struct conn *conn);
/* Called when conn, the session's present connection or one before HELLO, is closed. */
void session_conn_closed(struct conn *conn);
/*
 * Ends the session, in its thread.  session_close() is called when no request or connection uses
 * the session any more.
 */
void session_end(struct rpc_session *session, bool clean);
/* Called when a request or connection of the session ended: frees the session if it has ended. */
void session_check_unused(struct rpc_session *session);
void session_free(struct rpc_session *session);

/* ---- session_seats.c: the caller holds the server's lock, unless stated otherwise ---- */

/* number of guests that are always allowed, even if no place is free */
#define SEATS_GUESTS 64u
#define SEATS_OF_ONE 4u /* maximum of connections of one session before HELLO */
/* number of these that do not count against SEATS_GUESTS */
#define SEATS_FREE 2u
#define SEATS_TOOLS 16u /* maximum of tools in the reserve */
#define SEATS_NO_FILES                                                         \
	"few descriptors are left, which are kept for the manager, for "       \
	"administrators' tools and for files; raise LimitNOFILE of this "      \
	"daemon's unit (ulimit -n)"

/* Which places a session may use. */
enum seat_rank {
	SEAT_ANY,
	SEAT_TOOL, /* a tool, which may use the reserve */
	SEAT_SERVER, /* a server, which always gets a place */
};

/* Makes the new session s, which connects from peer, a guest.  Returns 0 or -ENOMEM. */
int seat_add_guest(struct rpc_session *s, const char *peer);
/* Records that s connected when descriptors were scarce: then it needs a place in the reserve. */
void seat_mark_scarce(struct rpc_session *s);
/* Returns whether the session may reconnect even if descriptors are scarce. */
bool seat_is_reserved(const struct rpc_session *s);
/*
 * Gives a place to the session s, unless it has one.  The caller does not hold the lock.  Returns
 * 0, or:
 * - -WIRE_ENOSEATS, -WIRE_ENOFILES: no place is free, or too few descriptors are; logged.
 * - -EBUSY: s may use the reserve, but that has no place now.
 * - -EAGAIN: another thread has ended the session.
 */
int seat_assign(struct rpc_session *s, enum seat_rank rank);
/*
 * Returns the WIRE_H_* flag that tells a client of the reserve why the server is full, or 0 if the
 * session is not in the reserve. The caller does not hold the lock.
 */
uint32_t seat_shortage_flag(struct rpc_session *s);
/*
 * Records that the session belongs to the host that sends HELLO now, whichever host first used its
 * number. The caller does not hold the lock. Returns 0, -ENOMEM or -EAGAIN.
 */
int seat_set_host(struct rpc_session *s, const char *peer);
/*
 * seat_set_disconnected() is called when the session has lost its connection.
 * seat_set_connected() is called when it has a connection again, or when it ends.
 */
void seat_set_disconnected(struct rpc_session *s);
void seat_set_connected(struct rpc_session *s);
/*
 * seat_unlist() frees the place of the session, which then accepts no more connections. The id
 * stays in use until session_close(). seat_expel() also ends the session; any thread may call it.
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
 * Records that the user uid owns the id session.  From now on, a client that has not authenticated
 * cannot use that id.  If the table is full, this replaces the oldest claim of the user with most
 * claims.
 */
void claim_add(struct rpc_server *server, uint64_t session, uint32_t uid);
bool claim_exists(const struct rpc_server *server, uint64_t session);
/*
 * Returns true if the server requires authentication, and no user has proved to own s. Needs no
 * lock.
 */
bool session_is_unproved(const struct rpc_session *s);
/*
 * Called if a user proved that he owns the id of s, while a client that proved nothing uses this
 * id. Ends s, and returns -EAGAIN, so that the user connects again. The caller is the thread of s,
 * and does not hold the server's lock.
 */
int session_claim_id(struct rpc_session *s, uint32_t uid);

#endif
