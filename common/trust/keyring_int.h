/* SPDX-License-Identifier: BSD-2-Clause */
/* keyring_int.h - used by handshake.c: a ring as the prover of handshakes. */
#ifndef KEYRING_INT_H
#define KEYRING_INT_H

#include "common/trust/handshake.h"
#include "common/trust/keyring.h"

/* The facts of the connection that both ends know, as bytes. */
#define HANDSHAKE_FACTS 64u
void handshake_facts(const struct handshake *shake,
		     uint8_t out[HANDSHAKE_FACTS]);

struct prover keyring_as_prover(struct keyring *ring);

/* The proof of side with one key; does not depend on the key's name. */
void handshake_mac(const uint8_t key[MAC_KEY_LEN],
		   const struct handshake *shake, enum handshake_side side,
		   const void *msg, size_t len, uint8_t mac[MAC_LEN]);
/* 0, or -EKEYREJECTED. */
int handshake_mac_check(const uint8_t key[MAC_KEY_LEN],
			const struct handshake *shake, enum handshake_side side,
			const void *msg, size_t len,
			const uint8_t mac[MAC_LEN]);

#endif
