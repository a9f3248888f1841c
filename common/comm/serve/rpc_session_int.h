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
 * and tools of users whom rpc_service.may_reserve() accepts.  If one more tool connects than there
 * is room for, the oldest tool's session ends.  But if that tool connected less than half of
 * stall_ms ago, the server rejects the new one instead.  A manager's session ends only for another
 * manager.  When a session of the reserve ends, only the reserve has more room.  A connection that
 * claims to be a tool or the manager is a guest of the reserve until it has proved that.  There may
 * be twice as many such guests as tools.
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

TAILQ_HEAD(guests, conn); /* oldest first */

/*
 * Session ids that an unauthenticated client used, although a user has proved to own them; the
 * oldest first.
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

/* guests that are always allowed, even if no place is free */
#define SEATS_GUESTS 64u
#define SEATS_OF_ONE 4u /* maximum connections of one session before HELLO */
#define SEATS_FREE 2u /* of these, not counted against SEATS_GUESTS */
#define SEATS_TOOLS 16u /* maximum in the reserve */
#define SEATS_NO_FILES                                                         \
	"few descriptors are left, which are kept for the manager, for "       \
	"administrators' tools and for files; raise LimitNOFILE of this "      \
	"daemon's unit (ulimit -n)"

/* Which places a session may use. */
enum seat_rank {
	SEAT_ANY,
	SEAT_TOOL, /* it may use the reserve */
	SEAT_SERVER, /* it is a server; servers always get a place */
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
 * Returns the WIRE_H_* flag that tells a client of the reserve why the server is full; 0: the
 * session is not in the reserve.  The caller does not hold the lock.
 */
uint32_t seat_shortage_flag(struct rpc_session *s);
/*
 * The session belongs to the host that sends HELLO now, whoever first used its number.  Call it
 * without the lock.  Returns 0, -ENOMEM or -EAGAIN.
 */
int seat_set_host(struct rpc_session *s, const char *peer);
/*
 * seat_set_disconnected() is called when the session has lost its connection.
 * seat_set_connected() is called when it has a connection again, or when it ends.
 */
void seat_set_disconnected(struct rpc_session *s);
void seat_set_connected(struct rpc_session *s);
/*
 * seat_unlist() frees the place of the session, which then accepts no more connections.  The id
 * stays in use until session_close().  seat_expel() does that and ends the session; any thread may
 * call it.
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
/* Returns true if the server requires authentication, and no user has proved to own s.  No lock. */
bool session_is_unproved(const struct rpc_session *s);
/*
 * Called if a user proved that he owns the id of s, while a client that proved nothing uses it.
 * Ends s, and returns -EAGAIN, for the user to connect again.  The caller is the thread of s, and
 * does not hold the server's lock.
 */
int session_claim_id(struct rpc_session *s, uint32_t uid);

#endif
