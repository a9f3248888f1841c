/* SPDX-License-Identifier: BSD-2-Clause */
/* auth_int.h - what the files of auth.h share. */
#ifndef AUTH_INT_H
#define AUTH_INT_H

#include <stdatomic.h>

#include "mgr/auth/auth.h"
#include "common/trust/gatehouse.h"
#include "mgr/auth/groups.h"
#include "common/munge/munger.h"
#include "common/trust/pact.h"
#include "mgr/auth/pool.h"
#include "common/trust/ticket.h"

/* Secret memory: secret.h.  For one AUTH. */
struct challenge {
	struct pact pact;
	struct exchange own;
	uint8_t root[MAC_KEY_LEN]; /* sealing.h */
	uint8_t word_key[MAC_KEY_LEN]; /* with AUTH_MUNGE: for our word */
};

#define REFUSALS 16u

struct auths {
	struct pool *pool;
	struct munger *munger; /* with AUTH_MUNGE */
	struct groups groups;
	struct group_lists lists;
	uint8_t list_key[MAC_KEY_LEN]; /* of this life, for their numbers */
	struct gatehouse house; /* tickets that come back to us */
	struct doorkeeper keeper;
	/* Those who got no ticket, by the reason; the last entry: all others. */
	struct refusal {
		atomic_int status; /* 0: not in use yet */
		atomic_uint_least64_t n; /* so far */
		uint64_t logged; /* when that was last said */
	} refused[REFUSALS];
};

/* Of a ticket. */
static inline uint64_t auth_life_ns(const struct mgr *mgr)
{
	return mgr->conf.auth.ticket_life * UINT64_C(1000000000);
}

/* What the answer carries. */
struct grant {
	uint8_t ticket[TICKET_MAX];
	size_t len;
	uint8_t hidden[WIRE_KEY_LEN];
};

/* One AUTH.  In the pool only work() touches it, and nothing that it points to. */
struct proof {
	struct pool_job job;
	void (*then)(struct proof *p); /* behind that, on the serving thread */
	struct mgr *mgr;
	struct rpc_req *rpc;
	struct challenge *c;
	struct munger *munger; /* a reference, with AUTH_MUNGE */
	uint64_t deadline; /* of munged */
	uint32_t kind;
	struct admitted who;
	struct gids many; /* who's, if they are more than it has room for */
	struct group_list *list; /* which they are then, pinned; or NULL */
	bool primary; /* the name service says the gid, too */
	int status;
	uint8_t seen[PACT_LEN]; /* what the word is about */
	struct grant grant;
	size_t len; /* of word */
	uint8_t word[WIRE_WORD_MAX];
};

/* proof.c: c is taken over. */
void auth_prove(struct mgr *mgr, struct rpc_req *rpc, struct challenge *c);
void challenge_free(struct challenge *c);

/* refuse.c: the status alone, and a replay is looked at again; auth_refuse() counts it,
 * too, and the log has it. */
void auth_answer(struct rpc_req *rpc, int status);
void auth_refuse(struct mgr *mgr, struct rpc_req *rpc, int status);

/* p->who is known, or p->status. */
void proof_judged(struct proof *p);
/* work() in the pool, then then(), with p->status if it does not come to that. */
void proof_aside(struct proof *p, void (*work)(struct pool_job *job),
		 void (*then)(struct proof *p));

/* munged.c: asks munged whether it is there; the log says it if not. */
int munged_look(struct mgr *mgr);

/* listed.c: makes them the manager's list, pinned, and names it in who. */
int listed_name(struct mgr *mgr, const uint32_t *gid, uint32_t n,
		struct admitted *who, struct group_list **list);
/* The groups of the session, pinned once more; NULL: they are none. */
void listed_set(struct caller *caller, struct group_list *list);

/* judge.c: ends in proof_judged(). */
void proof_judge(struct proof *p);

#endif
