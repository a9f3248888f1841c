/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seats_int.h - which sessions have a place.  A session is a guest until its HELLO, and until its
 * proof if a proof is required.  Guests use places that are free, or whose session is
 * disconnected.  If there is none, the host with the most guests loses its oldest guest.  So a
 * client that only connects ends nobody's session, however often it does that.  A session takes a
 * place with its HELLO, or with its proof.
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
 * only for another manager.  The end of a session of the reserve frees no other place.  A connection
 * that names itself a tool or the manager is a guest of the reserve until it has proved that.
 * There may be twice as many such guests as tools.
 *
 * A single session may also have several connections before HELLO.  A stranger who knows the
 * number of the session may be among them, and must not hinder its owner.
 *
 * All under the server's lock, except the connections before HELLO.
 */
#ifndef SEATS_INT_H
#define SEATS_INT_H

#include <stdbool.h>
#include <sys/queue.h>

struct conn;
struct host;
struct rpc_server;
struct rpc_session;

/* guests that are always allowed, even if no place is free */
#define SEATS_GUESTS 64u
#define SEATS_OF_ONE 4u /* maximum connections of one session before HELLO */
#define SEATS_FREE 2u /* of these, not counted against SEATS_GUESTS */
#define SEATS_TOOLS 16u /* maximum in the reserve */

#define SEATS_NO_FILES                                                         \
	"few descriptors are left, which are kept for the manager, for "       \
	"administrators' tools and for files; raise LimitNOFILE of this "      \
	"daemon's unit (ulimit -n)"

TAILQ_HEAD(guests, conn); /* oldest first */

/* The result of a guest's proof. */
enum seat_rank {
	SEAT_ANY,
	SEAT_TOOL, /* it may use the reserve */
	SEAT_SERVER, /* it is a server; servers always get a place */
};

/* For a new session that connects from peer: makes it a guest.  Returns 0 or -ENOMEM. */
int seat_guest(struct rpc_session *s, const char *peer);
/* It connected when descriptors were scarce: it gets a place only in the reserve. */
void seat_guest_scarce(struct rpc_session *s);
/* Whether the session may reconnect when descriptors are scarce. */
bool seat_has_reserve(const struct rpc_session *s);
/*
 * Gives a place to a guest; does nothing for a session that has one.  Call it without the lock.
 * Returns 0.  -WIRE_ENOSEATS, -WIRE_ENOFILES: there is no place, which is logged.  -EBUSY: no
 * place in the reserve now either.  -EAGAIN: the session was ended meanwhile.
 */
int seat_take(struct rpc_session *s, enum seat_rank rank);
/* The WIRE_H_* flag of a session that is, or will be, in the reserve; 0: it is not. */
uint32_t seat_shortage(struct rpc_session *s);
/*
 * The session belongs to the host that sends HELLO now, whoever first used its number.  Returns
 * 0, -ENOMEM or -EAGAIN.
 */
int seat_move(struct rpc_session *s, const char *peer);
/*
 * seat_away(): the session has no connection now, and may return.  seat_back(): it returned, or
 * ends.
 */
void seat_away(struct rpc_session *s);
void seat_back(struct rpc_session *s);
/* The session accepts no more connections. */
void seat_leave(struct rpc_session *s);
/*
 * A connection before its HELLO, in its lane.  If the session, or the server, has too many of
 * them, the host with most of them in the session loses its oldest one.
 */
void guest_come(struct conn *conn);
/* It sent HELLO, or is closed. */
void guest_leave(struct conn *conn);
/* session.c: ends the session from outside its lane. */
void session_expel(struct rpc_session *s);
/* A proof is required, and nobody has proved to own the session. */
bool session_is_strangers(const struct rpc_session *s);
/*
 * A user proved that he owns the number, but a stranger has the session.  Ends the session; in
 * its lane.  Returns -EAGAIN.
 */
int session_claim(struct rpc_session *s, uint32_t uid);

#endif
