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
	struct munger *munger; /* with AUTH_MUNGE */
	struct user_groups groups;
	struct group_lists lists;
	uint8_t list_key
		[MAC_KEY_LEN]; /* of this process, for the numbers of lists */
	struct ticket_verifier house; /* verifies the manager's own tickets */
	struct ticket_hooks keeper;
	/* Clients that got no ticket, by reason; the last entry: all other reasons. */
	struct refusal {
		int status; /* 0: not in use */
		uint64_t n;
		uint64_t logged; /* when it was logged last */
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
/* The session's ticket has expired, which is logged once. */
bool session_ticket_has_expired(struct mgr *mgr, struct rpc_session *session);

/* ---- session_groups.c ---- */

/* Makes the groups a list of the manager, pinned, and names it in who.  -ENOMEM. */
int session_groups_name_list(struct mgr *mgr, const uint32_t *gid, uint32_t n,
			     struct admitted *who, struct group_list **list);
/* Sets the list of the session and pins it again; NULL: the session has no list. */
void session_groups_set(struct caller *caller, struct group_list *list);

/* ---- auth_refusals.c ---- */

/* Replies with the status alone; a repeated request is executed again. */
void auth_reply(struct rpc_req *rpc, int status);
/* The same; also counts and logs the refusal. */
void auth_refuse(struct mgr *mgr, struct rpc_req *rpc, int status);

#endif
