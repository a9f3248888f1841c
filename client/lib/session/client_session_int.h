/* SPDX-License-Identifier: BSD-2-Clause */
/* client_session_int.h - the parts of a session, for client_session.c. */
#ifndef CLIENT_SESSION_INT_H
#define CLIENT_SESSION_INT_H

#include "client/lib/session/client_session.h"

/* ---- session_auth.c ---- */

/* Sets s->auth if pvfstab asks for it.  Errors are logged.  Returns 0 or -errno. */
int session_auth_open(struct session *s, const struct session_auth_attr *attr);
void session_auth_close(struct session *s);
/*
 * Asks the manager at peer for a ticket.  Does nothing if s->auth is NULL.  Returns 0 or
 * -errno.
 */
int session_auth_run(struct session *s, struct rpc_peer *peer);
/*
 * The keeper asks for another ticket before the present one expires.  Returns when that is
 * due next, as clock_now().
 */
uint64_t session_auth_renew(struct session *s);
/* Logs that the manager requires authentication that pvfstab does not ask for. */
void session_auth_log_missing(const struct session *s,
			      const struct rpc_peer *peer);
/* Opens a server, with the credentials of this process.  Returns 0 or -errno. */
int session_peer_open(struct session *s, struct rpc_peer_attr *attr,
		      struct rpc_peer **peer);

/* ---- session_ticket.c ---- */

/* Return when the ticket must be renewed, and when to try again, as clock_now(). */
uint64_t ticket_due(const struct session *s);
uint64_t ticket_retry_at(const struct session *s);

#endif
