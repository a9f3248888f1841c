/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pact.h - what a client and the manager agree on before either is believed, and what is
 * made of it: the words that each proves himself by, and the way of the ticket's secret.
 */
#ifndef PACT_H
#define PACT_H

#include <stdbool.h>

#include "common/trust/exchange.h"
#include "common/trust/handshake.h"
#include "common/trust/keyring.h"

#define PACT_LEN MAC_LEN /* of all that is made here */

/* As both ends know it: who changes any of it on its way is found out. */
struct pact {
	uint64_t fsid, session;
	uint64_t boot; /* of the manager */
	uint32_t epoch; /* of the connection */
	uint32_t mode; /* enum auth_mode: by which they prove themselves */
	bool seals; /* the manager does only that over bare connections */
	uint8_t key[2][WIRE_KEY_LEN]; /* public; by handshake_side */
	uint8_t nonce[2][WIRE_KEY_LEN];
	uint32_t here; /* enum seal_mode: so the answer to AUTH seals this one; then: */
	uint32_t uid; /* that the manager says it runs as */
};

/* What the client proves that it has seen. */
void pact_caller(const struct pact *pact, uint8_t out[PACT_LEN]);

/* What the answer to AUTH carries. */
struct pact_answer {
	const void *ticket;
	size_t len;
	const uint8_t *secret; /* hidden; WIRE_KEY_LEN */
};
/* What the manager proves that he has seen, and has answered. */
void pact_server(const struct pact *pact, const struct pact_answer *answer,
		 uint8_t out[PACT_LEN]);

/*
 * Where a connection is sealed as it is: the manager's word, by a secret that came along
 * with the client's, so that only who could read that has it.
 */
void pact_word(const uint8_t secret[MAC_KEY_LEN], const uint8_t seen[PACT_LEN],
	       uint8_t word[MAC_LEN]);

/*
 * Hides the ticket's secret, or finds it again: shared is exchange_secret().  For one
 * secret alone.
 */
void pact_hide(const struct pact *pact, const uint8_t shared[EXCHANGE_LEN],
	       const uint8_t secret[MAC_KEY_LEN], uint8_t out[MAC_KEY_LEN]);

/* The word of who has the key, about what he has seen; and whether it is that. */
void pact_sign(struct keyring *ring, enum handshake_side side,
	       const uint8_t seen[PACT_LEN], struct wire_proof *word);
/* 0, or as keyring_check(); -EBADMSG: it is no such word. */
int pact_check(struct keyring *ring, enum handshake_side side,
	       const uint8_t seen[PACT_LEN], const void *word, size_t len);

#endif
