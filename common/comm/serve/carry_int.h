/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * carry_int.h - adaptive rendezvous, the server's part: where a lot is under way, a
 * client moves the data of its bulks itself (PVFS2 over Quadrics, ICS 2005,
 * section 5.1).  The server lends it the local memory:
 *
 *   lent --answered--> done() of the bulk
 *    |  \---declined--> the server moves it, as ever
 *    +------too late---> the same; the ticket stays out until the answer
 *
 * A loan is a registration of its own, of these bytes alone, with the one right
 * that is needed.  It ends before the memory is used for anything else: from then
 * on an access with its key fails, and breaks only the connection that tried.
 * What a write lends is cleared first: who does not fill it finds zeros.
 *
 * Who was late loses its connection if it comes then, and asks again.  It is lent
 * nothing there, or a network that takes longer than a loan lasts would never move
 * anything.
 *
 * WIRE_CARRY_MAX tickets bound what one client is lent, and the messages on their
 * way: each has a receive at both ends until it is answered.
 */
#ifndef CARRY_INT_H
#define CARRY_INT_H

#include "common/comm/serve/server_int.h"

/* Fewer bytes are not worth two messages; nor is what may be placed (place.c). */
#define CARRY_MIN ((64u << 10) + 1)

/* A checked and planned bulk; crowded: it would have to wait.  True: lent. */
bool carry_lend(struct rx *rx, struct rpc_bulk *bulk, bool crowded);
/*
 * The client's answer.  False: to what it was not asked.  The receive that it took
 * is posted again between the two.
 */
bool carry_expected(const struct conn *conn, uint32_t imm);
void carry_answered(struct conn *conn, uint32_t imm);
/* The connection is closed: done() of all with status. */
void carry_fail_all(struct conn *conn, int status);
/* The connection is freed. */
void carry_free(struct conn *conn);

#endif
