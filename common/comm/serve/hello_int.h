/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hello_int.h - HELLO: the identity of the client, the proofs of both ends, and the seal of the
 * connection.
 */
#ifndef HELLO_INT_H
#define HELLO_INT_H

#include "common/comm/serve/conn_int.h"

/* ---- hello.c ---- */

/* The first message of a connection: opens or resumes the session, or refuses it; releases rx. */
void hello_received(struct conn *conn, struct rx *rx);
/* Ends the session. */
void hello_bye_received(struct conn *conn, const struct wire_hdr *hdr);
/*
 * Logs the error, and reports it to the client if possible.  Then closes this connection only.
 */
void hello_protocol_error(struct conn *conn, struct rx *rx, int status,
			  const char *why);

/* ---- client_identity.c ---- */

/* Fills in the hail to send back.  Returns its bytes, or 0: none. */
unsigned int identity_answer_hail(struct conn *conn,
				  const struct wire_hail *theirs,
				  struct wire_hail *hail);
/*
 * proof_reserve() leaves room for the proof in the answer to `to`.  proof_append() puts the
 * proof at the end of the len bytes at hdr, and returns the resulting length.
 */
void proof_reserve(const struct conn *conn, const struct wire_hdr *to,
		   struct wire_out *out);
int proof_append(struct conn *conn, struct wire_hdr *hdr, int len);
/*
 * Finds who sent the HELLO in rx.  *cred: in, what the client says itself; out, what counts.
 * Returns 0; -EKEYREJECTED, -EKEYEXPIRED or -ESTALE, which are logged and counted; -EAGAIN or
 * -ENOMEM.
 */
int identity_check(struct conn *conn, struct rx *rx, struct rpc_cred *cred);
/* Which of the server's places it may use.  known: uid is proved. */
enum seat_rank identity_seat_rank(const struct conn *conn, bool known,
				  uint32_t uid);
/* The status for a client with those features, which may be older than the status. */
int status_for_client(int status, uint32_t features);

/* ---- conn_seal.c ---- */

/* The values of the connection that both ends know. */
struct handshake conn_handshake(const struct conn *conn);
/*
 * conn_seal_set_offer() takes the features that the other end hailed.  conn_seal_hail() returns
 * the feature to hail back, once it is known whether both ends prove themselves.
 * conn_seal_check_hello() checks whether the HELLO fulfills what this server requires; its sender
 * is known.  It returns 0, -EKEYREJECTED, which is logged and counted, -EPROTO, -ENOKEY, -ENOMEM
 * ...
 */
void conn_seal_set_offer(struct conn *conn, uint32_t theirs);
uint32_t conn_seal_hail(struct conn *conn);
int conn_seal_check_hello(struct conn *conn, const struct wire_msg *hello,
			  const struct rpc_cred *cred);
/*
 * conn_seal_append() puts our part of an answer with status 0, and returns its flag.
 * conn_seal_begin() seals the connection after that answer.
 */
unsigned int conn_seal_append(const struct conn *conn, struct wire_out *out);
void conn_seal_begin(struct conn *conn);
/*
 * For a new connection that may be sealed in place: hashes what its connect request and our
 * answer contained.
 */
void conn_seal_hash_begin(struct conn *conn,
			  const uint8_t transcript[TRANSCRIPT_LEN],
			  const void *answer, size_t len);
void conn_seal_free(struct conn *conn);
/* True: conn must be sealed and is not, so only requests that lead to sealing are allowed. */
bool conn_lacks_seal(const struct conn *conn);
/* Seals a connection that could not be sealed so far, with the sealer that in_place makes. */
int conn_seal_in_place(struct conn *conn, const struct seal_in_place *in_place);

#endif
