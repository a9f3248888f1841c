/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_seal_int.h - the client's part of sealing a connection: tp_seal.h. */
#ifndef PEER_SEAL_INT_H
#define PEER_SEAL_INT_H

#include "common/trust/handshake.h"
#include "common/wire/seal_mode.h"

struct rpc_peer;

struct peer_seal {
	enum seal_mode least; /* for connections that can be sealed */
	/* of this connection: */
	bool agreed; /* HELLO contains our key */
	enum seal_mode mode; /* the mode of the connection, once known */
	struct seal_pact *pact; /* while HELLO is in flight, or NULL */
};

/*
 * peer_seal.c.  peer_seal_hail(): the feature to hail if the peer can seal.  peer_seal_agreed()
 * takes the features that the server hailed.  It returns NULL, or why the server is refused.
 * peer_seal_put() puts our part of HELLO.  peer_seal_flag(): the header flag for that part.
 */
uint32_t peer_seal_hail(const struct rpc_peer *peer);
const char *peer_seal_agreed(struct rpc_peer *peer, uint32_t hailed);
int peer_seal_put(struct rpc_peer *peer, struct wire_out *out);
uint16_t peer_seal_flag(const struct rpc_peer *peer);
/*
 * The server accepted us and proved itself.  From here on, everything is sealed if that was
 * agreed.  Returns NULL, or why the server is refused; or fails the link.
 */
const char *peer_seal_begin(struct rpc_peer *peer, const struct wire_msg *msg);
/*
 * A peer that cannot prove itself yet may have its connection sealed in place later.
 * peer_here_hail() hails that.  peer_here_begin() starts the hash with msg, the first message.
 * peer_here_agreed() takes the server's answer.
 */
void peer_here_hail(struct rpc_peer *peer, struct wire_hail *hail);
void peer_here_begin(struct rpc_peer *peer, const struct wire_hail *hail,
		     const void *msg, size_t len);
void peer_here_agreed(struct rpc_peer *peer, const struct wire_hail *hail,
		      const void *msg, size_t len);
/* The connection is closed. */
void peer_seal_reset(struct rpc_peer *peer);

#endif
