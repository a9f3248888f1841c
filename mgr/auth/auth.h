/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * auth.h - authenticates the user of a session, once per session.
 *
 *   CHALLENGE --> the manager makes a key pair and a nonce for this connection
 *   AUTH      --> threads verify the client's proof (pool.h) and query the user's groups
 *             --> the client receives a ticket, and the session belongs to this user
 *
 * If the configuration requires authentication, other requests are rejected before that.
 *
 * All functions run on the serving thread, except where a contract says otherwise.
 */
#ifndef AUTH_H
#define AUTH_H

#include "mgr/request/caller.h"

/*
 * Sets mgr->auth and starts the threads. Returns 0 or -errno. Call mgr_auth_free() also after an
 * error.
 */
int mgr_auth_open(struct mgr *mgr);
/* Call it before the server is closed. Requests in progress get no reply. */
void mgr_auth_close(struct mgr *mgr);
/* Call it after the server is closed. */
void mgr_auth_free(struct mgr *mgr);
/* Continues the requests whose work in a thread has ended. */
void mgr_auth_collect(struct mgr *mgr);

/* Adds rows of the clients that got no ticket; must be the last rows. */
void mgr_auth_metrics(const struct mgr *mgr, struct rpc_metrics *metrics);

/*
 * Executes or rejects the requests that concern authentication, and those that need an
 * authentication which is missing.  Returns false if the caller may execute the request.
 */
bool mgr_auth_handle_request(struct mgr *mgr, struct rpc_req *rpc);

/* ---- session_ticket.c ---- */

/* Frees the challenge that was not used. */
void auth_challenge_drop(struct caller *caller);
/*
 * Checks a client whose session already has a row. Returns 0 if the client may continue the
 * session, and -EKEYREJECTED if it proves nothing. If the row belongs to another user, returns
 * -ESTALE for a client with a ticket, which then continues under a new session, and -EPERM for all
 * others.
 */
int session_ticket_check_return(const struct mgr *mgr,
				const struct rpc_session_info *info,
				const struct session_rec *rec);
/* Called when the session came with a ticket, or got one: sets the time when the ticket expires. */
void session_ticket_start(const struct mgr *mgr, struct rpc_session *session);

/* ---- session_groups.c: lists of more groups than a message has room for (group_lists.h) ---- */

/* Answers the request if it is GROUPS. Returns whether it was GROUPS. */
bool session_groups_handle_request(struct mgr *mgr, struct rpc_req *rpc);
/*
 * Finds the list of the session's own groups, if it needs one. Returns 0, or -WIRE_ENOGROUPS if the
 * list is missing.
 */
int session_groups_resolve(struct mgr *mgr, struct rpc_req *rpc);
/*
 * Sets the groups of cred to a list of the session, for this request. Returns 0, or -WIRE_ENOGROUPS
 * if the list is missing.
 */
int session_groups_find(struct caller *caller, uint64_t number,
			struct ns_cred *cred);
/* Called when the session ends. */
void session_groups_release(struct caller *caller);

#endif
