/* SPDX-License-Identifier: BSD-2-Clause */
/* conn_seal_int.h - the server's part of sealing a connection: tp_seal.h. */
#ifndef CONN_SEAL_INT_H
#define CONN_SEAL_INT_H

#include "common/comm/serve/server_int.h"

/* Of one connection that may be sealed. */
struct conn_seal {
	uint8_t key[WIRE_KEY_LEN]; /* public, ours */
	enum seal_mode mode; /* SEAL_NONE: it is not (yet) */
	struct sealer *sealer; /* until the answer to HELLO has gone out */
};

/*
 * conn_seal.c.  What the other end hailed; what is hailed back, once it is known whether both
 * prove themselves.  Whether the HELLO, whose sender is known now, agrees with what this
 * server wants: 0, or -EKEYREJECTED, logged and counted; -ENOKEY, -ENOMEM ...
 */
void conn_seal_hear(struct conn *conn, uint32_t theirs);
uint32_t conn_seal_hail(struct conn *conn);
int conn_seal_take(struct conn *conn, const struct wire_msg *hello,
		   const struct rpc_cred *cred);
/* Our part of an answer with status 0, and its flag; behind it all is sealed. */
unsigned int conn_seal_put(const struct conn *conn, struct wire_out *out);
void conn_seal_begin(struct conn *conn);
/* A new connection: what was said to connect, and the answer, if that counts. */
void conn_here_begin(struct conn *conn, const uint8_t heard[HEARD_LEN],
		     const void *answer, size_t len);
void conn_seal_free(struct conn *conn);
/* It has to be, and is not: what leads to that may be done and nothing else. */
bool conn_is_bare(const struct conn *conn);

#endif
