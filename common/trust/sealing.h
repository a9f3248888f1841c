/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sealing.h - derives the keys of a connection from its handshake. They are codes made with the key
 * of the proofs. The codes cover everything that both ends know about the connection, and the
 * secret of two temporary key pairs, which are then wiped. So nobody can later decrypt recorded
 * traffic with a ticket or with the servers' key.
 */
#ifndef SEALING_H
#define SEALING_H

#include "common/trust/handshake_int.h"
#include "common/trust/mac.h"
#include "common/util/sealer.h"

/* These are pair() and unpair() of struct prover. */
int sealing_pair(void *arg, enum handshake_side side,
		 struct seal_agreement **agreement);
void sealing_unpair(struct seal_agreement *agreement);

#define SEALING_LABEL "pvfs seal 1 base"
#define SEALING_SEEDS 5u

/* The inputs of the base key. The caller wipes them. */
struct sealing_seeds {
	uint8_t facts[HANDSHAKE_FACTS];
	uint32_t mode;
	uint8_t shared[WIRE_KEY_LEN];
	struct mac_field field[SEALING_SEEDS]; /* all inputs, as fields */
};
/*
 * Computes the seeds of the keys of both directions. Returns 0, or -EINVAL if the other end's
 * public key is weak.
 */
int sealing_seeds(const struct handshake *shake, enum handshake_side side,
		  const struct seal_agreement *agreement,
		  struct sealing_seeds *seeds);
/* Makes the sealer of side, with a key for each direction. Returns 0, -EINVAL or -ENOMEM. */
int sealing_by_base(const uint8_t base[MAC_KEY_LEN], enum handshake_side side,
		    uint32_t mode, struct sealer **sealer);
/*
 * Makes the sealer of side with the secret of a ticket: seeds, base key and keys. Returns 0,
 * -EINVAL or -ENOMEM.
 */
int sealing_by_secret(const uint8_t secret[MAC_KEY_LEN],
		      const struct handshake *shake, enum handshake_side side,
		      const struct seal_agreement *agreement,
		      struct sealer **sealer);

/*
 * Sealing in place: for a connection over which a client has just proved itself.
 *
 * transcript_extend() extends a sum by one message. sealing_root() makes the root from the ticket's
 * secret and the secret of the two key pairs of CHALLENGE. sealing_in_place() derives the keys with
 * the root. They cover what the manager's word covers (auth_exchange_server()), and all that either
 * end received and sent. If one byte of it was changed on the network, the ends have different
 * keys.
 */
void transcript_extend(uint8_t sum[TRANSCRIPT_LEN], const void *msg,
		       size_t len);
void sealing_root(const uint8_t secret[MAC_KEY_LEN],
		  const uint8_t shared[WIRE_KEY_LEN],
		  uint8_t root[MAC_KEY_LEN]);
/* Returns 0, -EINVAL or -ENOMEM. */
int sealing_in_place(const uint8_t root[MAC_KEY_LEN],
		     const uint8_t digest[MAC_LEN],
		     const struct transcript *transcript,
		     enum handshake_side side, uint32_t mode,
		     struct sealer **sealer);

#endif
