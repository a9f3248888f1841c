/* SPDX-License-Identifier: BSD-2-Clause */
/* handshake_int.h - the codes of handshakes, for the files of this folder. */
#ifndef HANDSHAKE_INT_H
#define HANDSHAKE_INT_H

#include "common/trust/handshake.h"
#include "common/trust/mac.h"

/* Bytes of the facts of the connection that both ends know. */
#define HANDSHAKE_FACTS 64u
void handshake_facts(const struct handshake *shake,
		     uint8_t out[HANDSHAKE_FACTS]);

/* The labels of proofs, by side. */
extern const char *const handshake_label[];

/* Makes the proof of side with one key. Does not depend on the key's name. */
void handshake_mac(const uint8_t key[MAC_KEY_LEN],
		   const struct handshake *shake, enum handshake_side side,
		   const void *msg, size_t len, uint8_t mac[MAC_LEN]);
/* Returns 0, or -EKEYREJECTED. */
int handshake_mac_check(const uint8_t key[MAC_KEY_LEN],
			const struct handshake *shake, enum handshake_side side,
			const void *msg, size_t len,
			const uint8_t mac[MAC_LEN]);

#endif
