/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_fences.c - ids of sessions that the server rejects (fences), or accepts only from their
 * proved owner (claims).  Only the latest ones are stored.  If a client stays disconnected while so
 * many other sessions are fenced, all servers have ended its session long ago.
 */
#include "common/comm/serve/server_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool session_is_unproved(const struct rpc_session *s)
{
	const struct ticket_hooks *keeper = s->thread->server->attr.keeper;

	return keeper && keeper->admission != ADMIT_ALL &&
	       s->info.role == WIRE_ROLE_CLIENT && !s->info.proved;
}

struct fence {
	uint64_t session;
	bool evicted;
	UT_hash_handle hh;
};

static struct fence *fence_find(struct fence *fences, uint64_t session)
{
	struct fence *fence_session;

	HASH_FIND(hh, fences, &session, sizeof(session), fence_session);
	return fence_session;
}

int fence_check(struct rpc_server *server, uint64_t session)
{
	const struct fence *fence_session = fence_find(server->fences, session);

	if (!fence_session)
		return fence_find(server->unowned_fences, session) ? -ESTALE
								   : 0;
	return fence_session->evicted ? -EKEYREVOKED : -ESTALE;
}

static int fence_add(struct fence **fences, uint64_t session, bool evicted)
{
	struct fence *fence_session = fence_find(*fences, session),
		     *oldest = *fences;

	if (fence_session) {
		fence_session->evicted |= evicted;
		return 0;
	}
	fence_session = calloc(1, sizeof(*fence_session));
	if (!fence_session)
		return -ENOMEM;
	fence_session->session = session;
	fence_session->evicted = evicted;
	HASH_ADD(hh, *fences, session, sizeof(session), fence_session);
	if (!fence_session->hh.tbl) {
		free(fence_session);
		return -ENOMEM;
	}
	if (HASH_COUNT(*fences) > RPC_FENCE_MAX) {
		HASH_DEL(*fences, oldest);
		free(oldest);
	}
	return 0;
}

/* ---- claims ---- */

static unsigned int claims_of_user(const struct claims *c, uint32_t uid)
{
	unsigned int i, n = 0;

	for (i = 0; i < c->n; i++)
		n += c->claim[i].uid == uid;
	return n;
}

/*
 * Removes the oldest claim of the user with the most claims, so that no user displaces others.
 */
static void claim_drop_one(struct claims *c)
{
	struct claim *loser = c->claim;
	unsigned int i;

	for (i = 1; i < c->n; i++)
		if (claims_of_user(c, c->claim[i].uid) >
		    claims_of_user(c, loser->uid))
			loser = &c->claim[i];
	c->n--;
	memmove(loser, loser + 1,
		(size_t)(&c->claim[c->n] - loser) * sizeof(*loser));
}

bool claim_exists(const struct rpc_server *server, uint64_t session)
{
	const struct claims *c = &server->claims;
	unsigned int i;

	for (i = 0; i < c->n; i++)
		if (c->claim[i].session == session)
			return true;
	return false;
}

void claim_add(struct rpc_server *server, uint64_t session, uint32_t uid)
{
	struct claims *c = &server->claims;

	if (claim_exists(server, session))
		return;
	if (c->n == CLAIMS)
		claim_drop_one(c);
	c->claim[c->n++] = (struct claim){ session, uid };
}

int session_claim_id(struct rpc_session *s, uint32_t uid)
{
	struct rpc_server *server = s->thread->server;

	pthread_mutex_lock(&server->lock);
	claim_add(server, s->info.id, uid);
	if (s->listed)
		seat_expel(s);
	pthread_mutex_unlock(&server->lock);
	return -EAGAIN;
}

/* ---- fences ---- */

/* Returns true if the session s (may be NULL) is open and no user has proved to own it. */
static bool session_is_unowned(const struct rpc_session *s)
{
	const struct ticket_hooks *keeper = s ? s->thread->server->attr.keeper
					      : NULL;

	return keeper && keeper->admission == ADMIT_AS_NOBODY && s->opened &&
	       session_is_unproved(s);
}

/*
 * A session without a proved owner has changed nothing, and may have used the id of another user's
 * session.  Anyone can create many such sessions, so their fences have a list of their own, and do
 * not displace other fences.
 */
static int fence_add_for(struct rpc_server *server, uint64_t id,
			 const struct rpc_session *s)
{
	if (!session_is_unowned(s))
		return fence_add(&server->fences, id, false);
	return claim_exists(server, id)
		       ? 0
		       : fence_add(&server->unowned_fences, id, false);
}

static void fence_session(struct rpc_server *server, uint64_t id, bool evicted)
{
	struct rpc_session *s;
	int rc;

	pthread_mutex_lock(&server->lock);
	HASH_FIND(hh, server->table, &id, sizeof(id), s);
	rc = evicted ? fence_add(&server->fences, id, true)
		     : fence_add_for(server, id, s);
	if (rc)
		log_error(server->attr.log,
			  "session %016llx: no memory to fence it; it may "
			  "return",
			  (unsigned long long)id);
	if (s && s->listed)
		seat_expel(s);
	pthread_mutex_unlock(&server->lock);
}

void rpc_server_fence(struct rpc_server *server, uint64_t id)
{
	fence_session(server, id, false);
}

void rpc_server_evict(struct rpc_server *server, uint64_t id)
{
	fence_session(server, id, true);
}

bool rpc_server_has_fenced(struct rpc_server *server, uint64_t id)
{
	bool fenced;

	pthread_mutex_lock(&server->lock);
	fenced = fence_check(server, id);
	pthread_mutex_unlock(&server->lock);
	return fenced;
}

static void fence_list_free(struct fence **fences)
{
	struct fence *fence_session;

	while ((fence_session = *fences)) {
		HASH_DEL(*fences, fence_session);
		free(fence_session);
	}
}

void fence_free(struct rpc_server *server)
{
	fence_list_free(&server->fences);
	fence_list_free(&server->unowned_fences);
}
