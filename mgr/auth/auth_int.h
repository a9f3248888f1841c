/* SPDX-License-Identifier: BSD-2-Clause */
/* auth_int.h - what the files of auth.h share. */
#ifndef AUTH_INT_H
#define AUTH_INT_H

#include "auth.h"
#include "gatehouse.h"
#include "groups.h"
#include "pact.h"
#include "pool.h"

/* Secret memory: secret.h.  For one AUTH. */
struct challenge {
	struct pact pact;
	struct exchange own;
};

struct auths {
	struct pool *pool;
	struct groups groups;
	struct gatehouse house; /* tickets that come back to us */
	struct doorkeeper keeper;
	uint64_t refused, refused_at; /* so far; when that was last logged */
};

/* proof.c: the status alone, and a replay is looked at again. */
void auth_answer(struct rpc_req *rpc, int status);
/* c is taken over. */
void auth_prove(struct mgr *mgr, struct rpc_req *rpc, struct challenge *c);
/* A job of the pool has ended. */
void auth_judged(struct pool_job *job);
void challenge_free(struct challenge *c);

#endif
