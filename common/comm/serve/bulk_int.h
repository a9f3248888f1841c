/* SPDX-License-Identifier: BSD-2-Clause */
/* bulk_int.h - bulk data of requests: queued, posted, lent to clients, or sent with the reply. */
#ifndef BULK_INT_H
#define BULK_INT_H

#include "common/comm/progress/ctx.h"
#include "common/comm/serve/rpc_serve.h"

struct conn;
struct thread_mail;
struct rx;

/* The bulks of a connection. */
struct bulk_queue {
	struct rpc_link
		*link; /* the endpoint for bulk data, or that of messages */
	bool ready; /* link is established */
	TAILQ_HEAD(bulks, rpc_bulk) posted;
	struct bulks waiting; /* in order */
	unsigned int wrs; /* work requests of posted */
	uint64_t bytes; /* of posted */
	TAILQ_ENTRY(conn) turn; /* if in_turns: server_thread.turns */
	bool in_turns;
	unsigned long moved,
		moved_seen; /* bulks that ended; at the last check for a stall */
};

/* ---- bulk.c: rpc_bulk_start() ---- */

/*
 * Posts a bulk that was held back for the reply, with the reply if possible.  Returns false if
 * the reply is still to be sent.
 */
bool bulk_post_with_reply(struct rx *rx, const void *reply, uint32_t len);

/* ---- bulk_queue.c: chains of work requests, and whose chain is next ---- */

/* Whether something can be posted on it. */
bool conn_is_usable(const struct conn *conn);
/* Fills the context's scratch space with the chain.  Returns its length, or -errno. */
int bulk_plan(const struct conn *conn, const struct rpc_bulk *bulk,
	      const struct rail_sge *local);
/* Whether such a chain would have to wait, for others or for room. */
bool bulk_is_crowded(const struct conn *conn, const struct rpc_bulk *bulk);
/* Posts the planned chain.  Returns 0 or -ENOTCONN. */
int bulk_post(struct conn *conn, struct rpc_bulk *bulk);
/* The same, but if the connection broke, done() reports that. */
void bulk_post_or_fail(struct conn *conn, struct rpc_bulk *bulk);
/*
 * bulk_enqueue() appends to the waiting chains of the connection; bulk_enqueue_counted() also
 * counts that, and puts the connection into the turns.  Both return 0 or -ENOMEM.  bulk_pump()
 * posts those for which there is room.
 */
int bulk_enqueue(struct conn *conn, struct rpc_bulk *bulk);
int bulk_enqueue_counted(struct conn *conn, struct rpc_bulk *bulk);
void bulk_pump(struct conn *conn);
/* A bulk of the request was posted.  Posts the reply if it waited for that. */
void bulk_count_posted(struct rx *rx);
/* A chain completed: calls done(), and posts waiting chains. */
void bulk_complete(struct conn *conn, struct rpc_bulk *bulk);
/* The connection is closed: calls done() of all with status. */
void bulk_fail_all(struct conn *conn, int status);
/* The connection is freed without being closed. */
void bulk_free_waiting(struct conn *conn);
/* For the timer of conn: whether no bulk data moved in stall_ms, which is logged. */
bool bulk_is_stalled(struct conn *conn);

/* ---- bulk_loan.c ---- */

/*
 * Adaptive rendezvous, the server's part.  If much data is outstanding, a client moves the data
 * of its bulks itself (PVFS2 over Quadrics, ICS 2005, section 5.1).  The server lends it the
 * local memory:
 *
 *   lent --answered--> done() of the bulk
 *    |  \---declined--> the server moves the data, as usual
 *    +------too late---> the same; the ticket stays in use until the answer
 *
 * A loan of memory is no loan of an object (server/lend).  It is a registration of its own, of
 * these bytes only, with the one right that is needed.
 * It ends before the memory is used for anything else.  From then on, an access with its key
 * fails, and breaks only the connection that tried.  Memory lent for a write is cleared first, so
 * a client that does not fill it finds zeros.
 *
 * A client that accesses the memory too late loses its connection, and sends its requests again.
 * The server lends nothing on the new connection.  Otherwise a network that needs longer than a
 * loan lasts would never move anything.
 *
 * WIRE_CARRY_MAX tickets limit what one client is lent, and the messages in flight.  Each ticket
 * has a receive at both ends until it is answered.
 */

/*
 * Fewer bytes are not worth two messages.  Data that bulk.c can place is not lent either.
 */
#define BULK_LOAN_MIN ((64u << 10) + 1)

/*
 * bulk is checked and planned.  crowded: it would have to wait.  Returns true if it was lent.
 */
bool bulk_loan_offer(struct rx *rx, struct rpc_bulk *bulk, bool crowded);
/*
 * The client's answer.  bulk_loan_is_out() returns false if there was no question.  The receive
 * of the answer is posted again between the two calls.
 */
bool bulk_loan_is_out(const struct conn *conn, uint32_t imm);
void bulk_loan_answered(struct conn *conn, uint32_t imm);
/* The connection is closed: calls done() of all with status. */
void bulk_loan_fail_all(struct conn *conn, int status);
/* The connection is freed. */
void bulk_loan_free(struct conn *conn);

/* ---- bulk_endpoint.c: a separate endpoint for the bulk data of a connection ---- */

/*
 * The client makes the endpoint with a JOIN (WIRE_F_APART).  It ends with the connection, and the
 * connection ends with it.
 *
 * For the answer to HELLO: makes the token that a JOIN has to show.  Returns false if there is
 * none.
 */
bool bulk_endpoint_offer(struct conn *conn);
/* The connection that the JOIN belongs to; NULL: none.  A token is valid once. */
struct conn *bulk_endpoint_find_conn(const struct thread_mail *mail);
/* Accepts the JOIN, and consumes req; or returns -errno. */
int bulk_endpoint_accept(struct conn *conn, struct tp_conn_req *req,
			 const void *answer, unsigned int len);
void bulk_endpoint_close(struct conn *conn);
void bulk_endpoint_free(struct conn *conn);

#endif
