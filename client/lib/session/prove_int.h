/* SPDX-License-Identifier: BSD-2-Clause */
/* prove_int.h - a session proves who it is: what session.c wants of that. */
#ifndef PROVE_INT_H
#define PROVE_INT_H

#include "client/lib/session/session.h"

/* Where pvfstab asks for it: s->auth.  Logged. */
int prove_open(struct session *s, const struct session_auth_attr *attr);
void prove_close(struct session *s);
/* Asks the manager, who is behind peer, for a ticket; NULL auth: nothing. */
int prove_run(struct session *s, struct rpc_peer *peer);
/*
 * The ticket ends, and the session shall not: the keeper asks for another one.  Both
 * answer when that is to be done next, clock_now().
 */
uint64_t prove_due(const struct session *s);
uint64_t prove_again(struct session *s);
/* The manager wants what pvfstab does not ask for. */
void prove_hint(const struct session *s, const struct rpc_peer *peer);

/* session.c: a server; fills in who we are. */
int session_peer_open(struct session *s, struct rpc_peer_attr *attr,
		      struct rpc_peer **peer);

/* auth_load.c: libpvfs-auth.so, logged if there is none; it stays loaded. */
const struct client_auth_ops *prove_load(const struct log *log);

#endif
