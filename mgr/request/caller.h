/* SPDX-License-Identifier: BSD-2-Clause */
/* caller.h - the live session that a request came from. */
#ifndef CALLER_H
#define CALLER_H

#include "mgr/request/group_lists.h"
#include "mgr/state/mgr_state.h"

struct caller {
	struct mgr *mgr;
	uint64_t id;
	struct ns_cred cred; /* as it was at HELLO, squashed */
	struct group_list
		*list; /* of its groups, pinned; NULL: none, or not here yet */
	struct group_owner lists; /* that it sent */
	bool root; /* ... before that */
	struct place place;
	char peer[WIRE_PEER_MAX]; /* where it connected from last */
	uint64_t since; /* clock_boot(): it opened */
	bool stored; /* it has a row */
	bool declaring; /* ... or is to have one, with SESSION_DECLARES */
	bool declares; /* that is durable */
	bool capped; /* capabilities: it has some, or may have */
	struct auth_challenge *challenge; /* mgr_auth_int.h; or NULL */
	unsigned int proofs; /* AUTHs that are being judged */
	uint64_t until; /* clock_boot(): its ticket ends; 0: it came with none */
	bool ended; /* ... did, and that was said */
	struct gather_client gather;
};

/* Lives as long as session does. */
static inline struct caller *caller_of(struct rpc_session *session)
{
	return rpc_session_info(session)->priv;
}

/* Administrators: root, as it counts here, and the user that the manager runs as. */
bool caller_rules(const struct caller *caller);
/*
 * Whose it is, and whom it counts as where it is; cred lives as long as it does.  If cred names a
 * list of groups, they are those of caller->list; without it, it has none.
 */
void caller_is(struct caller *caller, const struct rpc_cred *cred);
/* NULL: of no groups. */
void caller_set_list(struct ns_cred *cred, const struct group_list *list);
/* Its groups are a list that is not here: what looks at them has to wait for it. */
bool caller_lacks_list(struct rpc_session *session);
/* In a transaction that changes something: the session's row is there. */
int caller_record(struct mgr *mgr, struct rpc_session *session);
/* The same, where the row is to say that the session declares. */
int caller_declares(struct mgr *mgr, struct rpc_session *session);
/* ... and the transaction was committed. */
void caller_recorded(struct rpc_session *session);

#endif
