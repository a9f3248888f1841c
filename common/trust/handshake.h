/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handshake.h - the proofs of HELLO: what they cover, and the interface that makes and checks them.
 * rpc uses this header and no keys, so a program without keys contains no cryptography.
 */
#ifndef HANDSHAKE_H
#define HANDSHAKE_H

#include "common/wire/wire.h"

enum handshake_side { HANDSHAKE_CALLER, HANDSHAKE_SERVER };

#define TRANSCRIPT_LEN 32u

/* The facts of a connection that both ends know. */
struct handshake {
	uint64_t fsid, session;
	uint64_t boot; /* boot of the server */
	uint32_t epoch;
	enum wire_role role; /* role of the connecting end */
	enum wire_role server; /* role of the answering end: MGR or IOD */
	uint32_t index; /* number of an iod */
	uint8_t nonce[2][WIRE_NONCE_LEN]; /* indexed by handshake_side */
};

/*
 * What both ends know about the sealing of a connection, after the proofs of HELLO covered it; and
 * the secret half of our own key pair. In secret memory.
 */
struct seal_agreement {
	uint32_t mode; /* an enum seal_mode */
	uint32_t key; /* name of the key of the caller's proof */
	uint8_t public[2][WIRE_KEY_LEN]; /* indexed by handshake_side */
	uint8_t own[WIRE_KEY_LEN];
};
struct sealer; /* sealer.h */

/*
 * Makes and checks proofs. Any thread may call it. side is the side that proves itself. msg and len
 * are the message, from its header to before the proof.
 */
struct prover {
	void *arg; /* first argument of all calls */
	/* Makes a proof. Returns 0 or -ENOMEM. */
	int (*prove)(void *arg, const struct handshake *shake,
		     enum handshake_side side, const void *msg, size_t len,
		     struct wire_proof *proof);
	/*
	 * Checks a proof. Returns 0; -ENOKEY if we do not have the key of the proof; -EKEYREJECTED
	 * if the proof is not by that key, or not for this connection and message; or -ENOMEM.
	 */
	int (*check)(void *arg, const struct handshake *shake,
		     enum handshake_side side, const void *msg, size_t len,
		     const struct wire_proof *proof);
	/*
	 * Writes the client's ticket for HELLO to out, at most WIRE_TICKET_MAX bytes. Returns its
	 * length, or 0 if there is no ticket and no proof. NULL if this process is not a client.
	 */
	size_t (*ticket)(void *arg, void *out);
	/*
	 * Makes a key pair for one connection, in a new agreement: own, and public of side. Returns
	 * 0 or -ENOMEM.
	 */
	int (*pair)(void *arg, enum handshake_side side,
		    struct seal_agreement **agreement);
	/* Wipes and frees the agreement. NULL is allowed. */
	void (*unpair)(struct seal_agreement *agreement);
	/*
	 * Makes the sealer of side with the key of the proofs. Returns 0, -ENOKEY, -ENOMEM, or
	 * -EINVAL if the other end's key is weak.
	 */
	int (*seal)(void *arg, const struct handshake *shake,
		    enum handshake_side side,
		    const struct seal_agreement *agreement,
		    struct sealer **sealer);
	/* Extends sum by one more message. Before the first message, sum is all zero. */
	void (*extend_transcript)(uint8_t sum[TRANSCRIPT_LEN], const void *msg,
				  size_t len);
};

/* All messages of a connection that is sealed in place: one sum per side. */
struct transcript {
	uint8_t sum[2][TRANSCRIPT_LEN]; /* indexed by handshake_side */
};
struct seal_in_place {
	uint32_t mode; /* an enum seal_mode */
	int (*make)(void *arg, const struct transcript *transcript,
		    struct sealer **sealer);
	void *arg;
};

static inline void prover_unpair(const struct prover *prover,
				 struct seal_agreement **agreement)
{
	if (*agreement)
		prover->unpair(*agreement);
	*agreement = NULL;
}

/* The identity in a ticket. */
struct admitted {
	uint32_t uid, gid;
	/* at most WIRE_GROUPS_MAX; a larger value is the name of a list */
	uint32_t ngroups;
	uint32_t groups[WIRE_GROUPS_MAX];
	/* expiry, on the clock of the manager of that term */
	uint64_t until, term;
};

/* How a server treats clients that have no ticket and whose identity no kernel reports. */
enum admission {
	ADMIT_ALL, /* believes their claimed identity */
	ADMIT_AS_NOBODY, /* treats them as user nobody, in a session that was never used before */
	ADMIT_PROVED, /* rejects them */
};

/*
 * How a server checks the tickets of clients. Any thread may call it. hello is a checked HELLO with
 * a ticket and a proof.
 */
struct ticket_hooks {
	void *arg; /* first argument of all calls */
	enum admission admission;
	/*
	 * Returns 0 and sets *who; -EKEYEXPIRED; -ESTALE if the ticket is of a manager term that is
	 * no longer accepted; -EKEYREJECTED if it is not authentic, or for another session or
	 * connection; -ENOKEY if we do not have its key; -EAGAIN if the clock of its manager is not
	 * known yet; or -ENOMEM.
	 */
	int (*admit)(void *arg, const struct handshake *shake,
		     const struct wire_msg *hello, struct admitted *who);
	/*
	 * Makes the server's proof with the ticket's secret, for the answer of len bytes. Returns
	 * errors as admit() does.
	 */
	int (*answer)(void *arg, const struct handshake *shake,
		      const struct wire_msg *hello, const void *msg, size_t len,
		      struct wire_proof *proof);
	/*
	 * Makes the server's sealer with the ticket's secret. Returns errors as admit() does, and
	 * -EINVAL.
	 */
	int (*seal)(void *arg, const struct handshake *shake,
		    const struct wire_msg *hello,
		    const struct seal_agreement *agreement,
		    struct sealer **sealer);
};

#endif
