/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bulk_int.h - the bulk data of requests (struct rpc_bulk).  The server queues a bulk, posts it,
 * has the client move it, or sends it with the reply.
 */
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
		/* the endpoint of bulk data; may be the one of messages */
		*link;
	bool ready; /* link is established */
	TAILQ_HEAD(bulks, rpc_bulk) posted;
	struct bulks waiting; /* bulks that wait to be posted, in order */
	unsigned int wrs; /* number of work requests of the posted bulks */
	uint64_t bytes; /* bytes of the posted bulks */
	/* if in_turns, the entry in server_thread.turns */
	TAILQ_ENTRY(conn) turn;
	bool in_turns;
	unsigned long moved,
		/* number of bulks that ended, now and at the last check for a stall */
		moved_seen;
};

/* ---- bulk.c: rpc_bulk_start() ---- */

/*
 * Posts the bulk that was held back until the reply of rx (rpc_bulk.last), together with the
 * reply, of len bytes, if possible.  Returns false if the caller must send the reply itself.
 */
bool bulk_post_with_reply(struct rx *rx, const void *reply, uint32_t len);

/* ---- bulk_queue.c: chains of work requests, and the choice of the next one ---- */

/* Returns whether bulk data can be posted on the connection. */
bool conn_is_usable(const struct conn *conn);
/* Fills the context's scratch space with the chain.  Returns its length, or -errno. */
int bulk_plan(const struct conn *conn, const struct rpc_bulk *bulk,
	      const struct rail_sge *local);
/* Returns whether the chain of bulk must wait: for other chains, rdma_max, or room in the queue. */
bool bulk_is_crowded(const struct conn *conn, const struct rpc_bulk *bulk);
/* Posts the planned chain.  Returns 0 or -ENOTCONN. */
int bulk_post(struct conn *conn, struct rpc_bulk *bulk);
/* bulk_post(); if the connection is broken, calls done() with the error. */
void bulk_post_or_fail(struct conn *conn, struct rpc_bulk *bulk);
/*
 * bulk_enqueue() appends bulk to the waiting chains of the connection.  bulk_enqueue_counted() also
 * counts it in rdma_waits, and appends the connection to server_thread.turns.  Both return 0 or
 * -ENOMEM.  bulk_pump() posts the waiting chains for which there is room.
 */
int bulk_enqueue(struct conn *conn, struct rpc_bulk *bulk);
int bulk_enqueue_counted(struct conn *conn, struct rpc_bulk *bulk);
void bulk_pump(struct conn *conn);
/* Called when a bulk of the request was posted.  Posts the reply if it waited for this bulk. */
void bulk_count_posted(struct rx *rx);
/* Called when a chain completed: calls done(), and posts waiting chains. */
void bulk_complete(struct conn *conn, struct rpc_bulk *bulk);
/* Called when the connection is closed: calls done() of all bulks with status. */
void bulk_fail_all(struct conn *conn, int status);
/* Called when the connection is freed without being closed. */
void bulk_free_waiting(struct conn *conn);
/* For the timer of conn: returns true, and logs it, if no bulk data has moved for stall_ms. */
bool bulk_is_stalled(struct conn *conn);

/* ---- bulk_loan.c ---- */

/*
 * Adaptive rendezvous, the server's side.  If much data is outstanding, the server asks the client
 * to move the data of a bulk itself (PVFS2 over Quadrics, ICS 2005, section 5.1).  For this, the
 * server lends the client its local memory by RDMA:
 *
 *   lent --answered--> done() of the bulk
 *    |  \---declined--> the server moves the data, as usual
 *    +------too late---> the server moves the data; the ticket stays in use until the answer
 *
 * A loan here is a registration of exactly these bytes, with only the access right that the
 * client needs.  (server/lend lends objects, which is another thing.)  The server ends the
 * registration before it uses the memory for anything else.  A later access with its key fails
 * and breaks only the connection of that client.  The server clears memory that a client is to
 * fill, so that a client which does not fill it cannot read old data there.
 *
 * A client that accesses the memory too late loses its connection, and sends its requests again.
 * The server lends nothing on the new connection.  Otherwise no data would ever move over a
 * network that needs longer than a loan lasts.
 *
 * A client has at most WIRE_CARRY_MAX loans at a time, each with a ticket.  For each ticket, both
 * ends have one more receive posted until the answer.
 */

/* The least bytes of a loan, which costs two messages.  bulk.c can place smaller data itself. */
#define BULK_LOAN_MIN ((64u << 10) + 1)

/*
 * Called for a checked and planned bulk. crowded means that it would have to wait. If the client
 * may move the data, sends CARRY and returns true.
 */
bool bulk_loan_offer(struct rx *rx, struct rpc_bulk *bulk, bool crowded);
/*
 * Called when the client's answer arrived as the immediate imm. bulk_loan_is_out() returns false if
 * no loan has that ticket, which is a protocol error. Otherwise the caller posts the receive again
 * and then calls bulk_loan_answered().
 */
bool bulk_loan_is_out(const struct conn *conn, uint32_t imm);
void bulk_loan_answered(struct conn *conn, uint32_t imm);
/* Called when the connection is closed: calls done() of all lent bulks with status. */
void bulk_loan_fail_all(struct conn *conn, int status);
/* Called when the connection is freed. */
void bulk_loan_free(struct conn *conn);

/* ---- bulk_endpoint.c: a separate endpoint for the bulk data of a connection ---- */

/*
 * The client connects the second endpoint with a JOIN (WIRE_F_APART).  If one of the two endpoints
 * ends, the other one ends, too.
 *
 * bulk_endpoint_offer() creates the token for the reply to HELLO, which the JOIN must contain.
 * Returns false if the server offers no second endpoint.
 */
bool bulk_endpoint_offer(struct conn *conn);
/* Returns the connection whose token the JOIN has, or NULL.  Each token is valid once. */
struct conn *bulk_endpoint_find_conn(const struct thread_mail *mail);
/* Accepts the JOIN, takes over req, and returns 0.  After -errno, the caller still owns req. */
int bulk_endpoint_accept(struct conn *conn, struct tp_conn_req *req,
			 const void *answer, unsigned int len);
void bulk_endpoint_close(struct conn *conn);
void bulk_endpoint_free(struct conn *conn);

#endif
