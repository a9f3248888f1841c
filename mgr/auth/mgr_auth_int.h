/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_auth_int.h - what the files of auth.h share.  They call each other only downwards: auth.c;
 * session_ticket.c; session_groups.c; auth_refusals.c, user_groups.c and pool.c.
 */
#ifndef MGR_AUTH_INT_H
#define MGR_AUTH_INT_H

#include <stdatomic.h>

#include "common/munge/munger.h"
#include "common/trust/ticket.h"
#include "mgr/auth/auth.h"
#include "mgr/auth/pool.h"
#include "mgr/auth/user_groups.h"

#define REFUSALS 16u

struct mgr_auth {
	struct pool *pool;
	struct munger *munger; /* not NULL with AUTH_MUNGE */
	struct user_groups groups;
	struct group_lists lists;
	uint8_t list_key
		/* key of this process, for the numbers of lists */
		[MAC_KEY_LEN];
	struct ticket_verifier house; /* verifies the manager's own tickets */
	struct ticket_hooks keeper;
	/*
	 * Number of clients that got no ticket, by reason. The last entry counts all other reasons.
	 */
	struct refusal {
		int status; /* 0 if the entry is not in use */
		uint64_t n;
		uint64_t logged; /* time when it was logged last */
	} refusals[REFUSALS];
};

/* The lifetime of a ticket. */
static inline uint64_t auth_ticket_life_ns(const struct mgr *mgr)
{
	return mgr->conf.auth.ticket_life * UINT64_C(1000000000);
}

/* ---- session_ticket.c ---- */

/* Executes CHALLENGE: a key pair and a nonce for one AUTH of this connection. */
void auth_challenge_start(struct mgr *mgr, struct rpc_req *rpc);
/* Executes AUTH; uses up the challenge, if there is one.  Replies now or later. */
void auth_prove(struct mgr *mgr, struct rpc_req *rpc);
/* Returns whether the session's ticket has expired, which is logged once. */
bool session_ticket_has_expired(struct mgr *mgr, struct rpc_session *session);

/* ---- session_groups.c ---- */

/*
 * Makes the groups a pinned list of the manager, and stores the name of the list in *who. Returns 0
 * or -ENOMEM.
 */
int session_groups_name_list(struct mgr *mgr, const uint32_t *gid, uint32_t n,
			     struct admitted *who, struct group_list **list);
/* Sets the list of the session and pins it again. NULL means that the session has no list. */
void session_groups_set(struct caller *caller, struct group_list *list);

/* ---- auth_refusals.c ---- */

/* Replies with the status alone; a repeated request is executed again. */
void auth_reply(struct rpc_req *rpc, int status);
/* As auth_reply(), and counts and logs the refusal. */
void auth_refuse(struct mgr *mgr, struct rpc_req *rpc, int status);

#endif
