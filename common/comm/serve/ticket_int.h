/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket_int.h - conn_ticket.c: whose a connection is. */
#ifndef TICKET_INT_H
#define TICKET_INT_H

#include "common/comm/serve/server_int.h"

/* conn_proof.c: what is known of the connection. */
struct handshake conn_handshake(const struct conn *conn);
/*
 * Whose HELLO it is, to *cred, which is what it says itself: as conn_proof_take(), and
 * -EAGAIN, -EKEYEXPIRED or -ESTALE.
 */
int conn_admit(struct conn *conn, struct rx *rx, struct rpc_cred *cred);
/* Nobody has proved whose its session is, and that counts: the service alone may do
 * something for it. */
bool conn_is_stranger(const struct conn *conn);
/* What it may have of the server's places.  known: uid is proved. */
enum seat_rank conn_rank(const struct conn *conn, bool known, uint32_t uid);

#endif
