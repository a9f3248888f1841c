/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sealing.h - from a handshake to the keys of its connection: a code, by what both ends have
 * proved, of all that they know of it and of the secret that two pairs of keys make which
 * are forgotten then.  So who gets hold of a ticket or of the servers' key later cannot
 * open what he recorded before.
 */
#ifndef SEALING_H
#define SEALING_H

#include "common/trust/handshake.h"
#include "common/trust/mac.h"
#include "common/util/sealer.h"

/* For struct prover: its pair() and unpair(), and the seal() of a keyring. */
int sealing_pair(void *arg, enum handshake_side side, struct seal_pact **pact);
void sealing_unpair(struct seal_pact *pact);
int sealing_by_ring(void *ring, const struct handshake *shake,
		    enum handshake_side side, const struct seal_pact *pact,
		    struct sealer **sealer);
/* By the secret of a ticket.  -EINVAL, -ENOMEM */
int sealing_by_secret(const uint8_t secret[MAC_KEY_LEN],
		      const struct handshake *shake, enum handshake_side side,
		      const struct seal_pact *pact, struct sealer **sealer);

/*
 * The other way: a connection over which a client has proved itself is sealed as it is.
 * The root is made of the ticket's secret and of that of the two pairs of keys of CHALLENGE;
 * the keys are codes by it of what the manager's word is about (pact_server()) and of all that
 * either end has heard and said, so that with one byte of it changed on its way they are
 * others.
 */
void sealing_hear(uint8_t sum[HEARD_LEN], const void *msg, size_t len);
void sealing_root(const uint8_t secret[MAC_KEY_LEN],
		  const uint8_t shared[WIRE_KEY_LEN],
		  uint8_t root[MAC_KEY_LEN]);
/* -EINVAL, -ENOMEM */
int sealing_here(const uint8_t root[MAC_KEY_LEN], const uint8_t seen[MAC_LEN],
		 const struct heard *heard, enum handshake_side side,
		 uint32_t mode, struct sealer **sealer);

#endif
