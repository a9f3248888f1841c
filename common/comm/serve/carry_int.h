/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * carry_int.h - adaptive rendezvous, the server's part.  If much data is outstanding, a client
 * moves the data of its bulks itself (PVFS2 over Quadrics, ICS 2005, section 5.1).  The server
 * lends it the local memory:
 *
 *   lent --answered--> done() of the bulk
 *    |  \---declined--> the server moves the data, as usual
 *    +------too late---> the same; the ticket stays in use until the answer
 *
 * A loan is a registration of its own, of these bytes only, with the one right that is needed.
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
#ifndef CARRY_INT_H
#define CARRY_INT_H

#include "common/comm/serve/server_int.h"

/*
 * Fewer bytes are not worth two messages.  Data that place.c can place is not lent either.
 */
#define CARRY_MIN ((64u << 10) + 1)

/*
 * bulk is checked and planned.  crowded: it would have to wait.  Returns true if it was lent.
 */
bool carry_lend(struct rx *rx, struct rpc_bulk *bulk, bool crowded);
/*
 * The client's answer.  carry_expected() returns false if there was no question.  The receive of
 * the answer is posted again between the two calls.
 */
bool carry_expected(const struct conn *conn, uint32_t imm);
void carry_answered(struct conn *conn, uint32_t imm);
/* The connection is closed: calls done() of all with status. */
void carry_fail_all(struct conn *conn, int status);
/* The connection is freed. */
void carry_free(struct conn *conn);

#endif
