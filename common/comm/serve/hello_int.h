/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hello_int.h - HELLO, the first message of a connection: the identity of the client, how both ends
 * authenticate, and how the connection is sealed.
 */
#ifndef HELLO_INT_H
#define HELLO_INT_H

#include "common/comm/serve/conn_int.h"

/* ---- hello.c ---- */

/* Handles HELLO in rx: opens, resumes or rejects the session.  Releases rx. */
void hello_received(struct conn *conn, struct rx *rx);
/* Handles BYE: ends the session. */
void hello_bye_received(struct conn *conn, const struct wire_hdr *hdr);
/*
 * Logs the error `why`, reports status to the client if possible, and closes the connection. The
 * session stays.
 */
void hello_protocol_error(struct conn *conn, struct rx *rx, int status,
			  const char *why);

/* ---- client_identity.c ---- */

/* Fills in the hail to send back. Returns its bytes, or 0 if there is none. */
unsigned int identity_answer_hail(struct conn *conn,
				  const struct wire_hail *theirs,
				  struct wire_hail *hail);
/*
 * proof_reserve() reserves room for the server's proof in out, which is the reply to the HELLO
 * `to`. proof_append() appends the proof to the reply, which has len bytes at hdr, and returns the
 * resulting length.
 */
void proof_reserve(const struct conn *conn, const struct wire_hdr *to,
		   struct wire_out *out);
int proof_append(struct conn *conn, struct wire_hdr *hdr, int len);
/*
 * Checks who sent the HELLO in rx.  The caller sets *cred to what the client says about itself.
 * The function replaces that with the proved identity, if there is one.  Returns 0; -EKEYREJECTED:
 * a false or missing proof; -EKEYEXPIRED: the ticket has expired; -ESTALE: the ticket is of a
 * manager that was stopped since (these three are logged and counted); -EAGAIN: the client must
 * connect again; -ENOMEM.
 */
int identity_check(struct conn *conn, struct rx *rx, struct rpc_cred *cred);
/*
 * Returns which places of the server the session of conn may use. known means that uid is proved.
 */
enum seat_rank identity_seat_rank(const struct conn *conn, bool known,
				  uint32_t uid);
/* Returns status, or an older one with the same effect if the client does not know status. */
int status_for_client(int status, uint32_t features);

/* ---- conn_seal.c ---- */

/* Returns the values of the connection from which both ends compute their proofs. */
struct handshake conn_handshake(const struct conn *conn);
/*
 * conn_seal_set_offer() stores the features theirs from the client's hail.  conn_seal_hail()
 * returns the feature for the server's hail; the caller then knows whether both ends
 * authenticate.  conn_seal_check_hello() checks that the HELLO of cred agrees to the seal that
 * this server requires.  It returns 0, or -errno; -EKEYREJECTED: it does not agree, which is
 * logged and counted.
 */
void conn_seal_set_offer(struct conn *conn, uint32_t theirs);
uint32_t conn_seal_hail(struct conn *conn);
int conn_seal_check_hello(struct conn *conn, const struct wire_msg *hello,
			  const struct rpc_cred *cred);
/*
 * conn_seal_append() appends the server's part of the seal to a reply with status 0, and returns
 * the flag for its header.  conn_seal_begin() seals the connection after that reply.
 */
unsigned int conn_seal_append(const struct conn *conn, struct wire_out *out);
void conn_seal_begin(struct conn *conn);
/*
 * For a new connection that may later be sealed in place: begins the hash of its messages with
 * the transcript of the connect request, and with the server's answer of len bytes.
 */
void conn_seal_hash_begin(struct conn *conn,
			  const uint8_t transcript[TRANSCRIPT_LEN],
			  const void *answer, size_t len);
void conn_seal_free(struct conn *conn);
/* Returns true if conn must be sealed and is not: then only requests for sealing are allowed. */
bool conn_lacks_seal(const struct conn *conn);
/* Seals a connection that could not be sealed so far, with the sealer that in_place makes. */
int conn_seal_in_place(struct conn *conn, const struct seal_in_place *in_place);

#endif
