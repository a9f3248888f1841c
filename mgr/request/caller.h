/* SPDX-License-Identifier: BSD-2-Clause */
/* caller.h - the live session that sent a request. */
#ifndef CALLER_H
#define CALLER_H

#include "mgr/request/group_lists.h"
#include "mgr/state/mgr_state.h"

struct caller {
	struct mgr *mgr;
	uint64_t id;
	struct ns_cred cred; /* the user of the session, squashed */
	/* the user's groups, pinned; NULL if there is no list, or if it was not received yet */
	struct group_list *list;
	struct group_owner lists; /* group lists that the session sent */
	bool root; /* the uid was 0 before squashing */
	struct client_place place;
	char peer[WIRE_PEER_MAX]; /* the address from which it connected last */
	uint64_t since; /* clock_boot() when the session opened */
	bool stored; /* the session has a row */
	/* the session's row has SESSION_DECLARES, or will get it */
	bool declaring;
	bool declares; /* the row with SESSION_DECLARES is durable */
	bool capped; /* the session has capabilities, or may have some */
	/* see session_ticket.c; may be NULL */
	struct auth_challenge *challenge;
	/* number of AUTHs of the session whose proofs are being checked */
	unsigned int proofs;
	/* end of the session's ticket, clock_boot(); 0 if it has none */
	uint64_t until;
	bool ended; /* the session's ticket has expired, which is logged */
	struct gather_client gather;
};

/* The result is valid as long as the session exists. */
static inline struct caller *caller_of(struct rpc_session *session)
{
	return rpc_session_info(session)->priv;
}

/*
 * Returns whether the caller is an administrator: root (after squashing), or the manager's own
 * user.
 */
bool caller_is_admin(const struct caller *caller);
/*
 * Sets the user of the session to cred, squashed as caller->place demands.  cred must exist
 * as long as the caller.  If cred names a group list, the groups are those of
 * caller->list; if that is NULL, the caller has no groups.
 */
void caller_set_cred(struct caller *caller, const struct rpc_cred *cred);
/*
 * Sets the groups of cred to those of list, which must exist as long as cred. If list is NULL, cred
 * gets no groups.
 */
void caller_set_list(struct ns_cred *cred, const struct group_list *list);
/*
 * Returns whether the groups of the session's user are a group list that was not received yet.
 * Requests that need the groups cannot be executed before.
 */
bool caller_lacks_list(struct rpc_session *session);
/*
 * Call it in each transaction that changes something: writes the session's row, if it has none.
 * Errors are those of the store.
 */
int caller_record(struct mgr *mgr, struct rpc_session *session);
/* As caller_record(), but the row gets SESSION_DECLARES. */
int caller_record_declares(struct mgr *mgr, struct rpc_session *session);
/* Call it when the transaction of caller_record() was committed. */
void caller_note_recorded(struct rpc_session *session);

#endif
