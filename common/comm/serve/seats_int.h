/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seats_int.h - who has a place among the sessions.  Those who have not said who they
 * are, where that is asked for, or not said HELLO, are guests: they use what is free or has
 * a session that is away, and when nothing is, the host with the most of them loses its oldest.
 * So whoever only connects ends nobody's session, however often it does.  A place is taken
 * with HELLO, or with the proof.
 *
 * When all places are taken a session that is away gives its place up, but not for a host
 * that has more places than its own; and one host does not get all (rpc_server_attr.host_sessions).
 *
 * A full server keeps a reserve for administrators: SEATS_TOOLS places, and half of the
 * descriptors that it keeps free (tp_req_scarce()).  A manager that has proved what it is may use
 * these descriptors.  So may the tools of users whom the service names
 * (rpc_service.may_reserve), as many as there are descriptors for.  If one more tool comes, the
 * oldest one ends.  But if the oldest one came less than half of stall_ms ago, the new one has to
 * come again.  A connection that names itself a tool or the manager is a guest of the reserve
 * until it has proved that.  There may be twice as many such guests as tools.
 *
 * Of one session, too, several connections may have said no HELLO yet: who knows its number
 * may be among them, and is in nobody's way.
 *
 * All but that under the server's lock.
 */
#ifndef SEATS_INT_H
#define SEATS_INT_H

#include <stdbool.h>
#include <sys/queue.h>

struct conn;
struct host;
struct rpc_server;
struct rpc_session;

#define SEATS_GUESTS 64u /* that there may be when no place is free */
#define SEATS_OF_ONE 4u /* connections of one session without a HELLO */
#define SEATS_FREE 2u /* so many of them are not counted against SEATS_GUESTS */
#define SEATS_TOOLS 16u /* in the reserve, at most */

#define SEATS_NO_FILES                                                         \
	"few descriptors are left, which are kept for the manager, for "       \
	"administrators' tools and for files; raise LimitNOFILE of this "      \
	"daemon's unit (ulimit -n)"

TAILQ_HEAD(guests, conn); /* oldest first */

/* What a guest has proved. */
enum seat_rank {
	SEAT_ANY,
	SEAT_TOOL, /* it may use the reserve */
	SEAT_SERVER, /* it is one: these always have a place */
};

/* For a session that is new, of who connects from peer.  0, or -ENOMEM. */
int seat_guest(struct rpc_session *s, const char *peer);
/* It came when descriptors were scarce: it gets none but in the reserve. */
void seat_guest_scarce(struct rpc_session *s);
/* Whether it may connect again then. */
bool seat_has_reserve(const struct rpc_session *s);
/*
 * For a guest that is let in, without the lock; nothing for who has a place.  0; -WIRE_ENOSEATS,
 * -WIRE_ENOFILES: there is none, logged; -EBUSY: nor is there in the reserve just now; -EAGAIN: it
 * was sent away meanwhile.
 */
int seat_take(struct rpc_session *s, enum seat_rank rank);
/* The WIRE_H_* of one that is in the reserve, or will be; 0: it is not. */
uint32_t seat_shortage(struct rpc_session *s);
/* It is of who says HELLO now, whoever came first by its number.  0, -ENOMEM, -EAGAIN */
int seat_move(struct rpc_session *s, const char *peer);
/* It has no connection any more, and may come back; it is there again, or its end has come. */
void seat_away(struct rpc_session *s);
void seat_back(struct rpc_session *s);
/* It takes no more connections. */
void seat_leave(struct rpc_session *s);
/*
 * A connection that is to say HELLO, in its lane.  If there are too many of the session, or such
 * of the server, the host with the most of the session loses its oldest one.
 */
void guest_come(struct conn *conn);
/* It said it, or is gone. */
void guest_leave(struct conn *conn);
/* session.c: ends it, from outside its lane. */
void session_expel(struct rpc_session *s);
/* Nobody has proved whose it is, where that is asked for. */
bool session_is_strangers(const struct rpc_session *s);
/* Who has proved that it is his finds a stranger in it, who goes; in its lane.  -EAGAIN */
int session_claim(struct rpc_session *s, uint32_t uid);

#endif
