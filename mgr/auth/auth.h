/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * auth.h - who a client is, once a session.
 *
 *   CHALLENGE --> a pair of keys and a nonce, for this connection alone
 *   AUTH      --> the word is judged (pool.h), the name service asked for groups
 *             --> a ticket, and the session is that user's from now on
 *
 * Where clients are not who they say, nothing else is done before that.
 */
#ifndef AUTH_H
#define AUTH_H

#include "mgr/request/caller.h"

int auths_open(struct mgr *mgr);
/* Before the server: what is under way is answered by nobody. */
void auths_close(struct mgr *mgr);
/* Behind it. */
void auths_free(struct mgr *mgr);
/* Answers what was judged meanwhile. */
void auths_run(struct mgr *mgr);

/* Says who got no ticket, and why; any thread. */
void auths_report(struct mgr *mgr);

/* True: it was taken here, or refused. */
bool auth_take(struct mgr *mgr, struct rpc_req *rpc);
/*
 * A session opens that has a row.  -EKEYREJECTED: it was somebody's, and
 * who comes back proves nothing.  It was another one's: -ESTALE to who shows a ticket, so
 * that he goes on under a new session; else -EPERM.
 */
int auth_returns(const struct mgr *mgr, const struct rpc_session_info *info,
		 const struct session_rec *rec);
/* It has come, with a ticket or another one, which holds for so long. */
void auth_holds(const struct mgr *mgr, struct rpc_session *session);
/* What CHALLENGE left behind. */
void auth_forget(struct caller *caller);

/* ---- listed.c: more groups than a message has room for (group_lists.h) ---- */

/* True: it was GROUPS, and is answered. */
bool listed_take(struct mgr *mgr, struct rpc_req *rpc);
/* The groups of the session itself are there, or were never a list; -WIRE_ENOGROUPS. */
int listed_own(struct mgr *mgr, struct rpc_req *rpc);
/* Sets groups to that list of the session's, for this request; -WIRE_ENOGROUPS. */
int listed_find(struct caller *caller, uint64_t number, struct ns_cred *cred);
/* The session is gone. */
void listed_forget(struct caller *caller);

#endif
