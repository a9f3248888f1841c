/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket_int.h - conn_ticket.c: the owner of a connection. */
#ifndef TICKET_INT_H
#define TICKET_INT_H

#include "common/comm/serve/server_int.h"

/* conn_proof.c: what is known of the connection. */
struct handshake conn_handshake(const struct conn *conn);
/*
 * Finds who sent the HELLO in rx.  *cred: in, what the client says itself; out, what counts.
 * Returns as conn_proof_take(), or -EAGAIN, -EKEYEXPIRED or -ESTALE.
 */
int conn_admit(struct conn *conn, struct rx *rx, struct rpc_cred *cred);
/*
 * A proof is required, and nobody has proved to own the session.  Only the service itself may
 * then handle its requests.
 */
bool conn_is_stranger(const struct conn *conn);
/* Which of the server's places it may use.  known: uid is proved. */
enum seat_rank conn_rank(const struct conn *conn, bool known, uint32_t uid);

#endif
