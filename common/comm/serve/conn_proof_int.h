/* SPDX-License-Identifier: BSD-2-Clause */
/* conn_proof_int.h - the server's part of a HELLO that is proved. */
#ifndef CONN_PROOF_INT_H
#define CONN_PROOF_INT_H

#include "common/comm/progress/rpc_ctx.h"

struct conn;
struct rx;

/* What a connect is answered with. */
struct conn_answer {
	struct wire_accept acc;
	struct wire_hail hail;
};
/*
 * conn_proof.c.  What is hailed back, in bytes of hail; 0: nothing.  And where the server
 * has a prover: whether the HELLO in rx is to be believed: 0, or -EKEYREJECTED, logged
 * and counted, or -ENOMEM.  Room for the proof of an answer to `to`; that proof, in
 * the len bytes at hdr: how many they are then.
 */
unsigned int conn_hail(struct conn *conn, const struct wire_hail *theirs,
		       struct wire_hail *hail);
int conn_proof_take(struct conn *conn, struct rx *rx,
		    const struct rpc_cred *cred);
void conn_proof_room(const struct conn *conn, const struct wire_hdr *to,
		     struct wire_out *out);
int conn_proof_put(struct conn *conn, struct wire_hdr *hdr, int len);

#endif
