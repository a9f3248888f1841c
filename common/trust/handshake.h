/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handshake.h - the proofs of HELLO: what they are about, and who makes and checks
 * them.  rpc knows this and no keys; so a program without keys has no cryptography.
 */
#ifndef HANDSHAKE_H
#define HANDSHAKE_H

#include "common/wire/wire.h"

enum handshake_side { HANDSHAKE_CALLER, HANDSHAKE_SERVER };

#define HEARD_LEN 32u

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
 * What both ends know of the sealing of a connection, when the proofs of HELLO have covered
 * it; and the secret half of one's own keys, in secret memory.
 */
struct seal_pact {
	uint32_t mode; /* enum seal_mode */
	uint32_t key; /* that the caller's proof was made with: its name */
	uint8_t public[2][WIRE_KEY_LEN]; /* by handshake_side */
	uint8_t own[WIRE_KEY_LEN];
};
struct sealer; /* sealer.h */

/*
 * Makes and checks proofs; from any thread.  side: who proves himself.  msg, len: the
 * message, from its header to before the proof.
 */
struct prover {
	void *arg; /* for all */
	/* -ENOMEM */
	int (*prove)(void *arg, const struct handshake *shake,
		     enum handshake_side side, const void *msg, size_t len,
		     struct wire_proof *proof);
	/* -ENOKEY: made with a key that is not here; -EKEYREJECTED: not with that
	 * key, or not for this connection and message; -ENOMEM */
	int (*check)(void *arg, const struct handshake *shake,
		     enum handshake_side side, const void *msg, size_t len,
		     const struct wire_proof *proof);
	/* What a client shows in HELLO, at most WIRE_TICKET_MAX bytes; how many,
	 * 0: it has none, and proves nothing.  NULL: it is no client. */
	size_t (*ticket)(void *arg, void *out);
	/* A pair of keys for one connection, in a new pact: own, and public of
	 * side.  -ENOMEM */
	int (*pair)(void *arg, enum handshake_side side,
		    struct seal_pact **pact);
	/* Wiped.  NULL is fine. */
	void (*unpair)(struct seal_pact *pact);
	/* The sealer of side, by what the proofs were made with.  -ENOKEY, -EINVAL:
	 * the other's key makes no secret; -ENOMEM */
	int (*seal)(void *arg, const struct handshake *shake,
		    enum handshake_side side, const struct seal_pact *pact,
		    struct sealer **sealer);
	/* sum becomes that of one more message; at first it is zeros. */
	void (*hear)(uint8_t sum[HEARD_LEN], const void *msg, size_t len);
};

/*
 * All that was said on a connection that is sealed by what was said: a sum for each side.
 */
struct heard {
	uint8_t sum[2][HEARD_LEN]; /* by handshake_side */
};
struct here {
	uint32_t mode; /* enum seal_mode */
	int (*make)(void *arg, const struct heard *heard,
		    struct sealer **sealer);
	void *arg;
};

static inline void prover_unpair(const struct prover *prover,
				 struct seal_pact **pact)
{
	if (*pact)
		prover->unpair(*pact);
	*pact = NULL;
}

/* Whom a ticket names. */
struct admitted {
	uint32_t uid, gid;
	uint32_t ngroups; /* at most WIRE_GROUPS_MAX, or they name a list */
	uint32_t groups[WIRE_GROUPS_MAX];
	uint64_t until, term; /* when it ends, on the clock of that manager */
};

/* What becomes of clients that show no ticket, and whom no kernel vouches for. */
enum admission {
	ADMIT_ALL, /* they are who they say */
	ADMIT_STRANGERS, /* they are nobody, in a session that nobody had before */
	ADMIT_PROVED, /* they are refused */
};

/*
 * How a server looks at the tickets of clients; from any thread.  hello: a checked HELLO
 * with a ticket and a proof.
 */
struct doorkeeper {
	void *arg; /* for all */
	enum admission admission;
	/* 0, and *who; -EKEYEXPIRED: it has ended; -ESTALE: of a manager that
	 * does not count any more; -EKEYREJECTED: not its ticket, session or
	 * connection; -ENOKEY: of a key that is not here; -EAGAIN: that is not
	 * known yet; -ENOMEM */
	int (*admit)(void *arg, const struct handshake *shake,
		     const struct wire_msg *hello, struct admitted *who);
	/* The server's proof, by the ticket's secret, in the answer of len bytes.
	 * As admit() */
	int (*answer)(void *arg, const struct handshake *shake,
		      const struct wire_msg *hello, const void *msg, size_t len,
		      struct wire_proof *proof);
	/* The server's sealer, by the ticket's secret.  As admit(), and -EINVAL */
	int (*seal)(void *arg, const struct handshake *shake,
		    const struct wire_msg *hello, const struct seal_pact *pact,
		    struct sealer **sealer);
};

#endif
