/* SPDX-License-Identifier: BSD-2-Clause */
/* conn_seal_int.h - the server's part of sealing a connection: tp_seal.h. */
#ifndef CONN_SEAL_INT_H
#define CONN_SEAL_INT_H

#include "common/comm/serve/server_int.h"

/* State of a connection that may be sealed. */
struct conn_seal {
	uint8_t key[WIRE_KEY_LEN]; /* our public key */
	enum seal_mode mode; /* SEAL_NONE: it is not sealed (yet) */
	struct sealer *sealer; /* until the answer to HELLO was sent */
};

/*
 * conn_seal.c.  conn_seal_hear() takes the features that the other end hailed.  conn_seal_hail()
 * returns the feature to hail back, once it is known whether both ends prove themselves.
 * conn_seal_take() checks whether the HELLO fulfills what this server requires; its sender is
 * known.  It returns 0, -EKEYREJECTED, which is logged and counted, -EPROTO, -ENOKEY, -ENOMEM ...
 */
void conn_seal_hear(struct conn *conn, uint32_t theirs);
uint32_t conn_seal_hail(struct conn *conn);
int conn_seal_take(struct conn *conn, const struct wire_msg *hello,
		   const struct rpc_cred *cred);
/*
 * conn_seal_put() puts our part of an answer with status 0, and returns its flag.
 * conn_seal_begin() seals the connection after that answer.
 */
unsigned int conn_seal_put(const struct conn *conn, struct wire_out *out);
void conn_seal_begin(struct conn *conn);
/*
 * For a new connection that may be sealed in place: hashes what its connect request and our
 * answer contained.
 */
void conn_here_begin(struct conn *conn, const uint8_t heard[HEARD_LEN],
		     const void *answer, size_t len);
void conn_seal_free(struct conn *conn);
/* It must be sealed and is not.  Then only requests that lead to sealing are allowed. */
bool conn_is_bare(const struct conn *conn);

#endif
