/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * auth_exchange.h - the exchange AUTH, by which a client and the manager authenticate each other.
 * Each side proves itself with a code (its word) that covers all that both sides have exchanged.
 * The manager also sends the ticket's secret, hidden from the network.
 */
#ifndef AUTH_EXCHANGE_H
#define AUTH_EXCHANGE_H

#include <stdbool.h>

#include "common/trust/key_pair.h"
#include "common/trust/handshake.h"
#include "common/trust/keyring.h"

#define AUTH_EXCHANGE_LEN MAC_LEN /* bytes of every code made here */

/*
 * What was exchanged. Both ends have their own view; the proofs detect any change on the network.
 */
struct auth_exchange {
	uint64_t fsid, session;
	uint64_t boot; /* boot of the manager */
	uint32_t epoch; /* number of the connection */
	uint32_t mode; /* an enum auth_mode: how both sides prove themselves */
	/* the connection must be sealed and is not: over it, the manager only authenticates */
	bool seals;
	uint8_t key[2][WIRE_KEY_LEN]; /* public keys; indexed by handshake_side */
	uint8_t nonce[2][WIRE_KEY_LEN];
	/* an enum seal_mode; if not 0, the answer to AUTH seals this connection */
	uint32_t seal_in_place;
	/* with seal_in_place, the user that the manager claims to run as */
	uint32_t uid;
};

/*
 * Computes the digest of everything that the client has seen. The client's proof covers this
 * digest.
 */
void auth_exchange_caller(const struct auth_exchange *x,
			  uint8_t out[AUTH_EXCHANGE_LEN]);

/* The content of the answer to AUTH. */
struct auth_answer {
	const void *ticket;
	size_t len;
	const uint8_t *
		secret; /* hidden by auth_exchange_hide(); WIRE_KEY_LEN bytes */
};
/*
 * Computes the digest of all that the manager has seen, and of its answer. The manager's proof
 * covers it.
 */
void auth_exchange_server(const struct auth_exchange *x,
			  const struct auth_answer *answer,
			  uint8_t out[AUTH_EXCHANGE_LEN]);

/*
 * Computes the manager's word for a connection that is sealed in place. It is made with a secret
 * that came with the client's word, so only an end that can read that word can make it.
 */
void auth_exchange_word(const uint8_t secret[MAC_KEY_LEN],
			const uint8_t digest[AUTH_EXCHANGE_LEN],
			uint8_t word[MAC_LEN]);

/*
 * Hides the ticket's secret, or restores it: both XOR it with a code. shared is from
 * key_pair_secret(), and is used for one secret only.
 */
void auth_exchange_hide(const struct auth_exchange *x,
			const uint8_t shared[KEY_PAIR_LEN],
			const uint8_t secret[MAC_KEY_LEN],
			uint8_t out[MAC_KEY_LEN]);

/*
 * auth_exchange_sign() makes the word: a code of digest with the key in use. auth_exchange_check()
 * verifies it.
 */
void auth_exchange_sign(struct keyring *ring, enum handshake_side side,
			const uint8_t digest[AUTH_EXCHANGE_LEN],
			struct wire_proof *word);
/* Returns 0, an error of keyring_check(), or -EBADMSG if word has not the format of a word. */
int auth_exchange_check(struct keyring *ring, enum handshake_side side,
			const uint8_t digest[AUTH_EXCHANGE_LEN],
			const void *word, size_t len);

#endif
