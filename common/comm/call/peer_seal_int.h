/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_seal_int.h - the client's part of sealing a connection: tp_seal.h. */
#ifndef PEER_SEAL_INT_H
#define PEER_SEAL_INT_H

#include "common/trust/handshake.h"
#include "common/wire/seal_mode.h"

struct rpc_peer;

struct peer_seal {
	enum seal_mode least; /* on connections that can be sealed */
	/* of this connection: */
	bool agreed; /* HELLO has our key */
	enum seal_mode mode; /* what it is, once that is known */
	struct seal_pact *pact; /* while HELLO is under way, or NULL */
};

/*
 * peer_seal.c.  What is hailed where we prove ourselves; what the server hailed: NULL, or why
 * it is refused; room for our part of HELLO, and that flag.
 */
uint32_t peer_seal_hail(const struct rpc_peer *peer);
const char *peer_seal_agreed(struct rpc_peer *peer, uint32_t hailed);
int peer_seal_put(struct rpc_peer *peer, struct wire_out *out);
uint16_t peer_seal_flag(const struct rpc_peer *peer);
/*
 * The server took us, as it has proved: from here on all is sealed, if that was agreed.  NULL, or
 * why it is refused; or the link failed.
 */
const char *peer_seal_begin(struct rpc_peer *peer, const struct wire_msg *msg);
/*
 * Who has nothing to prove himself by yet may be sealed as he is: what is hailed for that, whose
 * first message msg is, and what the server makes of it.
 */
void peer_here_hail(struct rpc_peer *peer, struct wire_hail *hail);
void peer_here_begin(struct rpc_peer *peer, const struct wire_hail *hail,
		     const void *msg, size_t len);
void peer_here_agreed(struct rpc_peer *peer, const struct wire_hail *hail,
		      const void *msg, size_t len);
/* The connection is gone. */
void peer_seal_reset(struct rpc_peer *peer);

#endif
