/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handshake.h - the proofs of HELLO: what they are about, and who makes and checks
 * them.  rpc knows this and no keys; so a program without keys has no cryptography.
 */
#ifndef HANDSHAKE_H
#define HANDSHAKE_H

#include "wire.h"

enum handshake_side { HANDSHAKE_CALLER, HANDSHAKE_SERVER };

/* What both ends know of a connection. */
struct handshake {
	uint64_t fsid, session;
	uint64_t boot; /* of the server */
	uint32_t epoch;
	enum wire_role role; /* who connects */
	enum wire_role server; /* who answers: MGR or IOD */
	uint32_t index; /* of an iod */
	uint8_t nonce[2][WIRE_NONCE_LEN]; /* by handshake_side */
};

/*
 * Makes and checks proofs; from any thread.  side: who proves himself.  msg, len: the
 * message, from its header to before the proof.
 */
struct prover {
	void *arg; /* for both */
	/* -ENOMEM */
	int (*prove)(void *arg, const struct handshake *shake,
		     enum handshake_side side, const void *msg, size_t len,
		     struct wire_proof *proof);
	/* -ENOKEY: made with a key that is not here; -EKEYREJECTED: not with that
	 * key, or not for this connection and message; -ENOMEM */
	int (*check)(void *arg, const struct handshake *shake,
		     enum handshake_side side, const void *msg, size_t len,
		     const struct wire_proof *proof);
};

#endif
