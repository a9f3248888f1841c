/* SPDX-License-Identifier: BSD-2-Clause */
/* client_session_int.h - the parts of a session, for client_session.c. */
#ifndef CLIENT_SESSION_INT_H
#define CLIENT_SESSION_INT_H

#include "client/lib/session/client_session.h"

/* ---- session_auth.c ---- */

/* Sets s->auth if pvfstab asks for it.  Errors are logged.  Returns 0 or -errno. */
int session_auth_open(struct session *s, const struct session_auth_attr *attr);
void session_auth_close(struct session *s);
/* Gets a ticket from the manager peer, unless s->auth is NULL.  Returns 0 or -errno. */
int session_auth_run(struct session *s, struct rpc_peer *peer);
/*
 * Called by the keeper: gets another ticket if the present one expires soon.  Returns the
 * clock_now() at which the keeper must call it again.
 */
uint64_t session_auth_renew(struct session *s);
/* Logs that the manager requires authentication that pvfstab does not ask for. */
void session_auth_log_missing(const struct session *s,
			      const struct rpc_peer *peer);
/* Opens a server, with the credentials of this process.  Returns 0 or -errno. */
int session_peer_open(struct session *s, struct rpc_peer_attr *attr,
		      struct rpc_peer **peer);

/* ---- session_ticket.c ---- */

/* Return the clock_now() of the next renewal, and of the next try after a failed renewal. */
uint64_t ticket_due(const struct session *s);
uint64_t ticket_retry_at(const struct session *s);

#endif
