/* SPDX-License-Identifier: BSD-2-Clause */
/* prove_int.h - authentication of a session, for session.c. */
#ifndef PROVE_INT_H
#define PROVE_INT_H

#include "client/lib/session/session.h"

/* Sets s->auth if pvfstab asks for it.  Errors are logged.  Returns 0 or -errno. */
int prove_open(struct session *s, const struct session_auth_attr *attr);
void prove_close(struct session *s);
/*
 * Asks the manager at peer for a ticket.  Does nothing if s->auth is NULL.  Returns 0 or
 * -errno.
 */
int prove_run(struct session *s, struct rpc_peer *peer);
/*
 * The keeper asks for another ticket before the present one expires.  Both return when
 * that is due next, as clock_now().
 */
uint64_t prove_due(const struct session *s);
uint64_t prove_again(struct session *s);
/* Logs that the manager requires authentication that pvfstab does not ask for. */
void prove_hint(const struct session *s, const struct rpc_peer *peer);

/* session.c: opens a server, with the credentials of this process.  Returns 0 or -errno. */
int session_peer_open(struct session *s, struct rpc_peer_attr *attr,
		      struct rpc_peer **peer);

/*
 * auth_load.c: loads libpvfs-auth.so, which stays loaded.  NULL, logged: it cannot be
 * loaded.
 */
const struct client_auth_ops *prove_load(const struct log *log);

#endif
