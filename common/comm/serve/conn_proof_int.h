/* SPDX-License-Identifier: BSD-2-Clause */
/* conn_proof_int.h - the server's part of a HELLO that is proved. */
#ifndef CONN_PROOF_INT_H
#define CONN_PROOF_INT_H

#include "common/comm/progress/rpc_ctx.h"

struct conn;
struct rx;

/* The answer to a connect request. */
struct conn_answer {
	struct wire_accept acc;
	struct wire_hail hail;
};
/*
 * conn_proof.c.  conn_hail(): fills in the hail to send back.  Returns its bytes, or 0: none.
 * For a server with a prover: conn_proof_take() checks the HELLO in rx.  It returns 0, -ENOMEM,
 * or -EKEYREJECTED, which is logged and counted.  conn_proof_room() leaves room for the proof in
 * the answer to `to`.  conn_proof_put() puts the proof at the end of the len bytes at hdr, and
 * returns the resulting length.
 */
unsigned int conn_hail(struct conn *conn, const struct wire_hail *theirs,
		       struct wire_hail *hail);
int conn_proof_take(struct conn *conn, struct rx *rx,
		    const struct rpc_cred *cred);
void conn_proof_room(const struct conn *conn, const struct wire_hdr *to,
		     struct wire_out *out);
int conn_proof_put(struct conn *conn, struct wire_hdr *hdr, int len);

#endif
